import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline/promises';
import { packageRoot } from '../bundle/locate.ts';
import { privateDir, writePrivate } from '../bundle/private-dir.ts';
import { noTarget } from '../control/fleet/no-target.ts';
import { pickTargets } from '../control/fleet/targets.ts';
import { prepareRun } from '../library/fleet-run.ts';
import { openSession } from '../library/session.ts';
import { errorText } from '../output/message.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { splitRosterArgs } from '../roster/split-args.ts';
import type { Opened } from './commands.ts';
import { completionScript } from './completion/scripts.ts';
import { exitCode, exitCodeOfError, mostSevereCode } from './exit-code.ts';
import { openGiven } from './open-given.ts';
import { parseCommandLine } from './quick-parse.ts';
import { runCall } from './run-call.ts';
import { print } from './standard-output.ts';
import { createAsk } from './terminal.ts';

const help = `FUNCTION [arguments]           run it on the hosts of this console: state.apply nginx
on TARGET FUNCTION …           run it on other hosts, with options: on -G os:Debian test.ping
-r COMMAND                     run a shell command
test on | test off             change nothing: test=True for every function
target [TARGET]                show or set the hosts
exit                           end, as Ctrl-D does
`;

const longestHistory = 500;

/**
 * `console TARGET`: reads calls line by line and runs them over connections and runtimes that stay
 * open.
 *
 * @returns 0 at a terminal, else the most severe exit code of the lines
 */
export const hostConsole = async (words: readonly string[], opened: Opened): Promise<number> => {
  const [target, ...more] = words;
  if (target === undefined || more.length > 0)
    throw new TsaltError('usage-words', 'console takes one target.', {
      hint: "For example: tsalt-ssh console 'web*'",
    });
  await checkTarget(target, opened);
  const session = new ConsoleSession(target, opened);
  try {
    return process.stdin.isTTY === true ? await session.atTerminal() : await session.fromPipe();
  } finally {
    session.close();
  }
};

/** A roster that is missing and a target that means no host are reported before the first line is typed. */
const checkTarget = async (target: string, opened: Opened): Promise<void> => {
  const ask = createAsk(process, async () => () => undefined);
  const call = { target, fun: 'test.ping', args: [], kwargs: new Map() };
  const { request } = await prepareRun({ ...opened, ask, call });
  if (pickTargets(request).hosts.length > 0) return;
  throw noTarget(request);
};

const targetKinds = [
  'pcre',
  'list',
  'nodegroup',
  'grain',
  'grain-pcre',
  'pillar',
  'pillar-pcre',
  'ipcidr',
  'compound',
] as const;

class ConsoleSession {
  readonly #opened: Opened;
  readonly #session = openSession();
  #target: string;
  /** The options of the console, which apply to every line. */
  #options: Given['options'];
  #isTest = false;
  #history: string[];
  /** Lines that were pasted together with one that was read. */
  readonly #pasted: string[] = [];

  constructor(target: string, opened: Opened) {
    this.#target = target;
    this.#opened = opened;
    this.#options = opened.given.options;
    this.#history = readHistory(opened.env);
  }

  close(): void {
    this.#session.close();
  }

  async fromPipe(): Promise<number> {
    const codes = new Set<number>();
    for await (const line of createInterface({ input: process.stdin })) {
      const code = await this.#line(line);
      if (code === undefined) break;
      codes.add(code);
    }
    return mostSevereCode(codes);
  }

  async atTerminal(): Promise<number> {
    print("Type a function, or 'help'. Ctrl-D ends the console.\n");
    for (;;) {
      const line = await this.#ask();
      if (line === undefined) return exitCode.ok;
      if (line.trim() !== '' && !line.startsWith(' ')) await this.#remember(line);
      if ((await this.#line(line)) === undefined) return exitCode.ok;
    }
  }

  /** Opens a reader for each line, since passwords may be asked for in between. */
  #ask(): Promise<string | undefined> {
    const prompt = `${this.#target}${this.#isTest ? ' (test)' : ''}> `;
    const pasted = this.#pasted.shift();
    if (pasted !== undefined) {
      print(`${prompt}${pasted}\n`);
      return Promise.resolve(pasted);
    }
    const reader: Interface = createInterface({
      input: process.stdin,
      output: process.stdout,
      history: [...this.#history],
      completer: (line: string) => this.#complete(line),
    });
    return new Promise(resolve => {
      reader.once('close', () => resolve(undefined));
      reader.once('SIGINT', () => {
        process.stdout.write('\n');
        this.#pasted.length = 0;
        resolve('');
        reader.close();
      });
      reader.on('line', line => this.#pasted.push(line));
      reader.question(prompt).then(
        line => {
          resolve(line);
          reader.close();
        },
        () => resolve(undefined),
      );
    });
  }

  /** Carries out a line; undefined if it ends the console. */
  async #line(line: string): Promise<number | undefined> {
    try {
      const words = splitRosterArgs(line);
      if (words === undefined)
        throw new TsaltError('usage-words', 'A quote is not closed in this line.');
      const [first, second, ...rest] = words;
      if (first === undefined || first.startsWith('#')) return exitCode.ok;
      if ((first === 'exit' || first === 'quit') && second === undefined) return undefined;
      if (first === 'help' && second === undefined) return this.#show(help);
      if (first === 'test' && (second === 'on' || second === 'off') && rest.length === 0) {
        this.#isTest = second === 'on';
        return this.#show(this.#isTest ? 'Nothing is changed from now on.\n' : '');
      }
      if (first === 'target') return await this.#setTarget(words.slice(1));
      return await this.#run(first === 'on' ? words.slice(1) : words, first === 'on');
    } catch (error) {
      process.stderr.write(`${errorText(error)}\n`);
      return exitCodeOfError(error);
    }
  }

  #show(text: string): number {
    print(text);
    return exitCode.ok;
  }

  async #setTarget(words: readonly string[]): Promise<number> {
    if (words.length === 0) return this.#show(`${this.#target}\n`);
    const { options, words: found } = await parseCommandLine(words);
    const [target, ...more] = found;
    if (target === undefined || more.length > 0)
      throw new TsaltError('usage-words', 'target takes one target.');
    this.#target = target;
    this.#options = { ...this.#withoutTarget(), ...options };
    return exitCode.ok;
  }

  #withoutTarget(): Given['options'] {
    return Object.fromEntries(
      Object.entries(this.#options).filter(
        ([name]) => !(targetKinds as readonly string[]).includes(name),
      ),
    );
  }

  async #run(words: readonly string[], hasTarget: boolean): Promise<number> {
    const typed = await parseCommandLine(words);
    const base = hasTarget ? this.#withoutTarget() : this.#options;
    const test = this.#isTest ? { 'dry-run': true } : {};
    const given: Given = {
      ...this.#opened.given,
      options: { ...base, ...test, ...typed.options },
      words: hasTarget ? typed.words : [this.#target, ...typed.words],
    };
    return runCall(await openGiven(given, this.#opened.env), this.#session);
  }

  /** Completes from the shells' index, with the console's target as the first argument. */
  #complete(line: string): Promise<[string[], string]> {
    const words = line.trimStart().split(/\s+/);
    const current = words.at(-1) ?? '';
    const own =
      words.length === 1
        ? ['on', 'test', 'target', 'help', 'exit'].filter(
            word => current !== '' && word.startsWith(current),
          )
        : [];
    const before =
      words[0] === 'on' && words.length > 1 ? words.slice(1) : [this.#target, ...words];
    const script = completionScript('answer');
    const program = join(packageRoot(), 'dist/tsalt-ssh.cjs');
    return new Promise(resolve => {
      const args = ['-c', script, 'tsalt-ssh', program, ...before];
      execFile('sh', args, { env: this.#opened.env, timeout: 10_000 }, (_, stdout) => {
        const found = stdout
          .split('\n')
          .map(text => text.split('\t')[0] ?? '')
          .filter(text => text !== '' && !text.startsWith('#'));
        resolve([[...own, ...found], current]);
      });
    });
  }

  async #remember(line: string): Promise<void> {
    this.#history = [line, ...this.#history.filter(one => one !== line)].slice(0, longestHistory);
    try {
      const folder = privateDir(cacheOf(this.#opened.env));
      await writePrivate(join(folder, historyName), `${this.#history.join('\n')}\n`);
    } catch {
      // A history that cannot be written is lost when the console ends.
    }
  }
}

const historyName = 'console-history';

const cacheOf = (env: Opened['env']): string =>
  join(env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache'), 'tsalt-ssh');

const readHistory = (env: Opened['env']): string[] => {
  try {
    const text = readFileSync(join(privateDir(cacheOf(env)), historyName), 'utf8');
    return text.split('\n').filter(line => line !== '');
  } catch {
    return [];
  }
};
