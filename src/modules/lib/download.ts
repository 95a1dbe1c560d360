import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { CommandExecutionError } from '../api.ts';
import { messageOf } from './call.ts';
import { type Content, receive } from './file-content.ts';
import { redactUrl } from './source-url.ts';

export type Download = {
  readonly content: Content;
  /** The hash of the type that was asked for. */
  readonly sum: string;
};

/** Fetches a URL in bounded memory. Throws `CommandExecutionError` with the status or the cause. */
export const download = async (
  url: string,
  { near, hashType = 'sha256' }: { near?: string | undefined; hashType?: string } = {},
): Promise<Download> => {
  const response = await open(url, 'GET');
  const receiver = receive(near);
  const hash = createHash(hashType);
  try {
    if (response.body)
      for await (const chunk of Readable.fromWeb(response.body)) {
        hash.update(chunk);
        receiver.sink(chunk);
      }
    return { content: receiver.finish(), sum: hash.digest('hex') };
  } catch (error) {
    receiver.discard();
    throw failure(url, error);
  }
};

/** Whether a URL can be fetched. */
export const isReachable = async (url: string): Promise<boolean> => {
  try {
    await open(url, 'HEAD');
    return true;
  } catch {
    return false;
  }
};

const open = async (url: string, method: string): Promise<Response> => {
  const target = new URL(url);
  const headers: Record<string, string> = {};
  if (target.username) {
    const login = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
    headers.authorization = `Basic ${Buffer.from(login).toString('base64')}`;
    target.username = '';
    target.password = '';
  }
  let response: Response;
  try {
    response = await fetch(target, { method, headers, signal: AbortSignal.timeout(600_000) });
  } catch (error) {
    throw failure(url, error);
  }
  if (response.ok) return response;
  await response.body?.cancel();
  throw new CommandExecutionError(
    `Error: HTTP ${response.status}: ${response.statusText} reading ${redactUrl(url)}`,
  );
};

const failure = (url: string, error: unknown): CommandExecutionError => {
  if (error instanceof CommandExecutionError) return error;
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  const reason = messageOf(cause);
  return new CommandExecutionError(`Error: ${reason} reading ${redactUrl(url)}`);
};
