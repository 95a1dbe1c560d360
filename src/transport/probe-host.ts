import { program } from '../loader/programs.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Host, Secret } from '../protocol/host.ts';
import { runRaw } from './raw-shell.ts';
import { quoteForAnyShell, shCommand } from './shell.ts';
import type { Connection } from './transport.ts';
import { readable } from './unreachable.ts';

/** The state of a host: host-supplied, made safe for a terminal. */
export type HostProbe = {
  readonly user: string;
  readonly system: string;
  /** Seconds by which the host's clock is ahead. */
  readonly skew?: number;
  /** The Node that a run would find first, with its version or `broken`. */
  readonly node?: { readonly path: string; readonly version: string };
  /** Folders tried for the workspace; the last one is used. */
  readonly places: readonly {
    readonly path: string;
    readonly state: 'exec' | 'noexec' | 'unwritable';
    /** Free kilobytes. */
    readonly space?: number;
  }[];
};

export type ProbeOptions = {
  readonly connection: Connection;
  readonly host: Host;
  readonly askSudoPassword: () => Promise<Secret>;
  readonly signal: AbortSignal;
};

/** Seconds for a few short commands. */
const patience = 60;

/**
 * Checks that the login shell runs a command.
 * @throws {TsaltError} kind `host`
 */
export const probeShell = async ({ connection, host, signal }: ProbeOptions): Promise<void> => {
  const { sudo: _, become: __, sudo_user: ___, ...login } = host;
  const word = `tsalt-${host.id.length}-shell`;
  const command = shCommand(`echo ${word}`, []);
  const options = { connection, signal, timeout: patience };
  const { stdout, stderr, retcode } = await runRaw({ ...options, host: login, command });
  if (stdout.includes(word)) return;
  throw new TsaltError(
    'no-shell',
    `${host.id}: the login shell of ${host.user} runs no commands.`,
    {
      kind: 'host',
      excerpt: readable(stderr || stdout, 500),
      hint: `It ended with status ${retcode}. The user needs a login shell such as /bin/sh, and sshd no ForceCommand.`,
    },
  );
};

/**
 * Checks what a run needs, as the user of the roster's `become`.
 * @throws {TsaltError} kind `auth` (sudo) or `host`
 */
export const probeHost = async (options: ProbeOptions): Promise<HostProbe> => {
  const { host } = options;
  const before = Date.now();
  const command = shCommand(program('probe'), [
    quoteForAnyShell(host.thin_dir ?? '', 'thin_dir'),
    quoteForAnyShell(host.node_bin ?? '', 'node_bin'),
    quoteForAnyShell(host.set_path ?? '', 'set_path'),
  ]);
  const { stdout } = await runRaw({ ...options, command, timeout: patience });
  return readProbe(stdout, (before + Date.now()) / 2);
};

const readProbe = (stdout: string, now: number): HostProbe => {
  const lines = [...stdout.matchAll(/^TSALT-PROBE (\w+) (.*?)\r?$/gm)].map(
    ([, word = '', value = '']) => [word, readable(value, 300)] as const,
  );
  const value = (word: string): string => lines.find(([one]) => one === word)?.[1] ?? '';
  const time = Number(value('time'));
  const [, path, version] = /^(.*) (\S+)$/.exec(value('node')) ?? [];
  const spaces = lines.filter(([word]) => word === 'space').map(([, text]) => Number(text));
  const places = lines.flatMap(([word, text]) => {
    const [, state, place] = /^(exec|noexec|unwritable) (.+)$/.exec(text) ?? [];
    return word === 'place' && state && place ? [{ path: place, state: state as 'exec' }] : [];
  });
  return {
    user: value('user'),
    system: value('system'),
    ...(time > 0 ? { skew: Math.round(time - now / 1000) } : {}),
    ...(path && version ? { node: { path, version } } : {}),
    places: places.map((place, at) => {
      const space = spaces[at];
      return { ...place, ...(space !== undefined && space >= 0 ? { space } : {}) };
    }),
  };
};
