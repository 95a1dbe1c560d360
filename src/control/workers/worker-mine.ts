import { type Data, toPlain } from '../../data/values/value.ts';
import type { Plain } from '../../protocol/plain.ts';
import { pack } from '../../render/confined/wire.ts';
import type { CallableHost, Mine, MineQuestion } from '../facts/shared.ts';
import { listFrom } from './sent-request.ts';

/** A question on its way to the process of the run. */
type SentQuestion = Omit<MineQuestion, 'args'> & { readonly args?: string };

/** Asks other hosts by the process of the run, which knows the worker of each. */
export class WorkerMine implements Mine {
  readonly #ask: (method: string, params: readonly unknown[]) => Promise<unknown>;
  readonly #answering = new Map<string, CallableHost>();

  constructor(ask: (method: string, params: readonly unknown[]) => Promise<unknown>) {
    this.#ask = ask;
  }

  greeted = (id: string, host: CallableHost): void => {
    // A connection that only asks must not take the place of the host's own run.
    if (!this.#answering.has(id)) this.#answering.set(id, host);
  };

  left = (id: string, host: CallableHost): void => {
    if (this.#answering.get(id) === host) this.#answering.delete(id);
  };

  ask = async ({ args, ...question }: MineQuestion): Promise<ReadonlyMap<string, Plain>> => {
    const sent: SentQuestion = { ...question, ...(args ? { args: pack([...args]) } : {}) };
    const answers = await this.#ask('mine', [question.asker, sent]);
    return new Map(answers as [string, Plain][]);
  };

  /** Asks a host over the connection of its run; undefined where it has none here. */
  async answer(
    id: string,
    fun: string,
    args: readonly Data[],
    isEarly: boolean,
  ): Promise<Plain | undefined> {
    const host = this.#answering.get(id);
    return host && toPlain(await host.call(fun, args, isEarly));
  }
}

/** The question that a worker has sent. */
export const readMineQuestion = (sent: unknown): MineQuestion => {
  const { args, ...question } = sent as SentQuestion;
  return { ...question, ...(args === undefined ? {} : { args: listFrom(args) }) };
};
