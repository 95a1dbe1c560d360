import { valueType } from '../../../data/signatures/check-type.ts';
import { isOneOf, type LintHit, type LintRule, namedRequisites } from '../rule.ts';

/** Functions that change nothing. */
const unchanging = [
  'test.nop',
  'test.succeed_without_changes',
  'test.show_notification',
  'test.check_pillar',
  'file.exists',
  'file.missing',
];

const reacting = ['onchanges', 'onchanges_any', 'watch', 'watch_any', 'listen'];
const kinds = [...reacting, 'require', 'require_any', 'onfail', 'prereq'];

/** Rules about requisites and arguments. */
export const requisiteRules: readonly LintRule[] = [
  {
    id: 'never-changes',
    severity: 'error',
    why: 'The state named here never changes anything, so that the one that waits for a change never runs, or never reacts.',
    bad: 'check:\n  file.exists:\n    - name: /etc/a\nreload:\n  cmd.run:\n    - name: reload-a\n    - onchanges:\n      - file: check\n',
    good: 'check:\n  file.managed:\n    - name: /etc/a\n    - contents: a\nreload:\n  cmd.run:\n    - name: reload-a\n    - onchanges:\n      - file: check\n',
    find: (chunk, run) =>
      reacting.flatMap((kind): LintHit[] => {
        const named = run.required(chunk, [kind]);
        const [first] = named;
        return first && run.isOwn(chunk, kind) && named.every(one => isOneOf(one, unchanging))
          ? [
              {
                message: `'${kind}' names '${first.state}: ${first.__id__}', and ${first.state}.${first.fun} never changes anything`,
                argument: kind,
              },
            ]
          : [];
      }),
  },
  {
    id: 'watch-without-reaction',
    severity: 'note',
    why: 'States of this module do not react to changes: `watch` means `require` here. `onchanges` runs a state only after changes.',
    bad: '/etc/a:\n  file.managed:\n    - contents: a\n/etc/b:\n  file.managed:\n    - contents: b\n    - watch:\n      - file: /etc/a\n',
    good: '/etc/a:\n  file.managed:\n    - contents: a\n/etc/b:\n  file.managed:\n    - contents: b\n    - require:\n      - file: /etc/a\n',
    find: (chunk, run) =>
      namedRequisites(chunk, 'watch').length > 0 && !run.reacts(chunk)
        ? [
            {
              message: `'watch' is only 'require' here: states of '${chunk.state}' do not react to changes`,
              argument: 'watch',
            },
          ]
        : [],
  },
  {
    id: 'duplicate-requisite',
    severity: 'warning',
    why: 'The same requisite twice is mostly a copy in which another one was meant.',
    bad: 'a:\n  test.nop\nb:\n  test.nop:\n    - require:\n      - test: a\n      - test: a\n',
    good: 'a:\n  test.nop\nb:\n  test.nop:\n    - require:\n      - test: a\n',
    find: chunk =>
      kinds.flatMap((kind): LintHit[] => {
        const all = namedRequisites(chunk, kind).map(pair => pair.join(': '));
        const twice = all.find((one, at) => all.indexOf(one) < at);
        return twice === undefined
          ? []
          : [{ message: `'${kind}' names '${twice}' twice`, argument: kind }];
      }),
  },
  {
    id: 'explicit-order',
    severity: 'note',
    why: 'A number depends on all other numbers. `require` says why a state comes later, and fails if the other one fails.',
    bad: 'a:\n  test.nop:\n    - order: 10\n',
    good: 'a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop\n',
    find: (chunk, run) =>
      typeof chunk.order === 'number' && run.isOwn(chunk, 'order')
        ? [{ message: "A requisite is clearer than 'order'", argument: 'order' }]
        : [],
  },
  {
    id: 'quoted-boolean',
    severity: 'note',
    why: 'The text is converted here, but Salt takes every text for true, `"false"` as well. `--fix` removes the quotes.',
    bad: "/srv/a:\n  file.directory:\n    - makedirs: 'true'\n",
    good: '/srv/a:\n  file.directory:\n    - makedirs: true\n',
    find: (chunk, run) => {
      const signature = run.functionOf(chunk)?.signature;
      return [...(signature?.positional ?? []), ...(signature?.keywords ?? [])].flatMap(
        ({ name, type }): LintHit[] => {
          const value = chunk[name];
          if (type === undefined || typeof value !== 'string') return [];
          if (valueType(type).kind !== 'boolean' || !/^(true|false|yes|no|on|off)$/i.test(value))
            return [];
          return [
            {
              message: `'${name}' is a text: write ${value.toLowerCase()} without quotes`,
              argument: name,
              fix: line => {
                const fixed = line.replace(
                  new RegExp(`(${name}:\\s*)(['"])(true|false|yes|no|on|off)\\2`, 'i'),
                  '$1$3',
                );
                return fixed === line ? undefined : fixed;
              },
            },
          ];
        },
      );
    },
  },
  {
    id: 'renders-to-nothing',
    severity: 'warning',
    why: 'The expression of the template has no value: a misspelt name, or pillar that this host does not get. A default says what is meant.',
    bad: "#!jinja|yaml\n/etc/a:\n  file.managed:\n    - contents: a\n    - user: {{ salt['pillar.get']('app:user') }}\n",
    good: "#!jinja|yaml\n/etc/a:\n  file.managed:\n    - contents: a\n    - user: {{ salt['pillar.get']('app:user', 'root') }}\n",
    find: (chunk, run) =>
      Object.entries(chunk).flatMap(([argument, value]): LintHit[] => {
        if (!/^[a-z]/.test(argument) || (value !== null && value !== '')) return [];
        const line = run.lineOf(chunk, argument) ?? '';
        return new RegExp(`\\b${argument}:\\s*['"]?\\{\\{[^}]*\\}\\}['"]?\\s*$`).test(line)
          ? [{ message: `'${argument}' renders to nothing`, argument }]
          : [];
      }),
  },
];
