import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { StateReturn } from '../../src/modules/api.ts';
import * as containers from '../../src/modules/exec/docker/containers.ts';
import * as images from '../../src/modules/exec/docker/images.ts';
import * as networks from '../../src/modules/exec/docker/networks.ts';
import * as volumes from '../../src/modules/exec/docker/volumes.ts';
import { createWords } from '../../src/modules/lib/docker-options.ts';
import * as container from '../../src/modules/state/docker_container.ts';
import * as image from '../../src/modules/state/docker_image.ts';
import * as network from '../../src/modules/state/docker_network.ts';
import * as volume from '../../src/modules/state/docker_volume.ts';
import { nothing } from '../helpers/nothing.ts';
import { contextOf, testing, within } from './_context.ts';

/** A small engine behind docker's command line: it keeps what it is told, and answers docker's JSON. */
const program = `#!${process.execPath}
const fs = require('fs'), path = __dirname + '/state.json';
const db = fs.existsSync(path) ? JSON.parse(fs.readFileSync(path)) : { container: {}, image: {}, network: {}, volume: {} };
const argv = process.argv.slice(2); fs.appendFileSync(__dirname + '/log', JSON.stringify(argv) + '\\n');
const save = out => { fs.writeFileSync(path, JSON.stringify(db)); if (out) console.log(out); process.exit(0); };
const die = text => { console.error('Error response from daemon: ' + text); process.exit(1); };
const names = argv.slice(1).filter(a => !a.startsWith('-')); const flag = name => argv.filter(a => a.startsWith('--' + name + '=')).map(a => a.slice(name.length + 3));
const get = (kind, name) => db[kind][name] ?? die('No such ' + kind + ': ' + name);
const [verb, sub] = argv, last = argv.at(-1);
if (sub === 'inspect') save(JSON.stringify([get(verb, last)]));
if (verb === 'network' && sub === 'create') { db.network[last] = { Name: last, Driver: flag('driver')[0], IPAM: { Config: flag('subnet').map(Subnet => ({ Subnet })) }, Containers: {} }; save('n1'); }
if (verb === 'network' && sub === 'rm') { if (Object.keys(get('network', last).Containers).length) die('network has active endpoints'); delete db.network[last]; save(last); }
if (verb === 'network' && sub === 'connect') { const [net, c] = argv.slice(3); get('network', net).Containers[c] = { Name: c }; get('container', c).NetworkSettings.Networks[net] = {}; save(); }
if (verb === 'network' && sub === 'disconnect') { const [net, c] = argv.slice(3); delete get('network', net).Containers[c]; save(); }
if (verb === 'volume' && sub === 'create') { db.volume[last] = { Name: last, Driver: flag('driver')[0] ?? 'local', Options: flag('opt') }; save(last); }
if (verb === 'volume' && sub === 'rm') { get('volume', last); delete db.volume[last]; save(last); }
if (verb === 'volume' && sub === 'ls') save(Object.keys(db.volume).join('\\n'));
if (verb === 'pull') { if (last.startsWith('none')) die('manifest unknown'); db.image[last] = { Id: 'sha256:' + last }; save(last); }
if (verb === 'rmi') { delete db.image[last]; save('Deleted: ' + last); }
if (verb === 'create') { const name = flag('name')[0]; if (db.container[name]) die('Conflict. The container name is in use'); const at = argv.indexOf('--');
  if (flag('memory')[0] === 'lots') die('invalid memory');
  if (!db.image[argv[at + 1]] && !db.image[argv[at + 1] + ':latest']) die('No such image'); db.container[name] = { Id: 'c-' + name, State: { Running: false, Paused: false }, Config: { Labels: Object.fromEntries(flag('label').map(l => [l.slice(0, l.indexOf('=')), l.slice(l.indexOf('=') + 1)])) }, NetworkSettings: { Networks: {} } }; save('c-' + name); }
if (verb === 'start') { get('container', last).State.Running = true; save(last); }
if (verb === 'stop') { get('container', last).State.Running = false; save(last); }
if (verb === 'kill') { get('container', last); save(last); }
if (verb === 'rename') { db.container[names[1]] = get('container', names[0]); delete db.container[names[0]]; save(); }
if (verb === 'rm') { get('container', last); delete db.container[last]; save(last); }
die('not known: ' + argv.join(' '));
`;

const folder = mkdtempSync(join(tmpdir(), 'tsalt-docker-'));
const path = process.env.PATH;
writeFileSync(join(folder, 'docker'), program);
chmodSync(join(folder, 'docker'), 0o755);
process.env.PATH = `${folder}:${path}`;

// Every call of the stand-in starts a Node.
vi.setConfig({ testTimeout: 60_000 });

beforeEach(() => {
  for (const name of ['state.json', 'log']) rmSync(join(folder, name), { force: true });
});
afterAll(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true, force: true });
});

const context = contextOf({ docker: { ...containers, ...images, ...networks, ...volumes } });
const run = (state: () => Promise<StateReturn>) => within(context, state);
const log = (): string[][] =>
  existsSync(join(folder, 'log'))
    ? readFileSync(join(folder, 'log'), 'utf8')
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as string[])
    : [];

/** Test mode tells, the run does, and the next run has nothing to do. */
const settles = async (state: () => Promise<StateReturn>): Promise<string> => {
  expect(await within(testing(context), state)).toMatchObject({ result: null });
  const done = await run(state);
  expect(done, String(done.comment)).toMatchObject({ result: true });
  expect(Object.keys(done.changes).length).toBeGreaterThan(0);
  expect(await run(state)).toMatchObject({ result: true, changes: nothing });
  return String(done.comment);
};

test("Salt's arguments are docker's flags, each a word", () => {
  expect(
    createWords('web', 'nginx', {
      binds: '/a:/b:ro,/c:/d',
      port_bindings: ['8080:80', 53],
      environment: [{ A: 'x y; $(id)' }, { B: 1 }],
      env: undefined as never,
      labels: { l: 'v' },
      privileged: true,
      tty: false,
      restart_policy: 'on-failure:5',
      extra_hosts: { db: '10.0.0.1' },
      entrypoint: ['/bin/sh', '-c'],
      command: `echo "a b" 'c'`,
      skip_translate: true,
    }),
  ).toEqual([
    ...['--name=web', '--volume=/a:/b:ro', '--volume=/c:/d', '--publish=8080:80', '--publish=53'],
    ...['--env=A=x y; $(id)', '--env=B=1', '--label=l=v', '--privileged'],
    ...['--restart=on-failure:5', '--add-host=db:10.0.0.1', '--entrypoint=/bin/sh'],
    ...['--', 'nginx', '-c', 'echo', 'a b', 'c'],
  ]);
  expect(() => createWords('web', 'nginx', { wings: 2 })).toThrow(
    'docker_container does not take wings',
  );
});

test('makes, keeps, replaces, stops and removes a container', async () => {
  const web =
    (more = {}) =>
    () =>
      container.running('web', { image: 'nginx:1.25', environment: ['SECRET=hush'], ...more });
  expect(await settles(web())).toBe("Created container 'web'");
  expect(await settles(web({ user: 'www' }))).toBe("Replaced container 'web'");
  expect(await run(web({ user: 'www', force: true }))).toMatchObject({
    result: true,
    changes: { container_id: { replaced: 'web' } },
  });
  await settles(() => container.stopped('web'));
  expect(await settles(web({ user: 'www' }))).toBe("Container 'web' was started");
  expect(await run(() => container.absent('web'))).toMatchObject({ result: false });
  await settles(() => container.absent('web', { force: true }));
  expect(JSON.stringify(log().filter(([verb]) => verb !== 'create'))).not.toContain('hush');
});

test('a container that cannot be replaced stays and runs', async () => {
  await run(() => container.running('web', { image: 'nginx' }));
  expect(
    await run(() => container.running('web', { image: 'nginx', mem_limit: 'lots' })),
  ).toMatchObject({ result: false, comment: expect.stringContaining('invalid memory') });
  expect(await within(context, () => containers.state('web'))).toBe('running');
  expect(await run(() => container.running('web', { image: 'none' }))).toMatchObject({
    result: false,
    comment: 'manifest unknown',
  });
  expect(await within(context, () => containers.state('web'))).toBe('running');
});

test('what it watches replaces it, or sends it a signal', async () => {
  const options = { image: 'nginx' };
  await run(() => container.running('web', options));
  expect(
    await run(() => container.mod_watch('web', { sfun: 'running', ...options })),
  ).toMatchObject({ changes: { container_id: { replaced: 'web' } } });
  await run(() =>
    container.mod_watch('web', { sfun: 'running', watch_action: 'SIGUSR1', ...options }),
  );
  expect(log().at(-1)).toEqual(['kill', '--signal=SIGUSR1', 'web']);
});

test('fetches and removes images', async () => {
  await settles(() => image.present('nginx', { tag: '1.25' }));
  await settles(() => image.absent('nginx:1.25'));
  expect(await run(() => image.present('none'))).toMatchObject({ result: false });
  expect(await run(() => image.present('a', { build: '/x', load: '/y' }))).toMatchObject({
    result: false,
  });
});

test('makes networks, connects containers, refuses another subnet', async () => {
  await settles(() => network.present('front', { subnet: '10.1.0.0/24' }));
  expect(await run(() => network.present('front', { subnet: '10.2.0.0/24' }))).toMatchObject({
    result: false,
  });
  await run(() => container.running('web', { image: 'nginx' }));
  await settles(() => network.present('front', { containers: ['web'] }));
  await settles(() => network.absent('front'));
  await run(() => network.present('back', {}));
  await settles(() => container.running('web', { image: 'nginx', networks: ['back'] }));
});

test('makes volumes, and replaces one only when forced', async () => {
  const options = { driver: 'local', driver_opts: { type: 'tmpfs' } };
  await settles(() => volume.present('data', options));
  expect(log()).toContainEqual([
    'volume',
    'create',
    '--driver=local',
    '--opt=type=tmpfs',
    '--',
    'data',
  ]);
  expect(await within(context, () => volumes.volumes())).toEqual(['data']);
  expect(await run(() => volume.present('data', { driver: 'other' }))).toMatchObject({
    result: false,
    changes: nothing,
    comment:
      "Driver for existing volume 'data' ('local') does not match specified driver ('other') and force is False",
  });
  await settles(() => volume.present('data', { driver: 'other', force: true }));
  await settles(() => volume.absent('data'));
});
