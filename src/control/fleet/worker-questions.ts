import type { PromptQuestion } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import { readable } from '../../transport/unreachable.ts';

/** A host that a worker works for, with the number of questions about it so far. */
type AskedFor = { readonly host: Host; asked: number };

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

const refused = (message: string): TsaltError =>
  new TsaltError('worker-question', message, { kind: 'host' });
