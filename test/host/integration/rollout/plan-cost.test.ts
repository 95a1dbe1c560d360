import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

const states = Array.from({ length: 50 }, (_, at) => at).flatMap(at => [
  `{{ grains.root }}/t/plain${at}:\n  file.managed:\n    - contents: line ${at}\n    - makedirs: true`,
  `{{ grains.root }}/t/drawn${at}:\n  file.managed:\n    - source: salt://drawn.j2\n    - template: jinja\n    - context: {n: ${at}}\n    - makedirs: true`,
  `reacts${at}:\n  cmd.run:\n    - name: 'true'\n    - onchanges: [{file: '{{ grains.root }}/t/plain${at}'}]`,
  `{{ grains.root }}/t/folder${at}:\n  file.directory:\n    - makedirs: true`,
]);
let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/top.sls': "base: {'*': [many]}\n",
      'states/many.sls': `#!jinja|yaml\n${states.join('\n')}\n`,
      'states/drawn.j2': 'n={{ n }} on {{ grains.id }}\n',
    },
  });
  expect(await project.run('web1', 'test.ping')).toMatchObject({ code: 0 });
});
afterAll(() => project.close());

test('the plan of 200 states asks the host for no more than its test run', {
  tags: 'slow',
}, async () => {
  const { counts } = project.hosts.web1?.server ?? { counts: undefined };
  const cost = async (...args: string[]) => {
    const before = { ...counts };
    const run = await project.run('web1', 'state.highstate', ...args);
    expect(run).toMatchObject({ code: 0, stdout: expect.stringContaining('changed=200') });
    const { connections = 0, channels = 0, bytes = 0 } = counts ?? {};
    return {
      connections: connections - (before.connections ?? 0),
      channels: channels - (before.channels ?? 0),
      bytes: bytes - (before.bytes ?? 0),
    };
  };
  const tested = await cost('test=True');
  const planned = await cost('--plan-out', 'all.plan');
  expect(tested.bytes).toBeGreaterThan(10_000);
  expect(planned).toEqual({ ...tested, bytes: expect.toSatisfy(b => b < tested.bytes * 1.1) });
  const { stdout } = await project.run('show', 'all.plan', '--out=json');
  expect(JSON.parse(stdout).groups).toHaveLength(1);
});
