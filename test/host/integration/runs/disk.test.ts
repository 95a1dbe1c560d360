import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let root = '';

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/_states/watch_disk.ts': `import fs from 'node:fs';

/** Notes from now on what reaches the disk and what takes its name. */
export const on = (name: string) => {
  const note = (text: string) => fs.appendFileSync(name, text + '\\n');
  const nameOf = (fd: number) => fs.readlinkSync('/proc/self/fd/' + fd).replace(/^.*\\//, '');
  fs.writeFileSync(name, '');
  const { fsync, fsyncSync, renameSync } = fs;
  fs.fsyncSync = fd => { note('kept ' + nameOf(fd).split('.')[1]); fsyncSync(fd); };
  fs.fsync = (fd, done) => { note('kept ' + nameOf(fd)); fsync(fd, done); };
  fs.renameSync = (from, to) => { note('named ' + String(to).replace(/^.*\\//, '')); renameSync(from, to); };
  return { name, result: true, changes: {}, comment: '' };
};
`,
      'states/files.sls': `{{ grains.root }}/log:
  watch_disk.on: []
{{ grains.root }}/new:
  file.managed:
    - contents: new
{% if grains.uid == 0 %}
{{ grains.root }}/hidden:
  file.managed:
    - contents: new
    - mode: '0200'
{% endif %}
{{ grains.root }}/old:
  file.managed:
    - contents: new
last:
  test.nop: []
`,
    },
  });
  root = project.hosts.web1?.root ?? '';
});
afterAll(() => project.close());

test('a replacement is on the disk before it takes the name, new files when the run ends', {
  tags: 'slow',
}, async () => {
  writeFileSync(join(root, 'old'), 'old');

  const { code, stdout } = await project.run('web1', 'state.apply', 'files');

  expect(code, stdout).toBe(0);
  const log = readFileSync(join(root, 'log'), 'utf8').trim().split('\n');
  const files = log.filter(line => / (?:new|hidden|old)$/.test(line));
  expect(files).toEqual([
    'named new',
    ...(process.getuid?.() === 0 ? ['kept hidden', 'named hidden'] : []),
    'kept old',
    'named old',
    'kept new',
  ]);
});
