import type { PromptQuestion } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { readable } from '../../transport/unreachable.ts';
import type { MineQuestion } from '../facts/shared.ts';

/** A host that a worker works for, with the numbers of its questions so far. */
type AskedFor = { readonly host: Host; asked: number; askedOthers: number };

/** Questions about one host: passwords of hops and of sudo, answers that a server wants. */
const mostQuestions = 12;

const kinds: ReadonlySet<unknown> = new Set<PromptQuestion['what']>([
  'password',
  'sudo-password',
  'passphrase',
  'keyboard-interactive',
]);

/**
 * Reads a question of a worker elsewhere to the person at the terminal. The worker may have been
 * taken over: the prompt says who asks, so that it does not pass for one of this machine.
 *
 * @param own the hosts that the worker works for
 * @throws TsaltError `worker-question`
 */
export const readWorkerQuestion = (said: unknown, own: readonly AskedFor[]): PromptQuestion => {
  const { host, what, prompt } = isPlainDict(said) ? said : {};
  const about = own.find(run => run.host.id === host);
  if (!about || typeof prompt !== 'string' || !kinds.has(what))
    throw refused('A worker asked what it may not ask.');
  about.asked += 1;
  if (about.asked > mostQuestions)
    throw refused(`${about.host.id}: its worker asked more than ${mostQuestions} questions.`);
  const { id, via } = about.host;
  return {
    host: id,
    what: what as PromptQuestion['what'],
    prompt: `The worker of ${via ?? 'another machine'} asks for ${id}: ${readable(prompt, 200)} `,
  };
};

/** Questions to other hosts that the templates of one host may ask. */
const mostToOthers = 200;

/**
 * Reads a question of a worker elsewhere to other hosts. The worker may have been taken over: it
 * asks in the name of its own hosts, for functions as `mine_functions` list them.
 *
 * @throws TsaltError `worker-question`, `mine-arguments`
 */
export const readWorkerMine = (
  [asker, said]: readonly unknown[],
  own: readonly AskedFor[],
): MineQuestion => {
  const { tgt, tgt_type, fun, isEarly, args } = isPlainDict(said) ? said : {};
  const about = own.find(run => run.host.id === asker);
  const isTarget = typeof tgt === 'string' || (Array.isArray(tgt) && tgt.every(isString));
  if (!about || !isTarget || !isString(tgt_type) || !isString(fun))
    throw refused('A worker asked what it may not ask.');
  const { id } = about.host;
  about.askedOthers += 1;
  if (about.askedOthers > mostToOthers)
    throw refused(`${id}: its templates asked other hosts more than ${mostToOthers} times.`);
  if (args !== undefined)
    throw new TsaltError(
      'mine-arguments',
      `${id}: behind a queue worker (via), ${fun} is called with the arguments that mine_functions list.`,
      {
        kind: 'render',
        hint: 'Leave `arg` out, and list the function with its arguments in mine_functions.',
      },
    );
  return { tgt: tgt as string | string[], tgt_type, fun, asker: id, isEarly: isEarly === true };
};

const isString = (value: unknown): value is string => typeof value === 'string';

/**
 * The error of a question to other hosts, for a worker elsewhere: it does not learn which hosts there
 * are, nor why they cannot be reached. The user does, by a warning.
 */
export const namesNone = (
  error: unknown,
  { asker, fun }: MineQuestion,
  emit: (event: RunEvent) => void,
): unknown => {
  if (!(error instanceof TsaltError) || !['mine-reach', 'mine-missing'].includes(error.code))
    return error;
  const { code, message, hint } = error;
  emit({ type: 'log', level: 'warning', host: asker, module: 'mine', message });
  return new TsaltError(
    code,
    code === 'mine-reach'
      ? `${asker} needs '${fun}' of hosts that are not part of this run. A warning names them.`
      : `${asker} needs '${fun}' of hosts that did not respond. A warning names them.`,
    { kind: 'render', ...(hint === undefined ? {} : { hint }) },
  );
};

const refused = (message: string): TsaltError =>
  new TsaltError('worker-question', message, { kind: 'host' });
