import { TsaltError } from '../protocol/error.ts';
import { unsafeCharacters } from '../protocol/unsafe-characters.ts';

const unsafe = new RegExp(`[${unsafeCharacters}]`, 'g');

/** Formats bytes of a host for people: without control characters, with a length limit. */
export const readable = (text: string, limit = 2000): string => {
  const clean = text
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/\r\n/g, '\n')
    .replace(unsafe, '\ufffd')
    .trim();
  return clean.length > limit ? `…${clean.slice(-limit)}` : clean;
};

const causes: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the name is unknown',
  EAI_AGAIN: 'the name could not be looked up',
  ETIMEDOUT: 'there was no answer in time',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to its network',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  EACCES: 'this machine does not allow the connection',
  EADDRNOTAVAIL: 'this machine has no address for the connection',
};

/** Converts an error of the socket into one that names the cause. */
export const unreachable = (where: string, error: unknown): TsaltError => {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = causes[code] ?? (error instanceof Error ? readable(error.message, 300) : 'unknown');
  return new TsaltError(
    code === 'ETIMEDOUT' ? 'connect-timeout' : 'connect-failed',
    `Cannot connect to ${where}: ${text}.`,
    { kind: 'unreachable', cause: error },
  );
};

export const timedOut = (where: string, what: string, seconds: number): TsaltError =>
  new TsaltError('connect-timeout', `${where}: no ${what} within ${seconds} s.`, {
    kind: 'unreachable',
  });

export const cancelled = (where: string): TsaltError =>
  new TsaltError('cancelled', `${where}: the run was cancelled.`, { kind: 'host' });
