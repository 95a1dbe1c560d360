import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const packageRoot = fileURLToPath(new URL('../..', import.meta.url));
const bin = `${packageRoot}dist/tsalt-ssh.cjs`;

export type CliResult = {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly json: () => never;
};

/** Runs the built command line as a user does. */
export const tsalt = (
  args: readonly string[],
  {
    cwd,
    env = {},
    input,
    onStdout,
    terminal = false,
    enter = [],
    signal,
  }: {
    cwd: string;
    env?: Record<string, string>;
    input?: string;
    /** Is called with the whole output so far whenever there is more. */
    onStdout?: (text: string) => void;
    /** At a terminal: what it shows is `stdout`. */
    terminal?: boolean;
    /** The words before it, such as those that enter a network of its own. */
    enter?: readonly string[];
    /** Kills the program: the promise is rejected. */
    signal?: AbortSignal;
  },
): Promise<CliResult> =>
  new Promise((resolve, reject) => {
    const words = [...enter, process.execPath, bin, ...args];
    const line = words.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const [program = '', ...rest] = terminal ? ['script', '-qefc', line, '/dev/null'] : words;
    const child = spawn(program, rest, {
      cwd,
      env: { ...process.env, ...env },
      signal,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      onStdout?.(stdout);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.on('error', reject);
    child.on('close', code =>
      resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) as never }),
    );
    child.stdin.end(input ?? '');
  });
