import { execFile } from 'node:child_process';
import type { Plain } from '../protocol/plain.ts';
import type { ExtPillarInput } from './ext-pillar-source.ts';

/**
 * The command of cmd_yaml and cmd_json: `%s` is the host's id, which is passed as an argument,
 * never parsed by a shell. What it printed and how it was called may hold secrets: an error
 * shows neither.
 */
export const runCommand = (settings: Plain, { id, dir, ask }: ExtPillarInput): Promise<string> => {
  const argv = Array.isArray(settings)
    ? settings.map(part => String(part).replaceAll('%s', id))
    : ['/bin/sh', '-c', String(settings).replaceAll('%s', '"$1"'), 'ext_pillar', id];
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
