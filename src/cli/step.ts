import { createInterface } from 'node:readline/promises';
import type { Request } from '../config/request.ts';
import { oneLine } from '../output/text.ts';
import { changeLines } from '../plan/show.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Prediction } from '../protocol/plan.ts';
import type { Given } from '../request/given.ts';
import type { Terminal } from './terminal.ts';

/** Options that exclude `--step`. */
const others = [
  'expect-no-changes',
  'dry-run',
  'plan-out',
  'ask',
  'detach',
  'workers',
  'via',
  'orch',
  'raw',
] as const;

/**
 * Converts a request into one that asks before each state that would change something (`--step`).
 * Hosts run one after the other.
 *
 * @param quit ends the run in order
 * @throws TsaltError `usage-step`, `no-terminal`
 */
export const withSteps = (
  request: Request,
  given: Given,
  {
    terminal,
    pause,
    quit,
  }: {
    readonly terminal: Terminal;
    readonly pause: () => Promise<() => void>;
    readonly quit: () => void;
  },
): Request => {
  const { fun, kwargs, options, hosts } = request;
  for (const name of others)
    if (given.options[name] !== undefined && given.options[name] !== false)
      throw wrong(`--step and --${name} exclude each other.`);
  if (!fun.startsWith('state.') || request.planned)
    throw wrong(`--step is for runs of states, such as state.apply, not for ${fun}.`);
  if (kwargs.get('test') === true) throw wrong('--step and test=True exclude each other.');
  if (hosts.some(({ via }) => via !== undefined))
    throw wrong('--step does not work with hosts that have via.');
  if (terminal.stdin.isTTY !== true)
    throw new TsaltError('no-terminal', '--step needs a terminal to ask at.', {
      hint: '--plan-out FILE shows all changes beforehand; tsalt-ssh apply FILE makes them.',
    });
  const questions = new Questions(terminal, pause, quit);
  return {
    ...request,
    options: { ...options, maxProcs: 1 },
    decide: (host, predicted) => questions.ask(host, predicted),
  };
};

const wrong = (message: string): TsaltError => new TsaltError('usage-step', message);

/** Asks one question at a time. */
class Questions {
  readonly #terminal: Terminal;
  readonly #pause: () => Promise<() => void>;
  readonly #quit: () => void;
  #turn: Promise<unknown> = Promise.resolve();
  #all: boolean | undefined;

  constructor(terminal: Terminal, pause: () => Promise<() => void>, quit: () => void) {
    this.#terminal = terminal;
    this.#pause = pause;
    this.#quit = quit;
  }

  ask(host: string, predicted: Prediction): Promise<boolean> {
    const answer = this.#turn.then(() => this.#all ?? this.#askNow(host, predicted));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  async #askNow(host: string, predicted: Prediction): Promise<boolean> {
    const { stdin, stderr } = this.#terminal;
    const resume = await this.#pause();
    const lines = createInterface({ input: stdin, output: stderr });
    // readline handles Ctrl-C itself.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const closed = new Promise<string>(resolve => lines.once('close', () => resolve('q')));
    try {
      stderr.write(`\n${oneLine(host)}:\n${changeLines(predicted).join('\n')}\n`);
      for (;;) {
        const question = lines.question('Run this state? [y]es, [n]o, [c]ontinue, [q]uit ');
        const answer = (await Promise.race([question, closed])).trim().toLowerCase();
        if (/^y(es)?$/.test(answer)) return true;
        if (/^no?$/.test(answer)) return false;
        if (/^c(ontinue)?$/.test(answer)) this.#all = true;
        if (/^q(uit)?$/.test(answer)) this.#all = false;
        if (this.#all === false) this.#quit();
        if (this.#all !== undefined) return this.#all;
      }
    } finally {
      lines.close();
      resume();
    }
  }
}
