import { expect, test } from 'vitest';
import {
  readBegan,
  readFinished,
  readLine,
  readOutput,
  readSent,
  readStarted,
} from '../../../src/control/serve/reported-events.ts';

const result = {
  name: 'x',
  changes: {},
  result: true,
  comment: 'done',
  __id__: 'x',
  __run_num__: 0,
  start_time: '12:00:00.000000',
  duration: 1,
};
const line = { level: 'info', module: 'x', message: 'm' };

test('valid data of modules is accepted unchanged', () => {
  for (const more of [
    {},
    { comment: null },
    { comment: { a: 1 } },
    { result: null },
    { __id__: 1 },
  ])
    expect(readFinished({ tag: 't', result: { ...result, ...more } }).result).toMatchObject(more);
  expect(readStarted({ tag: 't', id: 1, fun: 'test.nop', name: ['x'] }).id).toBe(1);
  expect(readLine(line)).toEqual(line);
});

test('fields that no event has are left out', () => {
  const forged = { type: 'host', host: 'db1', host_id: 'db1' };
  const finished = { tag: 't', result, event: 'e', stack: [[1, 1]] };
  expect(readFinished({ ...forged, ...finished })).toEqual(finished);
  const started = { tag: 't', id: 'x', fun: 'test.nop', name: 'x' };
  expect(readStarted({ ...forged, ...started })).toEqual(started);
  expect(readLine({ ...forged, ...line, stack: [[1, 1]] })).toEqual({ ...line, stack: [[1, 1]] });
  expect(readBegan({ ...forged, ...finished, began: ['x', 'test.nop', 'x'] })).toEqual(started);
  expect(readBegan(finished)).toBe(undefined);
  const piece = { tag: 't', stream: 'stdout', text: 'x' };
  expect(readOutput({ ...forged, ...piece })).toEqual(piece);
  expect(readSent({ ...forged, tag: 't', data: 1 })).toEqual({ tag: 't', data: 1 });
});

test.each([
  [readFinished, null],
  [readFinished, { result }],
  [readFinished, { tag: {}, result }],
  [readFinished, { tag: 't', result: null }],
  [readFinished, { tag: 't', result: { ...result, changes: null } }],
  [readFinished, { tag: 't', result: { ...result, result: 'yes' } }],
  [readFinished, { tag: 't', result: { ...result, duration: {} } }],
  [readFinished, { tag: 't', result: { ...result, comment: null }, stack: [[1, 1]] }],
  [readStarted, undefined],
  [readBegan, { tag: 't', began: 'x' }],
  [readBegan, { tag: 't', began: ['x', 'f'] }],
  [readBegan, { tag: 't', began: ['x', {}, 'n'] }],
  [readBegan, { tag: {}, began: ['x', 'f', 'n'] }],
  [readStarted, { tag: 't', id: {}, fun: 'f' }],
  [readLine, 'text'],
  [readLine, { ...line, message: 1 }],
  [readLine, { ...line, level: 'loud' }],
])('what could break the control node is a fault of the host: %#', (read, said) => {
  expect(() => read(said)).toThrow(
    expect.objectContaining({ code: 'wire-protocol', kind: 'host' }),
  );
});
