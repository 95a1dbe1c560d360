import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import type { Request } from '../../config/request.ts';
import { type Data, toDict, toPlain } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { HostResult, RunEvent } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { matches, needs } from '../../targeting/match.ts';
import { isUnwritable } from '../../trust/spare-cache.ts';
import type { CallableHost, Mine, MineQuestion } from '../facts/shared.ts';
import { targetTypeOf } from './orchestration-steps.ts';
import { pickTargets } from './targets.ts';

export type MineParts = {
  readonly request: Request;
  /** The hosts of the run. */
  readonly inRun: readonly Host[];
  readonly emit: (event: RunEvent) => void;
  /** Runs another function on a host over a separate connection. */
  readonly check: (host: Host, request: Request) => Promise<HostResult | undefined>;
};

type Answer = { readonly value: Plain } | { readonly why: string };

/** Characters of one response, which templates process. */
const longest = 8 * 1024 * 1024;

/**
 * Asks hosts for functions that their `mine_functions` allow, for templates of other hosts. A host
 * with a running runtime is asked over that connection, until the last request of its run is sent
 * there; any other host gets a separate one. So no question waits until a host's run begins, and two
 * hosts may ask each other.
 */
export class HostMine implements Mine {
  readonly #parts: MineParts;
  readonly #answering = new Map<string, CallableHost>();
  readonly #answers = new Map<string, Promise<Answer>>();

  constructor(parts: MineParts) {
    this.#parts = parts;
  }

  greeted = (id: string, host: CallableHost): void => {
    // A connection for questions must not replace that of the host's own run.
    if (!this.#answering.has(id)) this.#answering.set(id, host);
  };

  left = (id: string, host: CallableHost): void => {
    if (this.#answering.get(id) === host) this.#answering.delete(id);
  };

  ask = async (question: MineQuestion): Promise<ReadonlyMap<string, Plain>> => {
    const { mine_missing } = this.#parts.request.config;
    const hosts = await this.#matching(question);
    const answers = await Promise.all(hosts.map(host => this.#answerOf(host, question)));
    const found = new Map<string, Plain>();
    const missing: string[] = [];
    for (const [at, host] of hosts.entries()) {
      const answer = answers[at];
      if (answer === undefined) continue;
      if ('value' in answer) {
        found.set(host.id, answer.value);
        continue;
      }
      const kept = mine_missing === 'cached' ? this.#kept(host, question) : undefined;
      if (kept !== undefined) found.set(host.id, kept);
      else missing.push(`${host.id}: ${answer.why}`);
      if (mine_missing !== 'error')
        this.#warn(
          `${question.fun} of ${host.id}: ${answer.why} ${kept === undefined ? 'The host is left out (mine_missing).' : 'The answer of an earlier run is used.'}`,
        );
    }
    if (missing.length > 0 && mine_missing !== 'skip')
      throw new TsaltError(
        'mine-missing',
        `${question.asker} needs '${question.fun}' of hosts that did not respond:\n${missing.join('\n')}`,
        {
          kind: 'render',
          hint: 'mine_missing of tsalt.yaml: cached uses the answer of an earlier run, skip leaves such hosts out.',
        },
      );
    return found;
  };

  /** Returns the hosts that a question targets. Asks for grains if the roster does not decide. */
  async #matching(question: MineQuestion): Promise<readonly Host[]> {
    const { tgt, tgt_type, asker, fun } = question;
    const { request, inRun } = this.#parts;
    const type = typeof tgt === 'string' ? targetTypeOf(tgt_type) : 'list';
    const target = typeof tgt === 'string' ? tgt : tgt.join(',');
    const { nodegroups, mine_reach } = request.config;
    if (needs(target, type, nodegroups).pillar)
      throw new TsaltError('mine-target', `${fun}: hosts cannot be chosen by their pillar here.`, {
        kind: 'render',
      });
    const { limit: _, exclude: __, order: ___, ...options } = request.options;
    const all = { ...request, target, targetType: type, delimiter: ':', options };
    const { hosts, undecided } = pickTargets(all);
    const reached = new Set(mine_reach === 'roster' ? request.hosts : inRun);
    const outside = hosts.filter(host => !reached.has(host) && !undecided.has(host));
    if (outside.length > 0 && request.config.mine_missing === 'error')
      throw new TsaltError(
        'mine-reach',
        `${asker} needs '${fun}' of hosts that are not part of this run: ${outside.map(({ id }) => id).join(', ')}.`,
        {
          kind: 'render',
          hint: 'Run on them, too, or set mine_reach: roster in tsalt.yaml.',
        },
      );
    const meant = await Promise.all(
      hosts
        .filter(host => reached.has(host))
        .map(async host => {
          if (!undecided.has(host)) return host;
          const answer = await this.#call(host, 'grains.items', [], question);
          if ('why' in answer) return host;
          const grains = toDict({ ...(answer.value as object), id: host.id } as never);
          const subject = { id: host.id, grains, pillar: new Map(), nodegroups };
          return matches(target, type, subject, { delimiter: ':' }) ? host : undefined;
        }),
    );
    return meant.filter(host => host !== undefined);
  }

  async #answerOf(host: Host, question: MineQuestion): Promise<Answer> {
    const { fun, args } = question;
    const given: Data[] = args ? [fun, [...args]] : [fun];
    const answer = await this.#call(host, 'mine.value', given, question);
    if ('value' in answer && !args) await this.#keep(host, fun, answer.value);
    return answer;
  }

  /** Calls a function of a host, once per run. */
  #call(host: Host, fun: string, args: readonly Data[], question: MineQuestion): Promise<Answer> {
    const key = JSON.stringify([host.id, fun, args.map(toPlain), question.isEarly]);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#inTime(this.#callNow(host, fun, args, question)).catch(
      (error: unknown): Answer => ({ why: messageOf(error).split('\n')[0] ?? '' }),
    );
    this.#answers.set(key, answer);
    return answer;
  }

  /** A host that never answers does not hold up the one that asks. */
  async #inTime(call: Promise<Answer>): Promise<Answer> {
    const { mine_timeout } = this.#parts.request.config;
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<Answer>(resolve => {
      const why = `it did not answer within ${mine_timeout} s (mine_timeout).`;
      late = setTimeout(() => resolve({ why }), Math.min(mine_timeout * 1000, 2 ** 31 - 1));
    });
    try {
      return await Promise.race([call, tooLate]);
    } finally {
      clearTimeout(late);
    }
  }

  async #callNow(
    host: Host,
    fun: string,
    args: readonly Data[],
    { asker, isEarly }: MineQuestion,
  ): Promise<Answer> {
    const answering = this.#answering.get(host.id);
    if (answering) return bounded(toPlain(await answering.call(fun, args, isEarly)));
    const { request, check } = this.#parts;
    const { guard: _, batchCheck: __, ...given } = request.options;
    // The limit also ends the connection and the function, which would keep this process alive.
    const timeout = Math.min(
      given.timeout ?? request.config.mine_timeout,
      request.config.mine_timeout,
    );
    const options = { ...given, timeout };
    const { raw: ___, planned: ____, ...rest } = request;
    this.#log(host, `asked for ${fun} by the states of ${asker}`);
    const early = isEarly ? { withoutPillar: true } : {};
    const called = { ...rest, ...early, fun, args, kwargs: new Map(), options };
    const result = await check(host, called);
    if (!result) return { why: 'it is not a target.' };
    if (result.failure) return { why: result.failure.message.split('\n')[0] ?? '' };
    return bounded(result.value ?? null);
  }

  #warn(message: string): void {
    this.#parts.emit({ type: 'log', level: 'warning', module: 'mine', message });
  }

  #log(host: Host, message: string): void {
    this.#parts.emit({ type: 'log', host: host.id, level: 'debug', module: 'mine', message });
  }

  #file(host: Host, fun: string): string {
    const { cachedir, dir } = this.#parts.request.config;
    const key = JSON.stringify([dir, host.id, host.host, host.port, host.user, fun]);
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
    return join(cachedir, 'mine', `${name}.json`);
  }

  async #keep(host: Host, fun: string, value: Plain): Promise<void> {
    const { config } = this.#parts.request;
    if (!config.minion_data_cache) return;
    try {
      privateDir(join(privateDir(config.cachedir), 'mine'));
      await writePrivate(this.#file(host, fun), JSON.stringify({ time: Date.now(), value }));
    } catch (error) {
      isUnwritable(config.cachedir, error);
    }
  }

  #kept(host: Host, { fun, args }: MineQuestion): Plain | undefined {
    if (args) return undefined;
    try {
      const kept: unknown = JSON.parse(readFileSync(this.#file(host, fun), 'utf8'));
      if (!isPlainDict(kept) || typeof kept.time !== 'number') return undefined;
      const age = (Date.now() - kept.time) / 1000;
      return age <= this.#parts.request.config.mine_ttl ? kept.value : undefined;
    } catch {
      return undefined;
    }
  }
}

const bounded = (value: Plain): Answer =>
  JSON.stringify(value).length <= longest
    ? { value }
    : { why: `its answer has more than ${longest / 1024 / 1024} MB.` };
