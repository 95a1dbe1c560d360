import { execFile } from 'node:child_process';
import type { Plain } from '../../protocol/plain.ts';
import { checkProgram, commandArgs } from '../../trust/program.ts';
import type { ExtPillarInput } from './ext-pillar-source.ts';

/** Characters of ids that have no meaning for a shell, inside or outside of quotes. */
const plainId = /^[\p{L}\p{N}_:][\p{L}\p{N}\p{M}._@:+-]*$/u;

/**
 * Runs the command of cmd_yaml and cmd_json with the host's id for each `%s`, also inside quotes.
 * Errors contain neither the command nor its output: both may hold secrets.
 *
 * @param settings a shell command, or a list of a program and its arguments
 * @throws Error for an id that a shell could interpret
 * @throws TsaltError `untrusted` for a program that another user could write
 */
export const runPillarCommand = async (
  settings: Plain,
  { id, dir, ask }: ExtPillarInput,
): Promise<string> => {
  if (!plainId.test(id)) throw new Error(`the id "${id}" cannot be put into a command`);
  const fill = (part: Plain): string => String(part).replaceAll('%s', () => id);
  const command = Array.isArray(settings) ? settings.map(fill) : fill(settings);
  const isList = typeof command !== 'string';
  checkProgram(isList ? command : commandArgs(command), dir, 'The command');
  const argv = isList ? command : ['/bin/sh', '-c', command];
  return ask(['command', dir, ...argv], () => run(argv, dir));
};

const run = ([command = '', ...args]: readonly string[], dir: string): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { cwd: dir, maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else reject(new Error(`${howItEnded(error)}${lastLine(stderr)}`));
      },
    );
  });

const howItEnded = ({ code, signal }: { code?: unknown; signal?: unknown }): string => {
  if (typeof code === 'number') return `the command ended with ${code}`;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'the command printed more than 64 MiB';
  if (typeof code === 'string') return `the command could not be started (${code})`;
  return `the command took longer than 60 s and was ended (${String(signal)})`;
};

const lastLine = (stderr: string): string => {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line.slice(0, 300)}`;
};
