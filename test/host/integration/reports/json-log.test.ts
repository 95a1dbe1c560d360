import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProject } from '../../../helpers/project.ts';

test('--log-format json: each line of stderr and of the log file is an event with its JID', async () => {
  const project = await startProject({
    files: {
      'states/web.sls': [
        'good:\n  test.nop',
        'bad:\n  test.fail_without_changes',
        'secret:\n  cmd.run:\n    - name: printf hunter%s 2; false\n    - no_log: true',
      ].join('\n'),
    },
  });
  try {
    const file = join(project.dir, 'run.log');
    const format = ['--log-format', 'json', '-l', 'info', '--jid', '20260101000000000001'];
    const { stderr, code } = await project.run(
      ...['web1', 'state.apply', 'web', ...format, '--log-file', file, '--log-file-level', 'debug'],
    );
    expect(code).toBe(20);
    type Line = { time: string; level: string; jid: string; host?: string; state?: string };
    const read = (text: string) =>
      text
        .trim()
        .split('\n')
        .map(line => JSON.parse(line) as Line & { message: string });
    const lines = read(stderr);
    expect(lines.every(({ jid }) => jid === '20260101000000000001')).toBe(true);
    expect(lines.every(({ time }) => Date.parse(time) > 0)).toBe(true);
    expect(lines).toContainEqual(
      expect.objectContaining({
        level: 'error',
        host: 'web1',
        state: 'test_|-bad_|-bad_|-fail_without_changes',
        message: 'Failed: Failure!',
      }),
    );
    expect(lines.some(({ level }) => level === 'debug')).toBe(false);
    const logged = readFileSync(file, 'utf8');
    expect(read(logged).some(({ level, host }) => level === 'debug' && host === 'web1')).toBe(true);
    expect(logged + stderr).not.toContain('hunter2');

    const wrong = await project.run('web1', 'state.apply', 'web', '--log-format', 'xml');
    expect(wrong.code).toBe(64);
  } finally {
    await project.close();
  }
});
