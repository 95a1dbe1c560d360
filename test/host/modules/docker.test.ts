// @module-tag slow
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { StateReturn } from '../../../src/modules/api.ts';
import { connectArgs } from '../../../src/modules/docker/docker-networks.ts';
import { createArgs } from '../../../src/modules/docker/docker-options.ts';
import * as compare from '../../../src/modules/docker/exec/docker/compare.ts';
import * as containers from '../../../src/modules/docker/exec/docker/containers.ts';
import * as files from '../../../src/modules/docker/exec/docker/files.ts';
import * as images from '../../../src/modules/docker/exec/docker/images.ts';
import * as inside from '../../../src/modules/docker/exec/docker/inside.ts';
import * as looks from '../../../src/modules/docker/exec/docker/looks.ts';
import * as networks from '../../../src/modules/docker/exec/docker/networks.ts';
import * as registries from '../../../src/modules/docker/exec/docker/registries.ts';
import * as runs from '../../../src/modules/docker/exec/docker/runs.ts';
import * as volumes from '../../../src/modules/docker/exec/docker/volumes.ts';
import * as run from '../../../src/modules/docker/states/docker_container/run.ts';
import * as running from '../../../src/modules/docker/states/docker_container/running.ts';
import * as stopped from '../../../src/modules/docker/states/docker_container/stopped.ts';
import * as image from '../../../src/modules/docker/states/docker_image.ts';
import * as network from '../../../src/modules/docker/states/docker_network.ts';
import * as volume from '../../../src/modules/docker/states/docker_volume.ts';
import { commandLines } from '../../helpers/command-lines.ts';
import { ask, canRunDocker, type Engine, startDocker } from '../../helpers/docker-engine.ts';
import { nothing } from '../../helpers/nothing.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

test("Salt's arguments are docker's flags, each a word", () => {
  expect(
    createArgs('web', 'nginx', {
      binds: '/a:/b:ro,/c:/d',
      port_bindings: ['8080:80', 53],
      environment: [{ A: 'x y; $(id)' }, { B: 1 }, { EMPTY: '' }],
      labels: { l: 'v' },
      privileged: true,
      tty: false,
      restart_policy: 'on-failure:5',
      extra_hosts: { db: '10.0.0.1' },
      entrypoint: ['/bin/sh', '-c'],
      command: `echo "a b" 'c'`,
      skip_translate: true,
      auto_remove: true,
      device_read_bps: '/dev/sda:1mb,/dev/sdb:2mb',
    }),
  ).toEqual([
    ...['--name=web', '--volume=/a:/b:ro', '--volume=/c:/d', '--publish=8080:80', '--publish=53'],
    ...['--env=A=x y; $(id)', '--env=B=1', '--env=EMPTY=', '--label=l=v', '--privileged'],
    ...['--restart=on-failure:5', '--add-host=db:10.0.0.1', '--rm'],
    ...['--device-read-bps=/dev/sda:1mb', '--device-read-bps=/dev/sdb:2mb'],
    ...['--entrypoint=/bin/sh', '--', 'nginx', '-c', 'echo', 'a b', 'c'],
  ]);
  expect(
    createArgs('web', 'nginx', {
      binds: { '/a': { bind: '/b', mode: 'ro' }, '/c': { bind: '/d' } },
      port_bindings: { 80: 8080, '53/udp': null },
      network_disabled: true,
    }),
  ).toEqual([
    ...['--name=web', '--volume=/a:/b:ro', '--volume=/c:/d', '--publish=8080:80'],
    ...['--publish=53/udp', '--network=none', '--', 'nginx'],
  ]);
  expect(connectArgs({ ipv4_address: '10.1.0.9', aliases: 'a,b', links: { db: 'sql' } })).toEqual([
    ...['--ip=10.1.0.9', '--alias=a', '--alias=b', '--link=db:sql'],
  ]);
  expect(() => createArgs('web', 'nginx', { wings: 2 })).toThrow(
    'docker_container does not take wings',
  );
  expect(() => createArgs('web', 'nginx', { env: ['A=1'], environment: ['A=2'] })).toThrow(
    "'environment' is given by two names",
  );
  expect(() => connectArgs({ speed: 1 })).toThrow("A container's network does not take speed.");
});

/** A registry with the user anna; her password is not among its own arguments. */
const registry = `require('http').createServer((request, response) => {
  const good = 'Basic ' + Buffer.from('anna:' + ['hush', 'hush'].join('-')).toString('base64');
  if (request.headers.authorization === good) response.writeHead(200).end('{}');
  else response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end();
}).listen(5099, '127.0.0.1', () => console.log('ready'));`;

/** Notes the arguments of all processes, until the answer is called: all that was seen. */
const watchArguments = (): (() => Promise<string[]>) => {
  const seen: string[] = [];
  let isOver = false;
  const work = (async () => {
    while (!isOver) {
      seen.push(commandLines().join('\n'));
      await new Promise(resolve => setTimeout(resolve, 2));
    }
  })();
  return async () => {
    isOver = true;
    await work;
    return seen;
  };
};

describe.skipIf(!canRunDocker())('a real docker engine', { timeout: 240_000 }, () => {
  let engine: Engine;
  let pillar: { [name: string]: unknown } = {};
  const config = { option: async (name: string) => pillar[name] ?? null };
  const docker = {
    ...containers,
    ...runs,
    ...images,
    ...networks,
    ...volumes,
    ...registries,
    ...files,
    ...looks,
    ...compare,
    ...inside,
  };
  const cp = { cache_file: async (source: string) => (existsSync(source) ? source : '') };
  const context = contextOf({ docker, config, cp });
  const state = (work: () => Promise<StateReturn>) => within(context, work);
  const settings = (what: string): string => ask('inspect', what);

  beforeAll(async () => {
    engine = await startDocker();
  }, 240_000);
  afterAll(() => engine?.stop(), 240_000);
  afterEach(() => {
    const all = ask('ps', '--all', '--quiet').split('\n').filter(Boolean);
    if (all.length > 0) ask('rm', '--force', '--volumes', ...all);
  });

  /** Test mode predicts, the run changes, and the next run has nothing to do. */
  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const all = () =>
      ask('ps', '--all', '--format={{.ID}} {{.State}}') + ask('volume', 'ls') + ask('images', '-q');
    const before = all();
    const told = await within(testing(context), work);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    expect(all()).toBe(before);
    const done = await state(work);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(Object.keys(done.changes).length).toBeGreaterThan(0);
    expect(await state(work)).toMatchObject({ result: true, changes: nothing });
    return done;
  };
  const sleeper = (more: object = {}) => ({
    image: 'box:1',
    command: 'sleep 1000',
    stop_signal: 'KILL',
    ...more,
  });

  test('makes, keeps, replaces, stops and removes a container', async () => {
    const web =
      (more = {}) =>
      () =>
        running.running('web', sleeper(more));
    expect((await settles(web({ environment: { A: 'b c', EMPTY: '' } }))).comment).toBe(
      "Created container 'web'",
    );
    expect(ask('exec', 'web', 'env')).toMatch(/^A=b c$/m);
    expect(ask('exec', 'web', 'env')).toMatch(/^EMPTY=$/m);
    expect((await settles(web({ user: '5', mem_limit: '64m' }))).comment).toBe(
      "Replaced container 'web'",
    );
    expect(ask('exec', 'web', 'id')).toContain('uid=5');
    expect(JSON.parse(settings('web'))[0].HostConfig.Memory).toBe(64 * 1024 * 1024);
    expect(await state(web({ user: '5', mem_limit: '64m', force: true }))).toMatchObject({
      result: true,
      changes: { container_id: { replaced: 'web' } },
    });
    const kept = { user: '5', mem_limit: '64m' };
    await settles(() => stopped.stopped('web', { shutdown_timeout: 0 }));
    expect((await settles(web(kept))).comment).toBe("Container 'web' was started");
    expect(await state(() => stopped.absent('web'))).toMatchObject({ result: false });
    await settles(() => stopped.absent('web', { force: true }));
  });

  test('a container that cannot be replaced stays and runs', async () => {
    await state(() => running.running('web', sleeper()));
    expect(await state(() => running.running('web', sleeper({ mem_limit: 'lots' })))).toMatchObject(
      {
        result: false,
        comment: expect.stringContaining('lots'),
      },
    );
    expect(await within(context, () => containers.state('web'))).toBe('running');
    const { result } = await state(() => running.running('web', { image: '127.0.0.1:9/none' }));
    expect(result).toBe(false);
    expect(await within(context, () => containers.state('web'))).toBe('running');
  });

  test('variables, labels, options of volumes and arguments of builds are in no argument', async () => {
    const watched = watchArguments();
    const environment = { TOKEN: 'hush-hush-1', KEY: 'first\nhush-hush-2', ODD: '#hush-hush-3' };
    await settles(() =>
      running.running('web', sleeper({ environment, labels: { pw: 'hush-hush-4' } })),
    );
    const env = ask('exec', 'web', 'env');
    for (const [name, value] of Object.entries(environment))
      expect(env).toContain(`${name}=${value}`);
    expect(JSON.parse(settings('web'))[0].Config.Labels.pw).toBe('hush-hush-4');
    const driver_opts = [{ type: 'tmpfs' }, { device: 'tmpfs' }, { o: 'size=1m,pw=hush-hush-5' }];
    await settles(() => volume.present('secret', { driver: 'local', driver_opts }));
    expect(JSON.parse(settings('secret'))[0].Options.o).toBe('size=1m,pw=hush-hush-5');
    const folder = join(engine.folder, 'build');
    mkdirSync(folder);
    writeFileSync(join(folder, 'Dockerfile'), 'FROM box:1\nARG PW\nRUN echo "$PW" >/word\n');
    const buildargs = { PW: 'hush-hush-6' };
    await within(context, () => images.build(folder, { repository: 'built', tag: '1', buildargs }));
    expect(ask('run', '--rm', 'built:1', 'cat', '/word')).toBe('hush-hush-6');
    const log_opt = {
      'splunk-token': 'hush-hush-7',
      'splunk-url': 'http://127.0.0.1:9',
      'max-buffer-size': '2m',
      mode: 'non-blocking',
    };
    await settles(() =>
      running.running('logs', sleeper({ start: false, log_driver: 'splunk', log_opt })),
    );
    expect(JSON.parse(settings('logs'))[0].HostConfig.LogConfig).toEqual({
      Type: 'splunk',
      Config: log_opt,
    });
    const wrong = await state(() =>
      running.running('bad', sleeper({ log_driver: 'json-file', log_opt: { wings: '2' } })),
    );
    expect(wrong.comment).toContain("unknown log opt 'wings'");
    const seen = await watched();
    expect(seen.some(all => all.includes('docker\0create'))).toBe(true);
    expect(seen.filter(all => all.replace(/sh\0-c\0echo[^\n]*/, '').includes('hush-hush'))).toEqual(
      [],
    );
    const { comment } = await state(() =>
      running.running('bad', sleeper({ environment: { PATH: '/a\n/b' } })),
    );
    expect(comment).toBe(
      'The variable PATH of a container takes one line only: docker itself reads it too.',
    );
  });

  test('a watched change replaces it, or sends it a signal', async () => {
    const options = sleeper({
      command: ['sh', '-c', 'trap "echo got; exit" USR1; while :; do sleep 0.1; done'],
    });
    await state(() => running.running('web', options));
    expect(
      await state(() => stopped.mod_watch('web', { sfun: 'running', ...options })),
    ).toMatchObject({ changes: { container_id: { replaced: 'web' } } });
    const signal = { sfun: 'running', watch_action: 'SIGUSR1', ...options };
    await state(() => stopped.mod_watch('web', signal));
    expect(ask('wait', 'web')).toBe('0');
    expect(await within(context, () => runs.logs('web', { tail: 1 }))).toBe('got\n');
  });

  test('runs a container once, and returns its output and exit code', async () => {
    const out = join(engine.folder, 'out');
    mkdirSync(out);
    const job = (more: object = {}) => ({
      image: 'box:1',
      command: ['sh', '-c', 'echo made; echo warned >&2; echo x >/out/x; exit 3'],
      binds: `${out}:/out`,
      ...more,
    });
    expect(await within(testing(context), () => run.run('job', job()))).toMatchObject({
      result: null,
      comment: 'Container would be run',
    });
    expect(existsSync(join(out, 'x'))).toBe(false);
    expect(await state(() => run.run('job', job()))).toMatchObject({
      result: false,
      comment: 'Container ran and exited with a return code of 3',
      changes: { Name: 'job', ExitCode: 3, Logs: 'made\nwarned\n' },
    });
    expect(await state(() => run.run('job', job()))).toMatchObject({
      result: false,
      comment: expect.stringContaining("Container 'job' exists. Run with replace=True"),
    });
    expect(
      await state(() => run.run('job', job({ replace: true, failhard: false, stderr: false }))),
    ).toMatchObject({ result: true, changes: { Logs: 'made\n' } });
    expect(await state(() => run.run('job', job({ creates: join(out, 'x') })))).toMatchObject({
      result: true,
      changes: nothing,
    });
    expect(await state(() => run.run('job', job({ start: false })))).toMatchObject({
      comment: "The 'start' argument is not supported",
    });
    await state(() => run.run('gone', job({ rm: true })));
    expect(ask('ps', '--all', '--format', '{{.Names}}')).toBe('job');
    await state(() => run.run('later', sleeper({ bg: true })));
    expect(
      await within(context, () => runs.run('later', "sh -c 'id; cat'", { stdin: 'hi' })),
    ).toMatch(/^uid=0.*\nhi$/);
    expect(await within(context, () => runs.run_all('later', 'ls /none'))).toMatchObject({
      retcode: 1,
      stdout: '',
      stderr: expect.stringContaining('No such file'),
    });
    expect(await within(context, () => containers.kill('later'))).toMatchObject({
      state: { old: 'running', new: 'stopped' },
    });
  });

  test('returns containers and images, and moves their files', async () => {
    const run = <T>(work: () => Promise<T>) => within(context, work);
    await state(() => running.running('web', sleeper({ port_bindings: '127.0.0.1:8099:80/tcp' })));
    const id = JSON.parse(settings('web'))[0].Id as string;
    expect(await run(() => looks.ps_({ filters: { name: 'web' } }))).toMatchObject({
      [id]: { Names: ['/web'], State: 'running', Time_Created_Local: expect.any(String) },
    });
    ask('create', '--name', 'idle', 'box:1', 'sh');
    expect(Object.keys(await run(() => looks.ps_()))).toHaveLength(1);
    const all = await run(() => looks.ps_({ all: true, verbose: true }));
    expect(Object.values(all)).toEqual(
      expect.arrayContaining([expect.objectContaining({ Info: expect.any(Object) })]),
    );
    expect(Object.keys(all)).toHaveLength(2);
    expect(await run(() => looks.port('w*', '80/tcp'))).toEqual({
      web: { '80/tcp': [{ HostIp: '127.0.0.1', HostPort: '8099' }] },
    });
    expect(await run(() => looks.port('web', 81))).toEqual({});
    expect(JSON.stringify(await run(() => looks.top('web')))).toContain('sleep 1000');
    const source = join(engine.folder, 'here.txt');
    writeFileSync(source, 'from here');
    await run(() => files.copy_to('web', source, '/new/dir/x.txt', { makedirs: true }));
    await expect(run(() => files.copy_to('web', source, '/new/dir/x.txt'))).rejects.toThrow(
      'already exists',
    );
    expect((await run(() => looks.diff('web'))).Added).toContain('/new/dir/x.txt');
    const back = join(engine.folder, 'back', 'x.txt');
    await run(() => files.copy_from('web', '/new/dir/x.txt', back, { makedirs: true }));
    expect(readFileSync(back, 'utf8')).toBe('from here');
    const archive = join(engine.folder, 'web.tar.gz');
    const kept = await run(() => files.export_('web', archive));
    expect(kept).toMatchObject({ Path: archive, Size: statSync(archive).size });
    expect(spawnSync('tar', ['-tzf', archive], { encoding: 'utf8' }).stdout).toContain(
      'new/dir/x.txt',
    );
    const { Image } = await run(() => files.import_(archive, 'again', 1));
    expect(await run(() => looks.resolve_tag(Image, { all: true }))).toEqual(['again:1']);
    await run(() => files.commit('web', 'kept', '2', { message: 'as it is', author: 'me' }));
    expect(JSON.parse(settings('kept:2'))[0]).toMatchObject({ Comment: 'as it is', Author: 'me' });
    expect(await run(() => looks.history('kept:2', true))).toHaveLength(2);
    expect(await run(() => looks.layers('kept:2'))).toHaveLength(2);
    const box = await run(() => images.resolve_image_id('box:1'));
    expect(await run(() => looks.images())).toHaveProperty([String(box), 'RepoTags'], ['box:1']);
    expect((await run(() => looks.depends('box:1'))).Containers.sort()).toEqual(['idle', 'web']);
    expect(await run(() => looks.inspect('kept:2'))).toHaveProperty('RepoTags', ['kept:2']);
    await expect(run(() => looks.inspect('nothing'))).rejects.toThrow('No such image');
    ask('commit', 'web', 'kept:2');
    expect(await run(() => looks.dangling())).toHaveLength(1);
    expect(Object.values((await run(() => looks.dangling(true))) as object)).toMatchObject([
      { Removed: expect.any(Array) },
    ]);
    await run(() => networks.create_network('front'));
    await run(() => networks.connect_container_to_network('web', 'front'));
    expect(await run(() => looks.connected('front'))).toEqual(['web']);
    expect(await run(() => files.disconnect_all_containers_from_network('front'))).toEqual(['web']);
    expect(await run(() => looks.connected('front'))).toEqual([]);
    expect(await run(() => files.prune({ containers: true, label: 'none' }))).toMatchObject({
      containers: { ContainersDeleted: null },
    });
    expect(await run(() => files.prune({ containers: true, networks: true }))).toMatchObject({
      containers: { ContainersDeleted: [expect.any(String)] },
      networks: { NetworksDeleted: ['front'] },
    });
    for (const name of ['again:1', 'kept:2']) ask('rmi', '--force', name);
  });

  test('runs a script in a container, and compares containers and networks', async () => {
    const call = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
    await state(() => run.run('one', sleeper({ bg: true, environment: { A: '1' } })));
    await state(() => run.run('two', sleeper({ bg: true, environment: { A: '2' } })));
    const path = join(engine.folder, 'told.sh');
    writeFileSync(path, '#!/bin/sh\necho "$A $1"; cat; exit 3\n', { mode: 0o644 });
    const before = ask('exec', 'one', 'ls', '/tmp');
    const told = await call(() => inside.script('one', path, { args: "'b c'", stdin: 'd' }));
    expect(told).toMatchObject({ retcode: 3, stdout: '1 b c\nd', stderr: '' });
    expect(ask('exec', 'one', 'ls', '/tmp')).toBe(before);
    expect(await call(() => inside.script_retcode('two', path))).toBe(3);
    expect(await call(() => inside.script('one', '/none'))).toMatchObject({ cache_error: true });
    await expect(call(() => inside.call('one', 'test.ping'))).rejects.toThrow('docker.call would');
    const found = await call(() => compare.compare_containers('one', 'two', 'Hostname'));
    expect(found.HostConfig).toBe(undefined);
    expect(found.Config).toEqual({
      Env: { old: expect.arrayContaining(['A=1']), new: expect.arrayContaining(['A=2']) },
    });
    await state(() => network.present('left', { subnet: '10.94.0.0/24' }));
    await state(() => network.present('right', { subnet: '10.95.0.0/24' }));
    expect(await call(() => compare.compare_networks('left', 'right'))).toEqual({
      IPAM: {
        Config: {
          old: [expect.objectContaining({ Subnet: '10.94.0.0/24' })],
          new: [expect.objectContaining({ Subnet: '10.95.0.0/24' })],
        },
      },
    });
    for (const name of ['left', 'right']) ask('network', 'rm', name);
  });

  test('a watched Dockerfile builds its image again, and a watching job runs again', async () => {
    const folder = join(engine.folder, 'watched');
    mkdirSync(folder);
    const write = (word: string): void =>
      writeFileSync(join(folder, 'Dockerfile'), `FROM box:1\nLABEL made=${word}\n`);
    write('first');
    const build = { build: folder, tag: '1' };
    await state(() => image.present('seen', build));
    write('second');
    expect(await state(() => image.present('seen', build))).toMatchObject({ changes: nothing });
    const again = await state(() => image.mod_watch('seen', { sfun: 'present', ...build }));
    expect(again, String(again.comment)).toMatchObject({ result: true });
    expect(JSON.parse(settings('seen:1'))[0].Config.Labels).toEqual({ made: 'second' });
    const job = { image: 'box:1', command: 'echo hi', replace: true };
    const ran = await state(() => stopped.mod_watch('echoes', { sfun: 'run', ...job }));
    expect(ran, String(ran.comment)).toMatchObject({ result: true });
    ask('rmi', '--force', 'seen:1');
  });

  test('builds, saves, loads, tags and removes images', async () => {
    const folder = join(engine.folder, 'image');
    mkdirSync(folder);
    writeFileSync(join(folder, 'Other'), 'FROM box:1\nLABEL made=here\n');
    const build = { build: folder, dockerfile: 'Other', tag: 2 };
    await settles(() => image.present('app', build));
    expect(JSON.parse(settings('app:2'))[0].Config.Labels).toEqual({ made: 'here' });
    const file = join(engine.folder, 'app.tar');
    await within(context, () => files.save('app:2', file));
    await expect(within(context, () => files.save('app:2', file))).rejects.toThrow(
      'already exists',
    );
    await settles(() => image.absent('app:2'));
    await settles(() => image.present('app', { load: file, tag: '3' }));
    expect(await within(context, () => images.list_tags())).toContain('app:3');
    expect(await state(() => image.present('app', { build: '/x', load: '/y' }))).toMatchObject({
      result: false,
    });
    expect(await state(() => image.present('b', { build: folder }))).toMatchObject({
      result: false,
      comment: expect.stringContaining("'tag' argument is required"),
    });
    expect(await state(() => image.present('b', { sls: ['web'] }))).toMatchObject({
      result: false,
      comment: expect.stringContaining('cannot build an image by sls'),
    });
    expect(await state(() => image.present('127.0.0.1:9/none'))).toMatchObject({ result: false });
  });

  test('makes networks, connects containers, and recreates one that differs', async () => {
    const front = (more: object = {}) => ({
      subnet: '10.91.0.0/24',
      labels: ['team=web'],
      driver_opts: { 'com.docker.network.driver.mtu': 1400 },
      ...more,
    });
    await settles(() => network.present('front', front()));
    await state(() => running.running('web', sleeper()));
    await settles(() => network.present('front', front({ containers: ['web'] })));
    const anew = await settles(() =>
      network.present('front', front({ subnet: '10.92.0.0/24', gateway: '10.92.0.7' })),
    );
    expect(anew).toMatchObject({
      comment: "Network 'front' was replaced with updated config",
      changes: {
        recreated: true,
        reconnected: ['web'],
        front: { 'IPAM.Config': { new: [{ Subnet: '10.92.0.0/24', Gateway: '10.92.0.7' }] } },
      },
    });
    const inside = JSON.parse(settings('web'))[0].NetworkSettings.Networks;
    expect(inside.front.IPAddress).toMatch(/^10\.92\.0\./);
    await settles(() => network.absent('front'));
    expect(await state(() => network.present('bad', { subnet: 'here' }))).toMatchObject({
      result: false,
      comment: expect.stringContaining('here'),
    });
  });

  test('a container is on the networks it names, with their settings, and on no other', async () => {
    await state(() => network.present('back', { subnet: '10.93.0.0/24' }));
    const at = (ip: string) => ({
      networks: [{ back: [{ ipv4_address: ip }, { aliases: 'db' }] }],
    });
    const nets = () => JSON.parse(settings('sql'))[0].NetworkSettings.Networks;
    await settles(() => running.running('sql', sleeper(at('10.93.0.9'))));
    expect(Object.keys(nets())).toEqual(['back']);
    expect(nets().back).toMatchObject({ IPAddress: '10.93.0.9' });
    expect(nets().back.Aliases).toContain('db');
    await settles(() => running.running('sql', sleeper(at('10.93.0.10'))));
    expect(nets().back.IPAddress).toBe('10.93.0.10');
    ask('network', 'connect', 'bridge', 'sql');
    expect(await settles(() => running.running('sql', sleeper(at('10.93.0.10'))))).toMatchObject({
      changes: { networks: { removed: ['bridge'] } },
    });
  });

  test('makes volumes, and replaces one only when forced', async () => {
    await settles(() => volume.present('data', { driver: 'local' }));
    expect(await within(context, () => volumes.volumes())).toMatchObject({
      Volumes: expect.arrayContaining([expect.objectContaining({ Name: 'data' })]),
    });
    expect(
      await within(context, () => volumes.volumes({ name: 'nothing-so-named' })),
    ).toMatchObject({ Volumes: [] });
    expect(await state(() => volume.present('data', { driver: 'other' }))).toMatchObject({
      result: false,
      changes: nothing,
      comment:
        "Driver for existing volume 'data' ('local') does not match specified driver ('other') and force is False",
    });
    await settles(() => volume.absent('data'));
    expect(await state(() => volume.present('-bad', {}))).toMatchObject({
      result: false,
      comment: expect.stringContaining('invalid characters'),
    });
  });

  test('logs in to the registries of the pillar, with the password in no argument', async () => {
    // The result of a run for an option that is not set.
    const unset = contextOf({ docker, config: { option: async () => '' } });
    expect(await within(unset, () => registries.login('hub'))).toEqual({
      retcode: 1,
      Errors: ["No match found for registry 'hub'"],
      Results: {},
    });
    const address = '127.0.0.1:5099';
    const server = spawn('nsenter', [
      `--net=/proc/${engine.pid}/ns/net`,
      process.execPath,
      '-e',
      registry,
    ]);
    await once(server.stdout, 'data');
    const watched = watchArguments();
    pillar = {
      'docker-registries': {
        [address]: { username: 'anna', password: 'hush-hush' },
        'localhost:5099': { username: 'anna', password: 'wrong' },
        'x.example.com': { username: 'anna' },
      },
    };
    try {
      const answer = await within(context, () => registries.login());
      expect(answer).toMatchObject({ retcode: 1, Results: { [address]: true } });
      expect(answer.Errors).toHaveLength(2);
      expect(answer.Errors.join()).toContain("Missing 'password' for registry 'x.example.com'");
      const seen = await watched();
      expect(seen.some(all => all.includes('docker\0login'))).toBe(true);
      expect(seen.filter(all => all.includes('hush-hush'))).toEqual([]);
      expect(readFileSync(join(engine.folder, 'config/config.json'), 'utf8')).toContain(address);
      await within(context, () => registries.logout(address));
      const kept = readFileSync(join(engine.folder, 'config/config.json'), 'utf8');
      expect(kept).not.toContain(address);
    } finally {
      server.kill();
    }
  });
});
