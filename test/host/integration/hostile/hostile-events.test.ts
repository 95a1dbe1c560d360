import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostileProject, startHostileProject } from '../../../helpers/hostile-host.ts';

type Sent = {
  readonly type: string;
  readonly host?: string;
  readonly result?: { readonly id: string };
};

let hostile: HostileProject;

beforeAll(async () => {
  hostile = await startHostileProject({
    files: { 'states/app.sls': 'app:\n  test.nop: []\n' },
  });
});
afterAll(() => hostile.close());

test('a host neither speaks in the name of another one nor sends other events than its own', async () => {
  hostile.attack({
    script: ({ method, event, reply }) => {
      if (method !== 'run') return;
      const forged = { host: 'web1', fun: 'state.apply', retcode: 0, id: 'web1' };
      const result = { ...forged, changes: {}, result: true, comment: 'forged', name: 'x' };
      const line = { level: 'warning', module: 'x', message: 'forged' };
      for (const type of ['host', 'state', 'log', 'start', 'end', undefined]) {
        event('state', { ...forged, type, tag: 'test_|-x_|-x_|-nop', result });
        event('state-start', { ...forged, type, tag: 'test_|-x_|-x_|-nop', name: 'x', result });
        event('log', { ...forged, type, ...line, result });
        event('event', { ...forged, type, tag: 'x', data: 'forged', result });
        event('output', { ...forged, type, tag: 'x', stream: 'stdout', text: 'forged', result });
      }
      reply({ retcode: 0 });
    },
  });

  const { stdout } = await hostile.run('--out', 'ndjson', '*', 'state.apply', 'app');

  const events = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Sent);
  const forged = events.filter(event => JSON.stringify(event).includes('forged'));
  expect(new Set(forged.map(({ type }) => type))).toEqual(
    new Set(['event', 'host', 'log', 'state']),
  );
  for (const { type, host, result } of forged)
    expect(type === 'host' ? result?.id : host, type).toBe('bad');
  const ended = events.filter(({ type }) => type === 'host').map(({ result }) => result?.id);
  expect(ended.sort()).toEqual(['bad', 'web1']);
  expect(events.filter(({ type }) => type === 'end')).toHaveLength(1);
});
