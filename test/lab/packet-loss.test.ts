import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Project, startProject } from '../helpers/project.ts';

let project: Project;

const count = 100;

/** Why no packets can be dropped here. */
const missing = (() => {
  try {
    execFileSync('iptables', ['-w', '-S', 'INPUT'], { stdio: 'ignore' });
    return '';
  } catch {
    return ' (needs root and iptables)';
  }
})();

/** Rules that drop a tenth of the packets to and from the host's port. */
const rules = (port: number): string[][] =>
  ['--dport', '--sport'].map(side => [
    ...['INPUT', '-i', 'lo', '-p', 'tcp', side, String(port)],
    ...['-m', 'statistic', '--mode', 'random', '--probability', '0.1', '-j', 'DROP'],
  ]);

const change = (action: '-I' | '-D'): void => {
  for (const rule of rules(project.hosts.web1?.server.port ?? 0))
    execFileSync('iptables', ['-w', action, ...rule]);
};

describe.skipIf(missing)(`a link that loses packets${missing}`, () => {
  beforeAll(async () => {
    const states = Array.from(
      { length: count },
      (_, at) =>
        `file ${at}:\n  file.managed:\n    - name: {{ grains.root }}/files/f${at}\n    - source: salt://texts/t${at % 10}\n    - makedirs: true\n`,
    );
    const texts = Array.from({ length: 10 }, (_, at) => [
      `states/texts/t${at}`,
      `text ${at}\n`.repeat(1000),
    ]);
    project = await startProject({
      files: { 'states/files.sls': states.join(''), ...Object.fromEntries(texts) },
    });
    // The one-time build and the upload of the artifact are without loss.
    await project.run('web1', 'test.ping', '--out=quiet');
    change('-I');
  });
  afterAll(async () => {
    change('-D');
    await project.close();
  });

  test('100 files arrive although a tenth of all packets is lost', async () => {
    const root = project.hosts.web1?.root ?? '';
    const fresh = await project.run('web1', 'state.apply', 'files', '--out=json');
    expect([fresh.code, fresh.stderr]).toEqual([0, '']);
    expect(readdirSync(`${root}/files`)).toHaveLength(count);
    const again = await project.run('web1', 'state.apply', 'files', '--expect-no-changes');
    expect(again.code).toBe(0);
  }, 240_000);

  test('--timeout ends a run in which packets are lost', async () => {
    project.write({ 'states/slow.sls': 'slow:\n  cmd.run:\n    - name: sleep 60\n' });
    const { code, stdout, stderr } = await project.run(
      'web1',
      'state.apply',
      'slow',
      '--timeout=5',
    );
    expect(code).toBe(69);
    expect(stdout + stderr).toContain('not done within 5 s (--timeout)');
  }, 120_000);
});
