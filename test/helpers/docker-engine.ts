import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { which } from '../../src/modules/_shared/commands/which.ts';
import { canRunApart } from './apart.ts';
import { removeFolder } from './remove-folder.ts';

/** A docker engine with a network of its own, and one image: `box:1`, busybox. */
export type Engine = {
  readonly folder: string;
  readonly pid: number;
  readonly stop: () => Promise<void>;
};

export const canRunDocker = (): boolean =>
  ['docker', 'dockerd', 'containerd', 'runc', 'busybox'].every(name => which(name) !== undefined) &&
  canRunApart();

/** Runs a docker command with that engine. */
export const ask = (...args: string[]): string => {
  const { status, stdout, stderr } = spawnSync('docker', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}`);
  return stdout.trim();
};

export const startDocker = async (): Promise<Engine> => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-docker-'));
  const socket = `unix://${join(folder, 'sock')}`;
  const group = `tsalt-docker-${process.pid}`;
  const before = { DOCKER_HOST: process.env.DOCKER_HOST, DOCKER_CONFIG: process.env.DOCKER_CONFIG };
  let said = '';
  writeFileSync(join(folder, 'daemon.json'), '{}');
  // Apart from this machine's network, whose firewall and routes it would set.
  const engine: ChildProcess = spawn('unshare', [
    ...['--net', '--', 'sh', '-c', 'ip link set lo up && exec dockerd "$@"', 'sh'],
    ...[`--data-root=${join(folder, 'data')}`],
    ...[`--exec-root=${join(folder, 'exec')}`, `--host=${socket}`, '--storage-driver=vfs'],
    ...[`--pidfile=${join(folder, 'pid')}`, `--config-file=${join(folder, 'daemon.json')}`],
    ...['--iptables=false', '--ip6tables=false', '--bip=10.250.0.1/24'],
    ...['--exec-opt=native.cgroupdriver=cgroupfs', `--cgroup-parent=/${group}`],
  ]);
  engine.stderr?.on('data', chunk => {
    said += chunk;
  });
  process.env.DOCKER_HOST = socket;
  process.env.DOCKER_CONFIG = join(folder, 'config');
  const stop = async (): Promise<void> => {
    spawnSync('sh', ['-c', 'docker ps --all --quiet | xargs -r docker rm --force']);
    engine.kill('SIGTERM');
    if (engine.exitCode === null) await new Promise(resolve => engine.once('exit', resolve));
    for (const [name, value] of Object.entries(before))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    removeGroups('/sys/fs/cgroup', group);
    removeFolder(folder);
  };
  try {
    for (let tries = 0; spawnSync('docker', ['version']).status !== 0; tries += 1) {
      if (tries > 500 || engine.exitCode !== null) throw new Error(`no engine: ${said}`);
      await setTimeout(200);
    }
    makeBox(join(folder, 'box'));
  } catch (error) {
    await stop();
    throw error;
  }
  return { folder, pid: engine.pid ?? 0, stop };
};

/** An image of busybox alone, with the libraries that this machine's is linked with. */
const makeBox = (root: string): void => {
  const busybox = String(which('busybox'));
  const { stdout } = spawnSync('ldd', [busybox], { encoding: 'utf8' });
  for (const file of [busybox, ...(stdout.match(/\/\S+/g) ?? [])]) {
    const target = join(root, file === busybox ? '/bin/busybox' : file);
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(file, target);
  }
  mkdirSync(join(root, 'tmp'));
  const sh = spawnSync(busybox, ['--list'], { encoding: 'utf8' }).stdout.split('\n');
  const links = sh.filter(name => /^(?:sh|cat|sleep|env|echo|id|kill|ls|rm)$/.test(name));
  spawnSync('sh', ['-c', 'for one; do ln -s busybox "$0/bin/$one"; done', root, ...links]);
  const { status, stderr } = spawnSync('sh', [
    '-c',
    'tar -C "$0" -c . | docker import - box:1',
    root,
  ]);
  if (status !== 0) throw new Error(String(stderr));
};

const removeGroups = (root: string, group: string): void => {
  for (const kind of ['', ...readdirSync(root)])
    try {
      rmdirSync(join(root, kind, group));
    } catch {
      // That kind has none of it.
    }
};
