import { expect, test } from 'vitest';
import { hostLimits } from '../../../src/control/serve/host-limits.ts';
import { OutputLimiter } from '../../../src/control/serve/output-limiter.ts';
import { readOutput } from '../../../src/control/serve/reported-events.ts';
import { noteSecret } from '../../../src/data/known-secrets.ts';
import { mostOfState, type OutputPiece } from '../../../src/protocol/job.ts';
import { LiveOutput } from '../../../src/runtime/session/live-output.ts';

const wait = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms));

test('live output: what comes at once is one piece, and the end of the state sends the rest', async () => {
  const pieces: OutputPiece[] = [];
  const live = new LiveOutput(piece => pieces.push(piece));
  live.add('t', 'stdout', 'a\n');
  live.add('t', 'stdout', 'b\n');
  live.add('t', 'stderr', 'e\n');
  expect(pieces).toEqual([]);
  await expect
    .poll(() => pieces)
    .toEqual([
      { tag: 't', stream: 'stdout', text: 'a\nb\n' },
      { tag: 't', stream: 'stderr', text: 'e\n' },
    ]);
  live.add('t', 'stdout', 'c');
  live.end('t');
  expect(pieces.at(-1)).toEqual({ tag: 't', stream: 'stdout', text: 'c' });
});

test('live output: a host bounds what its states send', async () => {
  const pieces: OutputPiece[] = [];
  const live = new LiveOutput(piece => pieces.push(piece));
  for (const tag of ['a', 'b', 'c', 'd'])
    for (let at = 0; at < 50; at += 1) live.add(tag, 'stdout', `${at} `.repeat(5000));
  await wait(1500);
  for (const tag of ['a', 'b', 'c', 'd']) live.end(tag);
  const size = pieces.reduce((sum, { text }) => sum + text.length, 0);
  expect(size).toBeLessThan(65_536);
  expect(pieces.at(-1)?.text.endsWith('49 ')).toBe(true);
  expect(pieces.every(({ text, dropped = 0 }) => text.length <= 8192 && dropped > 0)).toBe(true);
});

test('live output: control bounds a host that does not keep to the limits', () => {
  const gate = new OutputLimiter();
  const piece = { tag: 't', stream: 'stdout', text: 'x'.repeat(30_000) } as const;
  const shown = Array.from({ length: 200 }, () => gate.take(piece)?.text.length ?? 0);
  expect(shown.reduce((sum, length) => sum + length, 0)).toBeLessThanOrEqual(mostOfState + 500);
  gate.end('t');
  expect(gate.take(piece)?.text.length).toBe(30_000);

  const { admits } = hostLimits(() => undefined);
  const admitted = Array.from({ length: 5000 }, () => admits('output', 10)).filter(Boolean);
  expect(admitted.length).toBeGreaterThan(100);
  expect(admitted.length).toBeLessThan(1000);
});

test('live output: a known secret is not shown', () => {
  noteSecret('hunter2-hunter2');
  const text = new OutputLimiter().take({
    tag: 't',
    stream: 'stdout',
    text: 'password hunter2-hunter2\n',
  })?.text;
  expect(text).not.toContain('hunter2');
});

test.each([
  null,
  { tag: 't', stream: 'stdout' },
  { tag: 1, stream: 'stdout', text: '' },
  { tag: 't', stream: 'stdin', text: '' },
  { tag: 't', stream: 'stdout', text: '', dropped: -1 },
  { tag: 't', stream: 'stdout', text: '', dropped: '9' },
])('live output: a malformed event is an error of the host: %j', said => {
  expect(() => readOutput(said)).toThrow(expect.objectContaining({ code: 'wire-protocol' }));
});
