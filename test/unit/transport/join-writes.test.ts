import { Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { joinWrites } from '../../../src/transport/ssh2/join-writes.ts';

/** A stream that notes what it is given at once. */
const noting = (): { readonly stream: Writable; readonly writes: string[] } => {
  const writes: string[] = [];
  const stream = new Writable({
    write: (chunk, _, done) => {
      writes.push(String(chunk));
      done();
    },
    writev: (chunks, done) => {
      writes.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  joinWrites(stream);
  return { stream, writes };
};

test('what is written in one turn is one write, and the next turn is another one', async () => {
  const { stream, writes } = noting();
  for (const piece of ['length ', 'content ', 'checksum']) stream.write(piece);
  expect(writes).toEqual([]);
  await nextTurn();
  stream.write('second');
  await nextTurn();

  expect(writes).toEqual(['length content checksum', 'second']);
});

test('what was written before the end is written, and the callers are told', async () => {
  const { stream, writes } = noting();
  const told: string[] = [];
  stream.write('one ', () => told.push('one'));
  stream.write('two', () => told.push('two'));
  stream.end();
  await nextTurn();

  expect(writes).toEqual(['one two']);
  expect(told).toEqual(['one', 'two']);
  expect(stream.writableFinished).toBe(true);
});

test('a full buffer is reported at once', () => {
  const { stream } = noting();

  expect(stream.write('x'.repeat(100_000))).toBe(false);
});
