import { type ChildProcess, spawn } from 'node:child_process';
import { dirname, resolve as resolvePath } from 'node:path';
import { TsaltError } from '../protocol/error.ts';

const timeLimit = 120_000;
/**
 * Milliseconds to wait for further output after a program has ended but its output is still open.
 */
const patience = 1000;
const sizeLimit = 64 * 1024 * 1024;

export type RosterProgram = {
  readonly file: string;
  readonly args: readonly string[];
  /** The source it works for: named in messages, and its folder is the working folder. */
  readonly source: string;
  readonly stdin?: string;
  /** Variables beside those of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** The descriptor of the result: 1, or a separate one so that prints do no harm. */
  readonly answer?: 1 | 3;
};

/**
 * Runs a program that lists hosts and returns its output.
 *
 * @throws TsaltError `roster-program` with its exit code and the last line of its error output
 */
export const runRosterProgram = (program: RosterProgram): Promise<string> =>
  new Promise((resolve, reject) => {
    const { file, args, source, stdin, env, answer = 1 } = program;
    // It is looked for from its own folder, and a bare name on PATH.
    const child = spawn(file === source ? resolvePath(file) : file, [...args], {
      cwd: dirname(source),
      ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    // Node's own limit keeps this process alive where the program does not start.
    const limit = setTimeout(() => child.kill('SIGKILL'), timeLimit);
    endWithProgram(child);
    const chunks: Buffer[] = [];
    let size = 0;
    let complaint = '';
    child.stdio[answer]?.on('data', (chunk: Buffer) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size <= sizeLimit) return;
      child.kill('SIGKILL');
      child.stdio[answer]?.destroy();
    });
    if (answer === 3) child.stdout?.resume();
    child.stderr?.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString('utf8')).slice(-2000);
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(stdin ?? '');
    child.on('error', error => {
      clearTimeout(limit);
      reject(failure(source, error.message));
    });
    child.on('close', (code, signal) => {
      clearTimeout(limit);
      if (code === 0) resolve(Buffer.concat(chunks).toString('utf8'));
      else reject(failure(source, reasonOf(code, signal, size, complaint)));
    });
  });

/**
 * Closes the output soon after the program has ended: a background process may keep it open for any
 * time.
 */
const endWithProgram = (child: ChildProcess): void => {
  child.once('exit', () => {
    const end = (): void => {
      for (const stream of child.stdio) stream?.destroy();
    };
    const timer = setTimeout(end, patience);
    for (const stream of child.stdio) stream?.on('data', () => timer.refresh());
    child.once('close', () => clearTimeout(timer));
  });
};

const reasonOf = (
  code: number | null,
  signal: NodeJS.Signals | null,
  size: number,
  complaint: string,
): string => {
  if (size > sizeLimit) return 'it printed more than 64 MiB';
  if (signal !== null) return `it was ended by ${signal} (it has ${timeLimit / 1000} seconds)`;
  const lines = complaint.trim().split('\n');
  const line = lines.find(text => /^\w*Error: /.test(text)) ?? lines.at(-1) ?? '';
  return `it ended with exit code ${code}${line === '' ? '' : `: ${line}`}`;
};

const failure = (source: string, reason: string): TsaltError =>
  new TsaltError('roster-program', `The roster ${source} returned no hosts: ${reason}.`);
