import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Real Debian hosts for tests: see the head of test/lab/lab. Each test file takes a lab of its
 * own (folder, bridge, network), so that files never meet.
 */
export type Lab = {
  readonly dir: string;
  /** Boots hosts; returns their addresses by name. */
  readonly up: (...names: string[]) => Promise<Record<string, string>>;
  readonly down: (...names: string[]) => Promise<void>;
  /** Runs a command inside a host, past sshd. Rejects when it fails. */
  readonly sh: (name: string, ...command: string[]) => Promise<string>;
  readonly run: (verb: string, ...args: string[]) => Promise<string>;
  /** Provides Debian's own packages, with all dependencies, as an apt source on a host. */
  readonly bring: (name: string, ...packages: string[]) => Promise<string>;
  readonly key: string;
  readonly knownHosts: string;
};

const script = fileURLToPath(new URL('../lab/lab', import.meta.url));
const programs = [
  'systemd-nspawn',
  'debootstrap',
  'ssh-keygen',
  'ip',
  'apt-get',
  'dpkg-deb',
  'dpkg-scanpackages',
];

/** Why no lab can run here; undefined when it can. Tests put it in their skip's name. */
export const labMissing = (): string | undefined => {
  if (process.getuid?.() !== 0) return 'needs root';
  const missing = programs.filter(
    name => spawnSync('/bin/sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  return missing.length > 0 ? `needs ${missing.join(', ')}` : undefined;
};

/** A lab by number: its folder, bridge and network follow from it. Base trees are shared. */
export const createLab = (number: number): Lab => {
  const base = process.env.TSALT_LAB_BASE ?? '/var/lib/tsalt-lab';
  const dir = number === 0 ? base : `${base}-${number}`;
  const env = {
    ...process.env,
    LAB: dir,
    LAB_BASE: base,
    LAB_BRIDGE: `tsalt${number}`,
    LAB_NET: `10.213.${77 + number}`,
  };
  const run = (...args: string[]): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(
        'bash',
        [script, ...args],
        { env, maxBuffer: 64 * 1024 * 1024 },
        (error, stdout, stderr) => {
          if (error)
            reject(new Error(`lab ${args.join(' ')}: ${stderr || stdout || error.message}`));
          else resolve(stdout);
        },
      );
    });
  return {
    dir,
    up: async (...names) => {
      const lines = (await run('up', ...names)).trim().split('\n');
      return Object.fromEntries(lines.map(line => line.split(' ') as [string, string]));
    },
    down: async (...names) => {
      if (existsSync(`${dir}/run`)) await run('down', ...names);
    },
    sh: (name, ...command) => run('sh', name, ...command),
    run: (verb, ...args) => run(verb, ...args),
    bring: (name, ...packages) => run('bring', name, ...packages),
    key: `${dir}/key`,
    knownHosts: `${dir}/known_hosts`,
  };
};
