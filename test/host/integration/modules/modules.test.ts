// @module-tag slow
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot, tsalt } from '../../../helpers/cli.ts';
import { scratch } from '../../../helpers/hosts.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';

const { path: dir, remove } = scratch('tsalt-modules');
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
let sshd: Sshd;
let api: Server;
const resources: Record<string, unknown> = {};
const writes: string[] = [];

const write = (name: string, content: string | Uint8Array): void => {
  mkdirSync(dirname(join(dir, name)), { recursive: true });
  writeFileSync(join(dir, name), content);
};

const run = (...args: string[]) => tsalt(['web1', '--out=json', ...args], { cwd: dir });

/** The host's result: the value of its id in the JSON on stdout. */
const answer = async (...args: string[]): Promise<unknown> => {
  const result = await run(...args);
  return (result.json() as Record<string, unknown>).web1;
};

/** Everything a user sees of a call. */
const shown = async (...args: string[]): Promise<string> => {
  const { stdout, stderr } = await run(...args);
  return stdout + stderr;
};

/** Result and changes of each state; the comment of one that failed. */
const apply = async (...args: string[]): Promise<unknown[]> => {
  const states = (await answer('state.sls', ...args)) as Record<string, Record<string, unknown>>;
  return Object.values(states).map(({ result, changes, comment }) => [
    result,
    result === false ? comment : changes,
  ]);
};

beforeAll(async () => {
  if (!hasSshd) return;
  cpSync(join(packageRoot, 'states'), join(dir, 'states'), { recursive: true });
  sshd = await startSshd({ dir: join(dir, 'sshd') });
  api = createServer(async (request, response) => {
    const name = decodeURIComponent(request.url?.split('/')[2] ?? '');
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'GET') writes.push(`${request.method} ${name}`);
    if (request.method === 'PUT') resources[name] = JSON.parse(body);
    const found = name === '' ? resources : resources[name];
    if (request.method === 'DELETE') delete resources[name];
    response.writeHead(found === undefined ? 404 : 200).end(JSON.stringify(found ?? null));
  });
  await new Promise<void>(resolve => api.listen(0, '127.0.0.1', resolve));
  write('known_hosts', sshd.hostKeys.map(key => `[127.0.0.1]:${sshd.port} ${key}\n`).join(''));
  write(
    'tsalt.yaml',
    `file_roots: {base: [${dir}/states]}\ncachedir: ${dir}/cache\nknown_hosts_file: ${dir}/known_hosts\n`,
  );
  write(
    'roster.yaml',
    `web1:
  host: 127.0.0.1
  port: ${sshd.port}
  user: ${sshd.user}
  priv: ${sshd.key}
  thin_dir: ${dir}/thin
  grains: {enzymes: true}
  minion_opts:
    my_custom_module.dir: ${dir}/things
    my_cloud.url: http://127.0.0.1:${(api.address() as AddressInfo).port}/
    cheese.allow_foreign: true
`,
  );
  write(
    'states/_modules/lumberjack.zip',
    zipSync({
      'lumberjack/index.ts': text(
        `import { all_day } from './work/index.ts'; export const is_ok = (person: string) => all_day(person);`,
      ),
      'lumberjack/work/index.ts': text(
        `export const all_day = (p: string) => p === 'Michael Palin';`,
      ),
    }),
  );
  write('states/_modules/typo.ts', 'export const go = () => {\n  return 1 +;\n};\n');
  cpSync(
    join(dir, 'states/_modules/my_cloud/my_resource.ts'),
    join(dir, 'states/_modules/my_disk.ts'),
  );
  write('states/cloud.sls', 'disk:\n  my_disk.present:\n    - size: "3"\n');
  write('states/cheese.sls', 'brie:\n  cheese.sliced:\n    - count: 2\n');
});

afterAll(async () => {
  await sshd?.close();
  api?.close();
  remove();
});

test.skipIf(!hasSshd)(
  'the custom state of the document: tested, applied, and then left alone',
  async () => {
    const changed = { old: null, new: 'Foo' };
    expect(await apply('my_custom_state', 'test=true')).toEqual([[null, changed]]);
    expect(await apply('my_custom_state')).toEqual([[true, changed]]);
    expect(readFileSync(join(dir, 'things/a_value'), 'utf8')).toBe('Foo\n');
    expect(await apply('my_custom_state')).toEqual([[true, {}]]);
  },
);

test.skipIf(!hasSshd)('an auto_state resource is created once, from an SLS', async () => {
  expect(await apply('cloud', 'test=true')).toEqual([[null, { new: { size: 3 } }]]);
  expect(writes).toEqual([]);
  expect(await apply('cloud')).toEqual([[true, { new: { size: 3, tags: {} } }]]);
  expect(await apply('cloud')).toEqual([[true, {}]]);
  expect(writes).toEqual(['PUT disk']);
});

test.skipIf(!hasSshd)('an auto_state resource is described, updated and deleted', async () => {
  const { stdout } = await tsalt(['web1', 'state.describe', 'my_disk'], { cwd: dir });
  expect(stdout).toBe(`#!yaml
# web1
disk:
  my_disk.present:
  - name: disk
  - size: 3
  - tags: {}
`);
  write('states/described.sls', stdout);
  expect(await apply('described', 'test=true')).toEqual([[true, {}]]);
  expect(await apply('described')).toEqual([[true, {}]]);
  expect(writes).toEqual(['PUT disk']);

  write('states/cloud.sls', 'disk:\n  my_disk.present:\n    - size: 4\n');
  const changes = { old: { size: 3 }, new: { size: 4 } };
  expect(await apply('cloud', 'test=true')).toEqual([[null, changes]]);
  expect(await apply('cloud')).toEqual([[true, changes]]);
  write('states/cloud.sls', 'disk:\n  my_disk.absent: []\n');
  expect(await apply('cloud')).toEqual([[true, { old: { size: 4, tags: {} } }]]);
  expect(await apply('cloud')).toEqual([[true, {}]]);
  expect(writes).toEqual(['PUT disk', 'PUT disk', 'DELETE disk']);
  write('states/nested.sls', 'far:\n  my_cloud.my_resource.present:\n    - size: 1\n');
  expect(await apply('nested')).toMatchObject([[true, { new: { size: 1 } }]]);
  expect(await apply('nested')).toEqual([[true, {}]]);
  expect(await shown('state.describe', 'my_disc')).toContain("did you mean 'my_disk'?");
});

test.skipIf(!hasSshd)('violated contracts are reported with all that is missing', async () => {
  write(
    'states/_modules/half.ts',
    `export const __contracts__ = ['auto_state'];
    export const get = (name: string) => ({ result: true, comment: '', ret: {} });`,
  );
  write(
    'states/_states/soft.ts',
    `export const __contracts__ = ['soft_fail'];
    export const present = (name: string) => { throw new Error('the cable is out'); };`,
  );
  write('states/soft.sls', 'x:\n  soft.present: []\n');
  const half = await shown('half.get', 'x');
  for (const name of ['list', 'create', 'update', 'delete']) expect(half).toContain(name);
  expect(await apply('soft')).toEqual([[false, expect.stringContaining('the cable is out')]]);
});

test.skipIf(!hasSshd)(
  '__virtual__, __init__, grains and cross-calls decide on the host',
  async () => {
    expect(await apply('cheese')).toEqual([
      [true, { brie: { old: [], new: ['brie 1', 'brie 2'] } }],
    ]);
  },
);

test.skipIf(!hasSshd)(
  'a zip archive is a module; a broken one says where, and the rest works',
  async () => {
    expect(await answer('lumberjack.is_ok', 'Michael Palin')).toBe(true);
    expect(await shown('typo.go')).toMatch(/'typo\.go' is not available: .*typo\.ts:2:13/);
  },
);

test.skipIf(!hasSshd)('documentation and lists come from the same sources', async () => {
  const doc = (await answer('sys.state_doc', 'my_custom_state')) as Record<string, string>;
  expect(doc['my_custom_state.enforce_custom_thing']).toContain(
    'Enforce the state of a custom thing.',
  );
  expect(doc.my_custom_state).toContain(':depends: my_custom_module');
  expect(await answer('saltutil.sync_states')).toEqual([
    'states.cheese',
    'states.my_custom_state',
    'states.soft',
  ]);
});

test.skipIf(!hasSshd)('a mistyped argument is found before anything is sent', async () => {
  const before = sshd.log().length;
  expect(await shown('cheese.slice', 'brie', 'cuont=2')).toMatch(/did you mean 'count'/);
  expect(sshd.log().length).toBe(before);
});
