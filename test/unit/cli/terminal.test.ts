import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createAsk } from '../../../src/cli/terminal.ts';

/** A password as somebody typed it, byte by byte. */
const typed = async (text: string): Promise<string> => {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => undefined });
  const ask = createAsk({ stdin, stderr: new PassThrough() } as never, async () => () => undefined);
  const answer = ask({ host: 'web1', what: 'password', prompt: 'Password: ' });
  await new Promise(setImmediate);
  for (const byte of Buffer.from(text)) stdin.write(Uint8Array.of(byte));
  return (await answer).reveal();
};

test('a password is what was typed, also where a character comes in pieces', async () => {
  expect(await typed('größe😀\r')).toBe('größe😀');
});

test('Backspace takes one character away, Ctrl-U all', async () => {
  expect(await typed('x\u0015ab😀\u007f\u007fc\r')).toBe('ac');
});
