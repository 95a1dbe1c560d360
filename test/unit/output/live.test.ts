import { EventEmitter } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startLive } from '../../../src/output/live.ts';

test('the progress of many hosts leads to no warning of Node', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => void warnings.push(warning);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  onTestFinished(() => written.mockRestore());
  const live = await startLive(Object.assign(new EventEmitter(), { rows: 50 }) as never);
  const hosts = Array.from({ length: 20 }, (_, at) => `web${at}`);
  live.emit({ type: 'start', hosts, fun: 'test.ping' });
  for (const host of hosts) live.emit({ type: 'phase', host, phase: 'run' });
  await turn();
  await live.stop();
  await turn();
  expect(warnings).toEqual([]);
});
