import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1'],
    files: {
      'states/slow.sls':
        'slow:\n  cmd.run:\n    - name: for n in one two three; do echo $n; sleep 1; done\n',
      'states/quiet.sls': [
        'a:\n  cmd.run:\n    - name: echo secret-a\n    - no_log: true',
        'b:\n  cmd.run:\n    - name: echo secret-b\n    - hide_output: true',
        'c:\n  cmd.run:\n    - name: echo secret-c\n    - output_loglevel: quiet',
        'd:\n  test.nop',
        'e:\n  cmd.run:\n    - name: "printf \'\\\\033[31mred\\\\n\' >&2; exit 3"',
      ].join('\n'),
      'states/own.sls': 'own:\n  teller.told\n',
      'states/_states/teller.ts': [
        "import { log } from 'tsalt-ssh/module';",
        'export const told = (name: string) => {',
        "  log.output('step 1 of 2');",
        "  return { name, result: true, comment: '', changes: {} };",
        '};',
      ].join('\n'),
    },
  });
});
afterAll(() => project.close());

type Event = { time: string; type: string; host?: string; tag?: string; text?: string };

const events = (stdout: string): Event[] =>
  stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Event);

test('lines of a command are events while it runs', { tags: 'slow' }, async () => {
  const { stdout, code } = await project.run('web1', 'state.apply', 'slow', '--out', 'ndjson');
  expect(code).toBe(0);
  const output = events(stdout).filter(({ type }) => type === 'output');
  expect(output.map(({ text }) => text)).toEqual(['one\n', 'two\n', 'three\n']);
  expect(output[0]).toMatchObject({ host: 'web1', stream: 'stdout' });
  const times = output.map(({ time }) => Date.parse(time));
  for (const at of [1, 2])
    expect((times[at] ?? 0) - (times[at - 1] ?? 0)).toBeGreaterThanOrEqual(900);
});

test('--stream shows lines with host and state, without control characters; secrets stay hidden', {
  tags: 'slow',
}, async () => {
  const report = join(project.dir, 'r.xml');
  const { stdout, stderr } = await project.run(
    ...['web1', 'state.apply', 'quiet', '--stream', '--report', `junit=${report}`],
  );
  expect(stderr).toContain('web1 | e | ?[31mred\n');
  expect(stderr).not.toContain('| d |');
  expect(stderr).not.toMatch(/secret-/);
  expect(stdout).toContain('?[31mred');
  const xml = readFileSync(report, 'utf8');
  expect(xml).toContain('<system-out>?[31mred\n</system-out>');
});

test('a module of the user shows lines by log.output', { tags: 'slow' }, async () => {
  const { stderr } = await project.run('web1', 'state.apply', 'own', '--stream');
  expect(stderr).toContain('web1 | own | step 1 of 2\n');
});
