import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../protocol/error.ts';
import { onAbort } from '../protocol/on-abort.ts';
import type { PlainDict } from '../protocol/plain.ts';
import type { JobLoad, Returner, SaltReturn } from './returner.ts';

/** Milliseconds for one request, and before the next attempt. */
const longest = 4000;
const pause = 500;
const attempts = 2;

/**
 * The returner `webhook`: sends returns as JSON by POST, several in one request:
 * `{version, load, returns}`.
 *
 * @param headers for example for authorization
 */
export const webhookReturner = (url: URL, headers: PlainDict): Returner => ({
  name: 'webhook',
  write: (returns, load, signal) => post(url, headers, { version: 1, load, returns }, signal),
});

type Body = {
  readonly version: 1;
  readonly load: JobLoad;
  readonly returns: readonly SaltReturn[];
};

const post = async (url: URL, given: PlainDict, body: Body, signal: AbortSignal): Promise<void> => {
  const headers = new Headers({ 'content-type': 'application/json' });
  for (const [name, value] of Object.entries(given)) headers.set(name, String(value));
  let why = '';
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    if (attempt > 0) await sleep(pause, undefined, { signal });
    // Not AbortSignal.any: in Node 20 a timeout that only that refers to may be collected.
    const request = new AbortController();
    const release = onAbort(signal, () => request.abort(signal.reason));
    const late = setTimeout(() => request.abort(tooLate), longest);
    try {
      // A redirect could carry headers and returns elsewhere.
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        redirect: 'manual',
        signal: request.signal,
      });
      await response.body?.cancel();
      if (response.ok) return;
      why = `${url.origin} answered ${response.status}`;
      if (response.status < 500) break;
    } catch (error) {
      why = `${url.origin} could not be reached (${reasonOf(error)})`;
    } finally {
      clearTimeout(late);
      release();
    }
  }
  throw new Error(why);
};

const tooLate = new Error(`no answer within ${longest / 1000} s`);

/** fetch's own words may quote what was sent. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'the request failed';
  if (error === tooLate) return error.message;
  const { code } = (error.cause ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : messageOf(error).slice(0, 100);
};
