// @module-tag slow
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type FarPort, startFarPort } from '../../../helpers/far-port.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';

const count = 200;

let project: Project;
let sshd: Sshd;
let far: FarPort;

const roster = (more = ''): string => `web1:
  host: 127.0.0.1
  port: ${far.port}
  user: ${sshd.user}
  priv: ${sshd.key}
  thin_dir: ${join(project.dir, 'workspace')}
  grains: {root: ${project.dir}}
${more}`;

beforeAll(async () => {
  if (!hasSshd) return;
  project = await startProject({
    hosts: [],
    files: {
      'states/page.jinja': `number {{ number }} on {{ grains.id }}\n${'some text '.repeat(100)}\n`,
      'states/site.sls': `#!jinja|yaml
{% for number in range(${count}) %}
{{ grains.root }}/site/{{ number }}:
  file.managed:
    - source: salt://page.jinja
    - template: jinja
    - context: {number: {{ number }}}
    - makedirs: true
{% endfor %}
`,
    },
  });
  sshd = await startSshd({ dir: join(project.dir, 'sshd') });
  far = await startFarPort(sshd.port);
  project.write({
    known_hosts: `[127.0.0.1]:${far.port} ${sshd.hostKeys[0]}\n`,
    'roster.yaml': roster(),
  });
  expect((await project.run('web1', 'test.ping')).code).toBe(0);
}, 60_000);

afterAll(async () => {
  await far?.close();
  await sshd?.close();
  await project?.close();
});

type Results = Readonly<Record<string, { comment: string; changes: unknown; result: unknown }>>;

/** Runs the states. @returns the bytes that went to and fro, and the results */
const apply = async (isFar = false): Promise<{ bytes: number; results: [string, unknown][] }> => {
  await far.counts();
  if (isFar) await far.standStill();
  const { code, stdout } = await project.run('web1', 'state.apply', 'site', '--out=json');
  expect(code, stdout.slice(-2000)).toBe(0);
  const { up, down } = await far.counts();
  const states = (JSON.parse(stdout) as { web1: Results }).web1;
  const results = Object.entries(states).map(([tag, { comment, changes, result }]) => [
    tag,
    { comment, changes, result },
  ]);
  return { bytes: up + down, results: results as [string, unknown][] };
};

const files = (): string[] =>
  readdirSync(join(project.dir, 'site')).map(
    name => `${name}: ${readFileSync(join(project.dir, 'site', name), 'utf8')}`,
  );

test.runIf(hasSshd)(
  'a run on a host far away sends the same, compressed, unless ssh options say how to',
  async () => {
    const near = { fresh: await apply(), again: await apply(), files: files() };
    rmSync(join(project.dir, 'site'), { recursive: true });
    const fresh = await apply(true);
    const again = await apply(true);
    expect(files()).toEqual(near.files);
    expect(fresh.results).toEqual(near.fresh.results);
    expect(again.results).toEqual(near.again.results);
    expect(near.fresh.bytes / fresh.bytes).toBeGreaterThan(3);
    expect(near.again.bytes / again.bytes).toBeGreaterThan(3);
    project.write({ 'roster.yaml': roster('  ssh_options: [Compression=no]\n') });
    expect((await apply(true)).bytes / near.again.bytes).toBeGreaterThan(0.9);
  },
  120_000,
);

test.runIf(hasSshd)('a host far away gets the artifact without its code cache', async () => {
  project.write({ 'roster.yaml': roster() });
  const sent = async (isFar: boolean): Promise<number> => {
    rmSync(join(project.dir, 'workspace'), { recursive: true });
    await far.counts();
    if (isFar) await far.standStill();
    expect((await project.run('web1', 'test.ping')).code).toBe(0);
    return (await far.counts()).up;
  };
  const near = await sent(false);
  const cache = readdirSync(join(project.dir, 'cache/artifacts')).find(name =>
    name.includes('.code-'),
  );
  const { size } = statSync(join(project.dir, 'cache/artifacts', cache ?? ''));
  expect(near - (await sent(true))).toBeGreaterThan(0.9 * size);
});
