import { TsaltError } from './error.ts';
import type { StackPosition } from './stack.ts';

/** Messages on the wire, except the bytes of transfers. */
export type Message =
  | { t: 'req'; id: number; method: string; params: unknown }
  | { t: 'res'; id: number; value?: unknown; content?: boolean; error?: WireError }
  | { t: 'end'; id: number; error?: WireError }
  | { t: 'stop'; id: number }
  | { t: 'evt'; name: string; payload: unknown };

/** An error on the wire. */
export type WireError = {
  code: string;
  message: string;
  kind?: string;
  hint?: string;
  stack?: readonly StackPosition[];
};

/** @throws TsaltError `wire-protocol` for an invalid message */
export const readMessage = (said: unknown): Message => {
  if (typeof said !== 'object' || said === null) throw broken('a message that is no object');
  const { t, id, error } = said as Partial<Extract<Message, { t: 'res' }>>;
  if (t !== ('evt' as string) && !isRequestId(id))
    throw broken('a message without a number of its request');
  if (error !== undefined && (typeof error !== 'object' || error === null))
    throw broken('an error that is not an object');
  return said as Message;
};

/** Request ids also occur in data frames, where they have four bytes. */
const isRequestId = (id: unknown): boolean =>
  Number.isInteger(id) && (id as number) > 0 && (id as number) < 2 ** 32;

/**
 * Converts a value to text without `String()`: an untrusted object may have a `toString` that is
 * not a function.
 */
export const safeText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? '');

/** Shortens an untrusted value for a message. */
export const shown = (value: unknown): string => safeText(value).slice(0, 60);

/** Returns the error of a protocol violation by the other side. */
export const broken = (what: string): TsaltError =>
  new TsaltError('wire-protocol', `The other side broke the protocol: it sent ${what}.`, {
    kind: 'host',
  });
