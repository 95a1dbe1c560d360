import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasSshd, type Sshd, startSshd } from '../../../helpers/sshd.ts';
import { hasTmux, startTmux } from '../../../helpers/tmux.ts';

describe.skipIf(!hasSshd || !hasTmux)('recap at a terminal', () => {
  let project: Project;
  let sshd: Sshd;

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    sshd = await startSshd({ dir: join(project.dir, 'sshd') });
    const entry = `host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}`;
    const names = Array.from({ length: 120 }, (_, at) => `h${at}`);
    project.write({
      known_hosts: `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`,
      'roster.yaml': [...names, 'web1', 'web2', 'web3']
        .map(id => `${id}: {${entry}, thin_dir: ${project.dir}/w-${id}}\n`)
        .join(''),
      'states/mixed.sls': [
        'ok:\n  test.nop',
        'wait:\n  cmd.run:\n    - name: sleep 3; echo done',
        'bad:\n  test.fail_without_changes',
      ].join('\n'),
    });
  });
  afterAll(async () => {
    await sshd?.close();
    await project.close();
  });

  const start = (columns: number, rows: number, ...words: string[]) => {
    const script = join(project.dir, 'run.sh');
    const tsalt = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const quoted = words.map(word => `'${word}'`).join(' ');
    writeFileSync(script, `${process.execPath} ${tsalt} ${quoted}; sleep 60\n`);
    const env = { HOME: join(project.dir, 'home'), XDG_CACHE_HOME: join(project.dir, 'cache') };
    return startTmux(['sh', script], { cwd: project.dir, env, columns, rows });
  };

  test.each([
    [80, 24],
    [200, 50],
  ])('3 hosts at %i columns and %i rows', { tags: 'slow' }, async (columns, rows) => {
    const tmux = start(columns, rows, 'web*', 'state.apply', 'mixed');
    try {
      const during = await tmux.shows(/cmd\.run sleep 3/);
      expect(during).toMatch(/web3/);
      const screen = await tmux.shows(/Failed: 3 hosts/);
      expect(screen).toMatch(/Recap: 3 hosts in [\d.]+ s: 3 failed/);
      expect(screen).toMatch(/^Host +ok +changed +failed +skipped {2}result +time$/m);
      expect(screen).toMatch(/^web1 +1 +1 +1 +0 {2}failed +[\d.]+ s$/m);
      expect(screen).toMatch(
        /Failed: 3 hosts: web1, web2, web3\n {4}test\.fail_without_changes bad: Failure!/,
      );
      // Progress is gone.
      expect(screen).not.toMatch(/running|⠋/);
    } finally {
      tmux.close();
    }
  });

  test.each([
    [80, 24],
    [200, 50],
  ])(
    '120 hosts at %i columns and %i rows, also when it is resized',
    { tags: 'slow' },
    async (columns, rows) => {
      const tmux = start(columns, rows, 'h*', '-r', 'sleep 1; echo out; exit 3');
      try {
        const during = await tmux.shows(/h\d+ {2}\d+ s {2}/);
        expect(during.split('\n').length).toBeLessThan(rows);
        expect(during).toMatch(/\[[#.]{20}\] 120 hosts: \d+ done, \d+ failed, \d+ running/);
        tmux.resize(60, 15);
        const smaller = await tmux.shows(/120 hosts: \d+ done, \d+[1-9] failed/);
        expect(smaller.split('\n').length).toBeLessThanOrEqual(15);
        tmux.resize(columns, rows);
        const screen = await tmux.shows(/Recap: 120 hosts/);
        expect(screen).toMatch(/Recap: 120 hosts in [\d.]+ s: 120 failed/);
        expect(screen).toMatch(/Failed: 120 hosts: h0, h1,/);
      } finally {
        tmux.close();
      }
    },
  );
});
