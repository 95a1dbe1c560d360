import { StringDecoder } from 'node:string_decoder';
import { isatty } from 'node:tty';
import type { PromptQuestion } from '../config/request.ts';
import { TsaltError } from '../protocol/error.ts';
import { Secret } from '../protocol/host.ts';
import { unsafeCharacters } from '../protocol/unsafe-characters.ts';

export type Terminal = { readonly stdin: NodeJS.ReadStream; readonly stderr: NodeJS.WriteStream };

/**
 * Asks for secrets at the terminal, one question at a time, without an echo.
 *
 * @param pause clears progress from the screen; returns a function that restores it
 * @throws TsaltError `no-terminal` at once without a terminal, `interrupted` on Ctrl-C
 */
export const createAsk = (
  terminal: Terminal,
  pause: () => Promise<() => void>,
): ((question: PromptQuestion) => Promise<Secret>) => {
  let turn: Promise<unknown> = Promise.resolve();
  return question => {
    const { stdin, stderr } = terminal;
    if (stdin.isTTY !== true) return Promise.reject(noTerminal(question));
    const answer = turn.then(async () => {
      const resume = await pause();
      try {
        return await readHidden(stdin, stderr, harmlessPrompt(question.prompt));
      } finally {
        resume();
      }
    });
    turn = answer.catch(() => undefined);
    return answer;
  };
};

/**
 * Asks yes-or-no questions at the terminal of this process.
 *
 * @returns undefined without a terminal
 */
export const createConfirm = (
  pause: () => Promise<() => void>,
): ((question: string) => Promise<boolean>) | undefined => {
  // The stream of standard input is opened only for a question.
  if (!isatty(0)) return undefined;
  return async question => {
    const { stdin, stderr } = process;
    const resume = await pause();
    const { createInterface } = await import('node:readline/promises');
    const lines = createInterface({ input: stdin, output: stderr });
    // readline handles Ctrl-C itself.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    try {
      const answer = await Promise.race([
        lines.question(`${harmlessPrompt(question)} [y/N] `),
        new Promise<string>(resolve => lines.once('close', () => resolve(''))),
      ]);
      return /^\s*y(es)?\s*$/i.test(answer);
    } finally {
      lines.close();
      resume();
    }
  };
};

const names = {
  password: 'a password',
  'sudo-password': 'a sudo password',
  passphrase: 'the passphrase of a key',
  'keyboard-interactive': 'an answer',
} as const;

const noTerminal = ({ host, what }: PromptQuestion): TsaltError =>
  new TsaltError(
    'no-terminal',
    `The host '${host}' needs ${names[what]}, and there is no terminal to ask at.`,
    {
      kind: 'auth',
      hint: 'Name its source in the roster: {env: NAME}, {file: PATH} or {command: [PROGRAM]}.',
    },
  );

// The prompt of a server is untrusted: it must not steer the terminal.
const harmlessPrompt = (prompt: string): string => prompt.replace(unsafe, '?');

const unsafe = new RegExp(`[\\t\\n${unsafeCharacters}]`, 'g');

const interrupted = (): TsaltError =>
  new TsaltError('interrupted', 'The question was interrupted.', { kind: 'auth' });

const readHidden = (
  stdin: NodeJS.ReadStream,
  stderr: NodeJS.WriteStream,
  prompt: string,
): Promise<Secret> =>
  new Promise((resolve, reject) => {
    let typed: string[] = [];
    const decoder = new StringDecoder('utf8');
    const finish = (settle: () => void): void => {
      stdin.off('data', onData);
      stdin.setRawMode(false);
      stdin.pause();
      stderr.write('\n');
      settle();
    };
    const onData = (chunk: Buffer): void => {
      for (const character of decoder.write(chunk)) {
        if ('\r\n\u0004'.includes(character)) {
          finish(() => resolve(new Secret(typed.join(''))));
          return;
        }
        if (character === '\u0003') {
          finish(() => reject(interrupted()));
          process.kill(process.pid, 'SIGINT');
          return;
        }
        if (character === '\u007f' || character === '\b') typed.pop();
        else if (character === '\u0015') typed = [];
        else typed.push(character);
      }
    };
    stderr.write(prompt);
    stdin.setRawMode(true);
    stdin.resume();
    stdin.on('data', onData);
  });
