import { execFile } from 'node:child_process';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { readable } from '../../transport/unreachable.ts';
import { checkProgram } from '../../trust/program.ts';

/** Milliseconds that a hook may take: it may wait for someone to sign a key. */
const patience = 120_000;

/**
 * Runs the roster's `ssh_pre_hook` on this machine before connecting to the host.
 * @throws {TsaltError} `pre-hook-failed`: no connection is made
 */
export const runPreHook = (host: Host, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const [program = '', ...args] = host.ssh_pre_hook ?? [];
    if (program === '') return resolve();
    checkProgram([program, ...args], process.cwd(), `${host.id}: The ssh_pre_hook`);
    const options = { signal, timeout: patience, maxBuffer: 1024 * 1024 };
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) return resolve();
      const how =
        typeof error.code === 'number'
          ? `ended with status ${error.code}`
          : error.killed
            ? 'did not end in time'
            : `cannot be run (${error.code})`;
      reject(
        new TsaltError(
          'pre-hook-failed',
          `${host.id}: the ssh_pre_hook '${program}' ${how}; no connection was made.`,
          { kind: 'host', excerpt: readable(stderr || stdout, 500) },
        ),
      );
    });
    child.stdin?.on('error', () => undefined).end();
  });
