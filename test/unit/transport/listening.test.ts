import { expect, test } from 'vitest';
import { afterListening } from '../../../src/transport/listening.ts';

const blocked = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
};

test('time in which this process stands still does not count as silence of a host', {
  tags: 'slow',
}, async () => {
  let isOver = false;
  const ended = new Promise<void>(resolve => {
    afterListening(0.5, () => {
      isOver = true;
      resolve();
    });
  });
  for (let times = 0; times < 3; times += 1) {
    blocked(600);
    // Sockets are read in this turn of the event loop.
    await new Promise(resolve => setImmediate(resolve));
    expect(isOver).toBe(false);
  }
  await ended;
});

test('a count that was stopped ends nothing', async () => {
  let isOver = false;
  const stop = afterListening(0.05, () => {
    isOver = true;
  });
  stop();
  await new Promise(resolve => setTimeout(resolve, 200));
  expect(isOver).toBe(false);
});
