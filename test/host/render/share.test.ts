import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { traverse } from '../../../src/data/values/traverse.ts';
import {
  type Data,
  type DataKey,
  type Dict,
  Float,
  toDict,
} from '../../../src/data/values/value.ts';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';
import { render, renderText } from '../../../src/render/render.ts';
import { deepFingerprint } from '../../../src/render/share/fingerprint.ts';
import type { RenderContext } from '../../../src/render/types.ts';
import { filterBy } from '../../../src/wrapper/functions/filter-by.ts';

const root = mkdtempSync(join(tmpdir(), 'tsalt-share-'));
afterAll(() => rmSync(root, { recursive: true }));

const files: Readonly<Record<string, string>> = {
  'map.jinja': "{% set port = pillar.get('a', 1) %}{% macro name() %}{{ grains.id }}{% endmacro %}",
  'part.jinja': '{{ pillar.b | default("none") }}',
  'part.liquid': '{{ pillar.b | default: "none" }}',
  'data.yaml': 'x: [1, 2]\n',
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);

const only = ['pillar.get', 'grains.filter_by'];

/** One host: what its functions say is its own too. */
const hostOf = (id: string, pillar: Dict, roots: FileRoots): RenderContext => {
  const grains = toDict({ id, os: id < 'h2' ? 'Debian' : 'RedHat' });
  return {
    grains,
    pillar,
    opts: toDict({ allow_undefined: id === 'h0' }),
    files: roots,
    onlyLooks: async fun => only.includes(fun),
    call: async (fun, args) => {
      if (fun === 'cmd.run') return `${id} ran`;
      if (fun === 'grains.filter_by')
        return filterBy({
          lookup: args[0] ?? null,
          value: grains.get('os') ?? null,
          merge: args[1] ?? null,
          fallback: 'default',
          base: null,
        });
      const found = traverse(pillar, String(args[0]), ':');
      return typeof found === 'symbol' ? (args[1] ?? '') : found;
    },
  };
};

const outcome = async (pipe: string, text: string, context: RenderContext): Promise<string> => {
  const before = deepFingerprint(context.pillar);
  try {
    return await renderText({ text, file: 'web.sls', pipe, saltenv: 'base', sls: 'web', context });
  } catch (error) {
    return `fails: ${(error as Error).message}`;
  } finally {
    expect(deepFingerprint(context.pillar)).toBe(before);
  }
};

const scalars: Data[] = [
  1,
  '1',
  true,
  null,
  new Float(1),
  'secret',
  '',
  '{{ grains.id }}',
  10n ** 20n,
];
const keys: DataKey[] = ['a', 'b', 'c', '1', 1];
const { value } = fc.letrec<{ value: Data }>(tie => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(...scalars),
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(fc.constantFrom(...keys), tie('value')), { maxLength: 3 })
      .map(pairs => new Map(pairs)),
  ),
}));

/** Pillars that differ in little: one key, the type of a value, which parts are one object. */
const pillars = fc
  .array(fc.tuple(fc.constantFrom(...keys), value), { minLength: 1, maxLength: 4 })
  .chain(pairs =>
    fc
      .array(fc.tuple(fc.nat({ max: 3 }), fc.constantFrom(...keys), value, fc.boolean()), {
        minLength: 5,
        maxLength: 8,
      })
      .map(changes =>
        changes.map(([kind, key, other, isAlias]): Dict => {
          const pillar: Dict = new Map(structuredCopy(pairs));
          if (kind === 0) pillar.set(key, other);
          if (kind === 1) for (const at of ['a', 'b']) pillar.set(at, twin(pillar.get(at)));
          if (kind === 2 && isAlias) pillar.set('b', pillar.get('a') ?? null);
          return kind === 3 && isAlias ? new Map([...pillar].reverse()) : pillar;
        }),
      ),
  );

/** Values that look the same when they are printed. */
const twin = (data: Data | undefined): Data => {
  if (data === undefined || data === null) return '';
  if (Array.isArray(data)) return data.length === 0 ? '[]' : data.map(twin);
  return data === 1 ? '1' : 1;
};

const structuredCopy = <T>(pairs: readonly (readonly [DataKey, T])[]): [DataKey, Data][] =>
  pairs.map(([key, item]) => [key, copy(item as Data)]);

const copy = (data: Data): Data => {
  if (Array.isArray(data)) return data.map(copy);
  return data instanceof Map ? new Map(structuredCopy([...data])) : data;
};

const jinja = [
  '{{ pillar.a }}',
  "{{ pillar.get('b', 'x') }}",
  '{{ pillar[1] }}{{ 1 in pillar }}',
  '{% if pillar.a is mapping %}{{ pillar.a.b }}{% endif %}',
  '{% for k, v in pillar.items() %}{{ k }}={{ v }};{% endfor %}',
  '{{ pillar.a is string }}{{ pillar.b | json }}',
  '{{ pillar | json }}',
  '{{ pillar.values() | list | length }}',
  '{{ pillar.a is sameas pillar.b }}',
  '{% do pillar.update({"c": 5}) %}{{ pillar.c }}',
  '{% if pillar.a is mapping %}{% do pillar.a.update({"c": 7}) %}{% endif %}{{ pillar.b }}',
  '{% if pillar.a is iterable and pillar.a is not mapping and pillar.a is not string %}{% do pillar.a.append(1) %}{% endif %}{{ pillar.b }}',
  '{{ grains.os }}',
  '{{ grains.id }}',
  '{{ opts.allow_undefined }}{{ nothing }}',
  "{{ salt['pillar.get']('a:b', 'x') }}",
  "{% set l = {'Debian': {'x': 1}, 'RedHat': {'x': 1}} %}{{ salt['grains.filter_by'](l, {'x': 2}) }}{{ l }}",
  "{{ salt['grains.filter_by'](pillar) }}{{ pillar.b }}",
  "{{ salt['cmd.run']('id') }}",
  "{% from 'map.jinja' import port, name with context %}{{ port }}{{ name() }}",
  "{% from 'map.jinja' import port %}{{ port }}",
  "{% include 'part.jinja' %}",
  "{% include 'none.jinja' ignore missing %}",
  "{% import_yaml 'data.yaml' as d %}{{ d.x }}",
  '{{ show_full_context().keys() | list | length }}',
  '{{ pillar | dictsort }}',
];

const liquid = [
  '{{ pillar.a }}',
  '{{ pillar.b | default: "x" }}',
  '{{ pillar["1"] }}',
  '{% if pillar.a %}{{ pillar.a.b | default: 1 }}{% endif %}',
  '{% for pair in pillar %}{{ pair[0] }}={{ pair[1] }};{% endfor %}',
  '{% for x in pillar.a %}{{ x }}{% endfor %}',
  '{{ pillar.a | json }}{% if pillar.b == 1 %}one{% endif %}',
  '{{ pillar | json }}',
  '{{ pillar.size }}{{ pillar.a | size }}',
  '{% if pillar.a == pillar.b %}same{% endif %}',
  '{% if pillar contains "c" %}c{% endif %}',
  '{{ pillar | traverse: "a:b", "x" }}',
  '{% assign p = pillar %}{{ p.a }}',
  '{{ grains.os }}',
  '{{ grains.id }}',
  "{{ 'pillar.get' | salt: 'a', 'x' }}",
  "{% load_yaml as l %}{Debian: {x: 1}, RedHat: {x: 1}}{% endload %}{% load_yaml as m %}{x: 2}{% endload %}{{ 'grains.filter_by' | salt: l, m }}{{ l | json }}",
  "{{ 'grains.filter_by' | salt: pillar, pillar.a }}",
  "{% salt x = cmd.run 'id' %}{{ x }}",
  "{% include 'part.liquid' %}",
  "{% import_yaml 'data.yaml' as d %}{{ d.x }}",
  '{{ pillar.a | sort | first }}',
];

test.each([
  ['jinja', jinja],
  ['liquid', liquid],
])('%s: no host gets what is another host’s', { tags: 'slow' }, async (pipe, fragments) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...fragments), { minLength: 1, maxLength: 3 }),
      pillars,
      async (parts, all) => {
        const text = parts.join('|');
        const shared = new FileRoots({ base: [root] });
        for (const [index, pillar] of all.entries()) {
          const id = `h${index % 4}`;
          const own = await outcome(
            pipe,
            text,
            hostOf(id, pillar, new FileRoots({ base: [root] })),
          );
          expect(await outcome(pipe, text, hostOf(id, pillar, shared))).toBe(own);
        }
      },
    ),
    { numRuns: 400 },
  );
});

/** For each of ten hosts, whether the text was rendered for it: others get the reads of an earlier one. */
const renderings = async (
  pipe: string,
  text: string,
  pillarOf: (host: number) => readonly [DataKey, Data][],
): Promise<boolean[]> => {
  const roots = new FileRoots({ base: [root] });
  const known = new Set<unknown>();
  const rendered: boolean[] = [];
  for (let host = 0; host < 10; host += 1) {
    const context: RenderContext = {
      ...hostOf(`h${host}`, new Map(pillarOf(host)), roots),
      onReads: reads => {
        rendered.push(reads === undefined || !known.has(reads));
        known.add(reads);
      },
    };
    await renderText({ text, file: 'web.sls', pipe, saltenv: 'base', sls: 'web', context });
  }
  return rendered;
};

const never = Array.from({ length: 10 }, () => true);
const twice = never.map((_, host) => host < 2);

test.each(['liquid', 'jinja'])('%s: what looks the same to all is rendered twice', async pipe => {
  const pillarOf = (host: number): [DataKey, Data][] => [
    ['a', 1],
    ['secret', host],
  ];
  expect(await renderings(pipe, '{{ pillar.a }}', pillarOf)).toEqual(twice);
  expect(await renderings(pipe, '{{ pillar.a }}{{ pillar.secret }}', pillarOf)).toEqual(never);
});

test.each([
  ['jinja', "{{ pillar.a }}{{ salt['pillar.get']('a') }}", twice],
  ['jinja', "{{ pillar.a }}{{ salt['cmd.run']('a') }}", never],
  ['jinja', '{{ pillar.a }}{{ [1, 2] | random }}', never],
  ['jinja', '{{ pillar.a }}{{ [1, 2] | random_shuffle }}', never],
  ['jinja', '{{ pillar.a }}{{ none | strftime }}', never],
  ['jinja', '{{ pillar.a }}{{ 5 | random_str }}{{ "AC:DE:48" | gen_mac }}', never],
  ['jinja', '{{ pillar.a }}{{ lipsum() }}', never],
  ['liquid', "{{ pillar.a }}{{ 'pillar.get' | salt: 'a' }}", twice],
  ['liquid', "{{ pillar.a }}{{ 'cmd.run' | salt: 'a' }}", never],
  ['liquid', "{{ pillar.a }}{{ 'a,b' | split: ',' | sample }}", never],
  ['liquid', "{{ pillar.a }}{{ 'now' | date: '%s' }}", never],
  ['liquid', '{{ pillar.a }}{{ 10 | random_hash }}', never],
])('%s: whether %s is shared', async (pipe, text, expected) => {
  expect(await renderings(pipe, text, () => [['a', 1]])).toEqual(expected);
});

test('a template that changed, or an import of it, is rendered again', async () => {
  const roots = new FileRoots({ base: [root] });
  const text = "{% from 'change.jinja' import x %}{{ x }}";
  const seen: string[] = [];
  for (const version of [1, 1, 1, 2]) {
    writeFileSync(join(root, 'change.jinja'), `{% set x = ${version} %}${' '.repeat(version)}`);
    const context = hostOf('h', new Map(), roots);
    seen.push(
      await renderText({ text, file: 'a', pipe: 'jinja', saltenv: 'base', sls: 'a', context }),
    );
  }
  expect(seen).toEqual(['1', '1', '1', '2']);
});

test('data of a shared text is each host’s own', async () => {
  const roots = new FileRoots({ base: [root] });
  const one = () =>
    render({
      text: 'a: [{{ pillar.a }}]\n',
      file: 'a.sls',
      saltenv: 'base',
      context: hostOf('h', new Map([['a', 1]]), roots),
    }) as Promise<Dict>;
  for (let host = 0; host < 4; host += 1) {
    const data = await one();
    expect(data).toEqual(new Map([['a', [1]]]));
    (data.get('a') as Data[]).push('changed');
  }
});

test('one list in the YAML is one list in each host’s data, and shared with no other host', async () => {
  const roots = new FileRoots({ base: [root] });
  const lists: Data[] = [];
  for (let host = 0; host < 4; host += 1) {
    const context = hostOf('h', new Map(), roots);
    const text = 'a: &l [1]\nb: *l\n';
    const data = (await render({ text, file: 'b.sls', saltenv: 'base', context })) as Dict;
    expect(data.get('a')).toBe(data.get('b'));
    lists.push(data.get('a') ?? null);
  }
  expect(new Set(lists).size).toBe(4);
});

test('randomness and the clock are read in one file of this folder', () => {
  const folder = new URL('../../../src/render/', import.meta.url);
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.ts') && name !== 'nondeterminism.ts',
  );
  const offenders = sources.filter(name =>
    /Math\.random|Date\.now|new Date\(\)|\brandom[A-Z]\w*\b[^;]*from 'node:crypto'|crypto\.random/.test(
      readFileSync(new URL(name, folder), 'utf8'),
    ),
  );
  expect(offenders).toEqual([]);
});
