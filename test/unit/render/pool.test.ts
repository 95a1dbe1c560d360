import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Pool } from '../../../src/render/confined/pool.ts';

/** A worker in which one rendering is past its deadline in short turns, and the other ones wait. */
const turns = `
const { parentPort, workerData } = require('node:worker_threads');
parentPort.on('message', ({ type, id, job }) => {
  if (type === 'answer') parentPort.postMessage({ type: 'done', id, value: 'late' });
  else if (job === 'waits') parentPort.postMessage({ type: 'call', id, call: 0, name: 'a.b', args: [] });
  else {
    const past = Number(process.hrtime.bigint() / 1000000n) % 2 ** 31 - 10000;
    for (;;) {
      Atomics.store(workerData.clock, 1, past);
      Atomics.store(workerData.clock, 0, id);
      for (let wait = 0; wait < 50; wait += 1) Atomics.load(workerData.clock, 1);
      Atomics.store(workerData.clock, 0, 0);
      for (let wait = 0; wait < 50; wait += 1) Atomics.load(workerData.clock, 1);
    }
  }
});`;

test('a rendering that computes in short turns is the one that is ended, not those that wait', {
  tags: 'slow',
}, async () => {
  for (let round = 0; round < 6; round += 1) {
    const pool = new Pool({
      size: 1,
      start: async () => ({ code: turns, options: { eval: true } }),
      endless: { name: 'Error', message: 'time', limit: true },
    });
    const answer = async () => {
      await sleep(50);
      return 'late';
    };
    const waits = [1, 2].map(() => pool.run('waits', answer));
    await expect(pool.run('endless', answer)).rejects.toThrow('time');
    expect(await Promise.all(waits)).toEqual(['late', 'late']);
  }
});
