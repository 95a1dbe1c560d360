import { expect, test } from 'vitest';
import { monotonic } from '../../../src/protocol/monotonic.ts';
import { openWriteQueue } from '../../../src/protocol/write-queue.ts';

const open = () => {
  const writes: string[] = [];
  const queue = openWriteQueue(bytes => void writes.push(Buffer.from(bytes).toString()));
  return { writes, add: (text: string) => queue.add(Buffer.from(text)), flush: queue.flush };
};

test('openWriteQueue joins the messages of one turn of the event loop, in order', async () => {
  const { writes, add } = open();
  for (const text of ['a', 'b']) add(text);
  await Promise.resolve();
  add('c');
  expect(writes).toEqual([]);
  await new Promise(setImmediate);
  expect(writes).toEqual(['abc']);
  add('d');
  await new Promise(setImmediate);
  expect(writes).toEqual(['abc', 'd']);
});

test('openWriteQueue writes at once what is long, what has waited, and what is flushed', async () => {
  const { writes, add, flush } = open();
  add('x'.repeat(64 * 1024));
  expect(writes).toHaveLength(1);
  add('first');
  for (const began = monotonic(); monotonic() - began < 11; );
  add(' second');
  expect(writes[1]).toBe('first second');
  add('third');
  flush();
  flush();
  expect(writes.slice(2)).toEqual(['third']);
  await new Promise(setImmediate);
  expect(writes).toHaveLength(3);
});
