import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
/** The host's folder for temporary files. */
const temporary = mkdtempSync(join(tmpdir(), 'tsalt-leftovers-'));

beforeAll(async () => {
  project = await startProject({
    server: { env: { TMPDIR: temporary } },
    files: {
      'states/short.sh': 'echo done\n',
      'states/long.sh': 'touch ~/begun; exec sleep 60\n',
      'states/short.sls': 'short:\n  cmd.script:\n    - source: salt://short.sh\n',
      'states/broken.sls': `{{ grains.root }}/checked/file:
  file.managed:
    - makedirs: true
    - contents: x
    - check_cmd: touch ~/checking; sleep 60; true
    - parallel: true
long:
  cmd.script:
    - source: salt://long.sh
    - parallel: true
{{ grains.root }}:
  broken.soon: []
`,
      'states/_states/broken.ts': `import { existsSync } from 'node:fs';

/** Breaks the runtime as soon as the others are under way. */
export const soon = (name: string) =>
  new Promise(() => {
    const look = () => {
      if (existsSync(name + '/begun') && existsSync(name + '/checking')) throw new Error('broken');
      setTimeout(look, 20);
    };
    setTimeout(look, 20);
  });
`,
    },
  });
});
afterAll(() => project.close());

test('a run leaves no temporary file on the host', async () => {
  const { code, stdout } = await project.run('web1', 'state.apply', 'short');

  expect(code, stdout).toBe(0);
  expect(readdirSync(temporary)).toEqual([]);
});

test('nor does a runtime that breaks down while programs work on theirs', async () => {
  const root = project.hosts.web1?.root ?? '';
  mkdirSync(join(root, 'checked'));
  writeFileSync(join(root, 'checked/other'), '');

  const { stdout, stderr } = await project.run('web1', 'state.apply', 'broken');

  expect(stdout + stderr).toContain('The runtime on the host failed: broken');
  expect(existsSync(join(root, 'begun'))).toBe(true);
  // The host is done a moment after it said so.
  await expect.poll(() => readdirSync(temporary)).toEqual([]);
  expect(readdirSync(join(root, 'checked'))).toEqual(['other']);
});
