import { type SpawnOptions, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { TsaltError } from '../protocol/error.ts';
import type { Channel, Exit } from './transport.ts';

/**
 * Runs a program of this machine as a channel, in its own process group. Closing the channel closes
 * its stdin, as with sshd: a runtime then finishes its current state. A program that only connects
 * to the host (ssh) `endsWithChannel`.
 */
export const processChannel = (
  program: string,
  args: readonly string[],
  options: SpawnOptions & { readonly endsWithChannel?: boolean } = {},
): Promise<Channel> =>
  new Promise((resolve, reject) => {
    const { endsWithChannel, ...rest } = options;
    const child = spawn(program, args, {
      ...rest,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const { stdin, stdout, stderr } = child as {
      stdin: Writable;
      stdout: Readable;
      stderr: Readable;
    };
    child.once('error', error => reject(noProgram(program, error)));
    const exited = new Promise<Exit>(done => {
      child.once('close', (code, signal) => done({ code, signal }));
    });
    for (const stream of [stdin, stdout, stderr]) stream.on('error', () => undefined);
    const kill = (name: NodeJS.Signals): void => {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      try {
        process.kill(-child.pid, name);
      } catch {
        // It has ended already.
      }
    };
    child.once('spawn', () =>
      resolve({
        stdin,
        stdout,
        stderr,
        exited,
        signal: name => kill(`SIG${name}`),
        close: () => {
          stdin.destroy();
          stdout.destroy();
          stderr.destroy();
          if (endsWithChannel) setTimeout(() => kill('SIGTERM'), 2000).unref();
        },
      }),
    );
  });

const noProgram = (program: string, error: NodeJS.ErrnoException): TsaltError =>
  new TsaltError(
    'transport-program',
    error.code === 'ENOENT'
      ? `The program ${program} is not there.`
      : `The program ${program} cannot be started: ${error.code}.`,
    { kind: 'unreachable', cause: error },
  );
