import { createHash } from 'node:crypto';
import { type FileContent, receive } from '../files/file-content.ts';

export type Download = {
  readonly content: FileContent;
  /** The hash of the type that was asked for. */
  readonly sum: string;
  /** The ETag of this version of the file, where the server sends one. */
  readonly etag?: string | undefined;
};

export type DownloadOptions = {
  /** The file that will be written: large content waits beside it. */
  readonly near?: string | undefined;
  readonly hashType?: string | undefined;
  /** false: take any certificate. */
  readonly verify?: boolean | undefined;
};

/** Fetches a URL in bounded memory. Throws `CommandExecutionError` with the status or the cause. */
export const download = async (url: string, options: DownloadOptions = {}): Promise<Download> => {
  const found = await downloadIfChanged(url, undefined, options);
  if (found) return found;
  const { httpFailure } = await import('./http-request.ts');
  throw httpFailure(url, new Error('HTTP 304: Not Modified'));
};

/** Like `download`, but undefined when the file still has the ETag `etag`. */
export const downloadIfChanged = async (
  url: string,
  etag: string | undefined,
  { near, hashType = 'sha256', verify }: DownloadOptions = {},
): Promise<Download | undefined> => {
  const { httpFailure } = await import('./http-request.ts');
  const response = await open(url, { method: 'GET', verify, etag });
  if (response.statusCode === 304) {
    response.destroy();
    return undefined;
  }
  const receiver = receive(near);
  const hash = createHash(hashType);
  try {
    for await (const chunk of response) {
      hash.update(chunk);
      receiver.sink(chunk);
    }
    return {
      content: receiver.finish(),
      sum: hash.digest('hex'),
      etag: response.headers.etag,
    };
  } catch (error) {
    receiver.discard();
    throw httpFailure(url, error);
  }
};

/** Whether the file is still what the server calls `etag`. */
export const isUnchanged = async (url: string, etag: string): Promise<boolean> => {
  const response = await open(url, { method: 'HEAD', etag });
  response.destroy();
  return response.statusCode === 304;
};

/** Whether a URL can be fetched. */
export const isReachable = async (
  url: string,
  { verify }: { verify?: boolean | undefined } = {},
): Promise<boolean> => {
  try {
    (await open(url, { method: 'HEAD', verify })).destroy();
    return true;
  } catch {
    return false;
  }
};

type Question = {
  readonly method: string;
  readonly verify?: boolean | undefined;
  readonly etag?: string | undefined;
};

const open = async (url: string, { method, verify = true, etag }: Question) => {
  // HTTPS takes long to load: only where something comes from the web.
  const { httpFailure, openHttp } = await import('./http-request.ts');
  const headers = etag === undefined ? {} : { 'if-none-match': etag };
  const response = await openHttp(url, { method, verify, headers, timeout: 600 });
  const { statusCode = 0, statusMessage } = response;
  const isFine = statusCode >= 200 && statusCode < 300;
  if (isFine || (etag !== undefined && statusCode === 304)) return response;
  response.destroy();
  throw httpFailure(url, new Error(`HTTP ${statusCode}: ${statusMessage}`));
};
