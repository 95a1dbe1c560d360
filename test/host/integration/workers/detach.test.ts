import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/wait.sls': `
before:
  test.nop: []
hidden:
  cmd.run:
    - name: echo hidden-4711
    - no_log: true
wait:
  cmd.run:
    - name: while ! test -e {{ grains.root }}/go; do sleep 0.1; done
fails:
  test.fail_without_changes: []
`,
    },
  });
});
afterAll(() => project.close());

const go = (): string => join(project.hosts.web1?.root ?? '', 'go');

/** Starts a run that waits for a file. @returns its job id */
const begin = async (): Promise<string> => {
  const { code, stdout, stderr } = await project.run('web1', 'state.apply', 'wait', '--detach');
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('attach') });
  return stdout.trim();
};

const processOf = (jid: string): number =>
  (
    JSON.parse(readFileSync(join(project.dir, 'cache/detached', jid, 'process.json'), 'utf8')) as {
      pid: number;
    }
  ).pid;

test('--detach: the run goes on, and attach shows its results and returns its exit code', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const jid = await begin();
  expect(jid).toMatch(/^\d{20}$/);
  expect((await project.run('attach')).stdout).toContain(
    `${jid}  runs (process ${processOf(jid)})`,
  );
  const attached = project.run('attach', jid, '--out=json');
  writeFileSync(go(), '');
  const { code, json, stderr } = await attached;
  const results: Record<string, Record<string, { result: boolean }>> = json();
  expect({ code, stderr, ids: Object.keys(results) }).toEqual({
    code: 20,
    stderr: '',
    ids: ['web1'],
  });
  expect(Object.values(results.web1 ?? {}).map(({ result }) => result)).toEqual([
    true,
    true,
    true,
    false,
  ]);
  const again = await project.run('attach', jid);
  expect({ code: again.code, text: again.stdout }).toEqual({
    code: 20,
    text: expect.stringContaining('Failed:    1'),
  });
  const folder = join(project.dir, 'cache/detached', jid);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of readdirSync(folder)) {
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(folder, name), 'utf8')).not.toContain('"stdout":"hidden-4711"');
  }
});

test('--detach: attach reports a run whose process was killed', async () => {
  if (existsSync(go())) (await import('node:fs')).rmSync(go());
  const jid = await begin();
  process.kill(processOf(jid), 'SIGKILL');
  const { code, stderr } = await project.run('attach', jid);
  expect({ code, stderr }).toEqual({
    code: 70,
    stderr: expect.stringContaining(`The detached run ${jid} ended without a result`),
  });
  writeFileSync(go(), '');
}, 60_000);

test('--detach: what is wrong before a host is contacted is reported at once', async () => {
  const wrong = [
    { args: ['nobody', 'test.ping'], code: 67, text: 'nobody' },
    { args: ['web1', 'test.ping', '--batch-ask', '-b', '1'], code: 64, text: 'exclude each other' },
    { args: ['web1', 'no-function'], code: 64, text: 'no-function' },
  ];
  for (const { args, code, text } of wrong) {
    const done = await project.run(...args, '--detach');
    expect({ args, code: done.code, stderr: done.stderr }).toEqual({
      args,
      code,
      stderr: expect.stringContaining(text),
    });
  }
  const missing = await project.run('attach', '20260101000000000000');
  expect({ code: missing.code, stderr: missing.stderr }).toEqual({
    code: 64,
    stderr: expect.stringContaining('There is no detached run'),
  });
}, 60_000);
