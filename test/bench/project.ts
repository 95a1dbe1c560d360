import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { type Sshd, startSshd } from '../helpers/sshd.ts';
import { type HostCpu, hostCpu } from './host-cpu.ts';
import { timeProcess } from './measure.ts';

/** An sshd on loopback whose sessions have a home of their own, and a place for projects. */
export type Bed = {
  readonly dir: string;
  /** The sessions' home: its `.cache` holds what runs leave there. */
  readonly home: string;
  readonly sshd: Sshd;
  /** Undefined where this user cannot make a cgroup. */
  readonly cpu: HostCpu | undefined;
};

/** Runs the work on a fresh bed and clears it away. */
export const withBed = async <T>(work: (bed: Bed) => Promise<T>): Promise<T> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-bench-'));
  const home = join(dir, 'home');
  mkdirSync(home);
  // This machine's shell profile and certificates are not what is measured.
  delete process.env.NODE_EXTRA_CA_CERTS;
  const sshd = await startSshd({
    dir: join(dir, 'sshd'),
    config: [`SetEnv HOME=${home} BASH_ENV=`, 'PermitUserEnvironment no', 'MaxSessions 500'],
  });
  const cpu = hostCpu(sshd.pid);
  try {
    return await work({ dir, home, sshd, cpu });
  } finally {
    await sshd.close();
    await cpu?.close();
    removeFolder(dir);
  }
};

/** A project with `hosts` roster entries, all of them this sshd (or what stands before it). */
export const makeProject = (
  { dir, sshd }: Bed,
  name: string,
  { port = sshd.port, hosts = 1 }: { port?: number; hosts?: number } = {},
): string => {
  const folder = join(dir, name);
  mkdirSync(join(folder, 'states'), { recursive: true });
  writeFileSync(join(folder, 'known_hosts'), `[127.0.0.1]:${port} ${sshd.hostKeys[0]}\n`);
  writeFileSync(
    join(folder, 'tsalt.yaml'),
    `known_hosts_file: known_hosts\ncachedir: ${join(dir, `cache-${name}`)}\n`,
  );
  const entry = `{host: 127.0.0.1, port: ${port}, user: ${sshd.user}, priv: ${sshd.key}, timeout: 60}`;
  const lines = Array.from({ length: hosts }, (_, at) => `web${at + 1}: ${entry}\n`);
  writeFileSync(join(folder, 'roster.yaml'), lines.join(''));
  return folder;
};

/** Times the built command line in a project. */
export const timeTsalt = (
  { dir }: Bed,
  folder: string,
  args: readonly string[],
  node: readonly string[] = [],
  env: Record<string, string> = {},
): Promise<number> =>
  timeProcess(
    [process.execPath, ...node, join(packageRoot, 'dist/tsalt-ssh.cjs'), ...args, '--out=quiet'],
    { XDG_CACHE_HOME: join(dir, 'xdg'), ...env },
    folder,
  );

/** The floor: one Node process with ssh2, which runs a script there by `node -`. */
export const timeFloor = ({ sshd }: Bed, script: string): Promise<number> =>
  timeProcess([process.execPath, join(packageRoot, 'test/bench/floor.mjs')], {
    PORT: String(sshd.port),
    KEY: sshd.key,
    SCRIPT: script,
    LOGIN: sshd.user,
  });
