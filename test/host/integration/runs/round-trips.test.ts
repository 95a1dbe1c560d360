// @module-tag slow
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countingProxy } from '../../../bench/measure.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';

const count = 120;
/** Milliseconds there and back. */
const roundTrip = 200;
/** So many round trips a run may take; one for each file would be 120 more. */
const most = 60;

const names = Array.from({ length: count }, (_, at) => `f${at}`);
const contentOf = (name: string): string => `content of ${name}\n`;
/** Only some texts of this length are sent with a run. */
const padding = `${'padding '.repeat(25)}\n`;
const large = 'x'.repeat(3 * 1024 * 1024);

let project: Project;
let sshd: Sshd;
let proxy: Awaited<ReturnType<typeof countingProxy>>;

beforeAll(async () => {
  if (!hasSshd) return;
  const list = JSON.stringify(names);
  project = await startProject({
    hosts: [],
    files: {
      ...Object.fromEntries(
        names.map(name => [`states/tree/${name}`, name === 'f60' ? large : contentOf(name)]),
      ),
      ...Object.fromEntries(
        names.map(name => [`states/templates/${name}`, `${name} on {{ grains.id }} {{ word }}\n`]),
      ),
      'states/one.liquid': `number {{ number }}\n${padding}`,
      'states/managed.sls': `#!jinja|yaml
{% for name in ${list} %}
{{ grains.root }}/managed/{{ name }}:
  file.managed:
    - source: salt://tree/{{ name }}
    - makedirs: true
{% endfor %}
`,
      'states/rendered.sls': `#!jinja|yaml
{% for name in ${list} %}
{{ grains.root }}/rendered/{{ name }}:
  file.managed:
    - source: salt://one.liquid
    - template: liquid
    - context: {number: {{ loop.index0 }}}
    - makedirs: true
{% endfor %}
`,
      'states/recurse.sls': `#!jinja|yaml
{{ grains.root }}/recurse:
  file.recurse:
    - source: salt://tree
`,
      'states/turns/a': 'first\n',
      'states/turns/b': "{{ salt['file.file_exists'](grains.root ~ '/turns/a') }}\n",
      'states/turns/c': "{{ salt['cmd.run']('cat ' ~ grains.root ~ '/turns/b') }}\n",
      'states/turns.sls': `#!jinja|yaml
{{ grains.root }}/turns:
  file.recurse:
    - source: salt://turns
    - template: jinja
`,
      'states/recurse-templates.sls': `#!jinja|yaml
{{ grains.root }}/recurse-templates:
  file.recurse:
    - source: salt://templates
    - template: jinja
    - context: {word: here}
`,
    },
  });
  sshd = await startSshd({ dir: join(project.dir, 'sshd') });
  proxy = await countingProxy(sshd.port, roundTrip / 2);
  project.write({
    known_hosts: `[127.0.0.1]:${proxy.port} ${sshd.hostKeys[0]}\n`,
    'roster.yaml': `web1:
  host: 127.0.0.1
  port: ${proxy.port}
  user: ${sshd.user}
  priv: ${sshd.key}
  thin_dir: ${join(project.dir, 'workspace')}
  grains: {root: ${project.dir}}
`,
  });
  const first = await project.run('web1', 'test.ping');
  expect(first.code).toBe(0);
}, 60_000);

afterAll(async () => {
  await proxy?.close();
  await sshd?.close();
  await project?.close();
});

const filesIn = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(join(project.dir, folder)).map(name => [
      name,
      readFileSync(join(project.dir, folder, name), 'utf8'),
    ]),
  );

/** Runs a call. @returns its seconds in round trips */
const tripsOf = async (...call: string[]): Promise<number> => {
  const began = performance.now();
  const { code, stdout } = await project.run('web1', ...call);
  expect(code, stdout.slice(-2000)).toBe(0);
  return (performance.now() - began) / roundTrip;
};

const tree = (): Record<string, string> =>
  Object.fromEntries(names.map(name => [name, name === 'f60' ? large : contentOf(name)]));

test.runIf(hasSshd).each([
  ['managed', tree],
  ['recurse', tree],
  [
    'rendered',
    () => Object.fromEntries(names.map((name, at) => [name, `number ${at}\n${padding}`])),
  ],
  [
    'recurse-templates',
    () => Object.fromEntries(names.map(name => [name, `${name} on web1 here\n`])),
  ],
])(
  '120 files by %s need no round trip each, new, changed and unchanged',
  async (sls, wanted) => {
    const fresh = await tripsOf('state.apply', sls);
    expect(filesIn(sls)).toEqual(wanted());
    const unchanged = await tripsOf('state.apply', sls);
    for (const name of ['f3', 'f59', 'f60', 'f119']) {
      const path = join(project.dir, sls, name);
      // One has the length of the wanted content, the others are shorter.
      writeFileSync(path, name === 'f3' ? 'y'.repeat(readFileSync(path).length) : 'short');
    }
    rmSync(join(project.dir, sls, 'f80'));
    const changed = await tripsOf('state.apply', sls);
    expect(filesIn(sls)).toEqual(wanted());
    expect(Math.max(fresh, unchanged, changed), `${[fresh, unchanged, changed]}`).toBeLessThan(
      most,
    );
  },
  120_000,
);

test.runIf(hasSshd)('a template that asks the host is rendered when it is its turn', async () => {
  await tripsOf('state.apply', 'turns');
  expect(filesIn('turns')).toEqual({ a: 'first\n', b: 'True\n', c: 'True\n' });
});

test.runIf(hasSshd)('cp.get_dir needs no round trip for each file', async () => {
  const trips = await tripsOf('cp.get_dir', 'salt://tree', join(project.dir, 'got'));
  expect(filesIn('got/tree')).toEqual(tree());
  expect(trips).toBeLessThan(most);
});
