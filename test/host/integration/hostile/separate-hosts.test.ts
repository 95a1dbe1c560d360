import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: Project;
const dir = mkdtempSync(join(tmpdir(), 'tsalt-separate-'));

beforeAll(async () => {
  // A login shell that keeps what goes over the line, both ways.
  const shell = join(dir, 'shell');
  writeFileSync(
    shell,
    '#!/bin/sh\ntee -a "$HOME/.sent" | /bin/sh "$@" | tee -a "$HOME/.received"\n',
  );
  chmodSync(shell, 0o755);
  project = await startProject({
    hosts: ['web1', 'web2'],
    server: { shell },
    files: {
      'pillar/top.sls': "base:\n  web1: [one]\n  web2: [two]\n  '*': [all]\n",
      'pillar/one.sls': 'token: token-of-one\nunused: unused-of-one\nown: {deep: deep-of-one}\n',
      'pillar/two.sls': 'token: token-of-two\nunused: unused-of-two\n',
      'pillar/all.sls': 'common: known-to-all\n',
      'states/use.sls': `{{ grains.root }}/token:
  file.managed:
    - contents_pillar: token
    - mode: '0600'
{{ grains.root }}/rendered:
  file.managed:
    - source: salt://rendered.txt
    - template: jinja
`,
      'states/rendered.txt': '{{ pillar.token }} {{ grains.id }}\n',
    },
  });
});
afterAll(async () => {
  await project.close();
  removeFolder(dir);
});

const line = (id: string): string => {
  const root = project.hosts[id]?.root ?? '';
  return (
    readFileSync(join(root, '.sent'), 'latin1') + readFileSync(join(root, '.received'), 'latin1')
  );
};

test("a host's pillar is never in another's line, result, log or cache; what it does not use stays here", async () => {
  const { code, stdout, stderr } = await project.run(
    '*',
    'state.apply',
    'use',
    '--out=json',
    '--static',
    '-l',
    'all',
    '--log-file=run.log',
    '--log-file-level=all',
  );
  expect(code, stdout + stderr).toBe(0);
  for (const [id, own] of Object.entries({ web1: 'one', web2: 'two' })) {
    expect(readFileSync(join(project.hosts[id]?.root ?? '', 'rendered'), 'utf8')).toBe(
      `token-of-${own} ${id}\n`,
    );
    const other = own === 'one' ? 'two' : 'one';
    expect(line(id)).toContain(`token-of-${own}`);
    expect(line(id)).not.toContain(`-of-${other}`);
    expect(line(id)).not.toContain('unused-of');
    expect(line(id)).not.toContain('deep-of');
    const results = JSON.parse(stdout) as Record<string, unknown>;
    expect(JSON.stringify(results[id])).not.toContain(`-of-${other}`);
  }
  const kept = execFileSync(
    'sh',
    ['-c', 'grep -rlE -- "token-of|unused-of|deep-of" cache home run.log || true'],
    {
      cwd: project.dir,
      encoding: 'utf8',
    },
  );
  expect(kept).toBe('');
  expect(stderr).not.toContain('-of-');
});

test('a function reads the pillar of its own host, also at the same time', async () => {
  const { code, stdout } = await project.run('*', 'pillar.get', 'token', '--out=json', '--static');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ web1: 'token-of-one', web2: 'token-of-two' });
});
