import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isLocalTarget } from '../../../../src/transport/node-source.ts';
import { canRunApart } from '../../../helpers/apart.ts';
import { packageRoot } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';

const run = promisify(execFile);
const busybox = ['/usr/bin/busybox', '/bin/busybox'].find(path => existsSync(path));
const canBuild = isLocalTarget(process.arch === 'arm64' ? 'linux-arm64' : 'linux-x64');
const canRun = canBuild && busybox !== undefined && hasSshd && canRunApart();

const scratch = mkdtempSync(join(tmpdir(), 'tsalt-executable-'));
const machine = join(scratch, 'machine');
const program = join(machine, 'bin/tsalt-ssh');
let sshd: Sshd | undefined;

/** The shared libraries that a program loads, and the dynamic loader. */
const librariesOf = (file: string): string[] => {
  const { stdout } = spawnSync('ldd', [file], { encoding: 'utf8' });
  return [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, path = '']) => path);
};

const write = (file: string, text: string, mode = 0o600): void => {
  const path = join(machine, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text, { mode });
};

/** Runs a program on the machine without Node: an own root, own mounts and own processes. */
const there = async (command: readonly string[], env: Record<string, string> = {}) => {
  const enter = `set -e; r=$1; shift; mount --bind $r $r; cd $r; mount -t proc proc $r/proc; mount --rbind /dev $r/dev
exec chroot $r /bin/busybox env -i PATH=/bin HOME=/root $TSALT_ENV /bin/busybox sh -c 'cd /project; exec "$@"' sh "$@"`;
  const words = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', enter, 'sh', machine];
  const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const options = { env: { PATH: process.env.PATH, TSALT_ENV: set.join(' ') }, timeout: 200_000 };
  return run('unshare', [...words, ...command], options).catch(error => {
    throw new Error(`${command.join(' ')}: ${error.message}\n${error.stdout}${error.stderr}`);
  });
};

const tsalt = (...args: string[]) => there(['/bin/tsalt-ssh', ...args]);

beforeAll(async () => {
  if (!canRun || busybox === undefined) return;
  for (const folder of ['bin', 'proc', 'dev', 'tmp', 'root', 'etc', 'project'])
    mkdirSync(join(machine, folder), { recursive: true, mode: 0o755 });
  chmodSync(join(machine, 'tmp'), 0o1777);
  execFileSync(process.execPath, [join(packageRoot, 'scripts/build-sea.mjs'), program]);
  copyFileSync(busybox, join(machine, 'bin/busybox'));
  for (const library of [...librariesOf(busybox), ...librariesOf(process.execPath)]) {
    mkdirSync(join(machine, dirname(library)), { recursive: true });
    cpSync(library, join(machine, library), { dereference: true });
  }
  write('etc/passwd', 'root:x:0:0:root:/root:/bin/sh\n', 0o644);
  write('etc/group', 'root:x:0:\n', 0o644);
  execFileSync('chroot', [machine, '/bin/busybox', '--install', '-s', '/bin']);
  sshd = await startSshd({ dir: join(scratch, 'sshd') });
}, 240_000);

afterAll(async () => {
  await sshd?.close();
  removeFolder(scratch);
});

describe.skipIf(!canRun)('the single executable on a machine without Node', () => {
  test('build:sea makes one file that two first runs at once unpack together', async () => {
    await expect(there(['/bin/sh', '-c', 'command -v node'])).rejects.toThrow();
    const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    const runs = await Promise.all([tsalt('--version'), tsalt('--version')]);
    expect(runs.map(({ stdout }) => stdout)).toEqual(Array(2).fill(`tsalt-ssh ${version}\n`));
    const cache = join(machine, 'root/.cache/tsalt-ssh');
    const unpacked = readdirSync(cache).filter(name => name.startsWith('program-'));
    expect(unpacked).toHaveLength(1);
    expect(unpacked[0]).toMatch(/^program-[0-9a-f]{32}$/);
    for (const folder of [cache, join(cache, unpacked[0] ?? '')])
      expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(program).size).toBeLessThan(statSync(process.execPath).size + 12 * 2 ** 20);
  });

  test("@local gets the executable's Node, with a module, a template and a program of the user", {
    tags: 'slow',
  }, async () => {
    write(
      'project/states/_modules/greet.ts',
      `import { __grains__ } from 'tsalt-ssh/module';
export const hello = async (name: string): Promise<string> => \`hello \${name}, \${__grains__.kernel}\`;
`,
    );
    const managed = (file: string, contents: string): string =>
      `${file}:\n  file.managed:\n    - contents: ${contents}\n`;
    write(
      'project/states/jinja.sls',
      `#!jinja|yaml\n${managed('/jinja', "{{ salt['greet.hello']('you') }}")}`,
    );
    write('project/states/mako.sls', `#!mako|yaml\n${managed('/mako', '${2 * 21}')}`);
    write(
      'project/states/program.sls',
      `#!ts
export const run = () => ({ '/program': { 'file.managed': [{ contents: 'typed' }] } });
`,
    );
    const { stdout } = await tsalt('--local', 'state.apply', 'jinja,mako,program', '--out', 'json');
    expect(Object.keys(JSON.parse(stdout).local)).toHaveLength(3);
    const made = (file: string): string => readFileSync(join(machine, file), 'utf8');
    expect(made('jinja')).toBe('hello you, Linux\n');
    expect(made('mako')).toBe('42\n');
    expect(made('program')).toBe('typed\n');
  });

  test('a host behind sshd answers, from a roster written in TypeScript', async () => {
    if (!sshd) throw new Error('no sshd');
    const { port, user, key, hostKeys } = sshd;
    write('project/key', readFileSync(key, 'utf8'));
    write('project/known_hosts', `[127.0.0.1]:${port} ${hostKeys[0]}\n`);
    write('project/tsalt.yaml', 'known_hosts_file: /project/known_hosts\n');
    write(
      'project/roster.ts',
      `export default async () => ({
  web1: { host: '127.0.0.1', port: ${port}, user: '${user}', priv: '/project/key',
    thin_dir: '${join(scratch, 'workspace')}' },
});
`,
    );
    const { stdout } = await tsalt('--roster-file', 'roster.ts', 'web1', 'test.ping');
    expect(stdout).toBe('web1:\n    True\n');
  });

  test('a cache that others can write is not used: the program runs from a temporary folder', async () => {
    mkdirSync(join(machine, 'shared/tsalt-ssh'), { recursive: true });
    chmodSync(join(machine, 'shared/tsalt-ssh'), 0o777);
    const { stdout } = await there(['/bin/tsalt-ssh', '--version'], { XDG_CACHE_HOME: '/shared' });
    expect(stdout).toMatch(/^tsalt-ssh \d/);
    expect(readdirSync(join(machine, 'shared/tsalt-ssh'))).toEqual([]);
    expect(readdirSync(join(machine, 'tmp')).filter(name => /^tsalt-program/.test(name))).toEqual(
      [],
    );
  });
});
