import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let root: string;
const web = createServer((_, response) =>
  response.setHeader('content-type', 'application/json').end('{"up": true}'),
);

beforeAll(async () => {
  project = await startProject();
  root = join(project.hosts.web1?.root ?? '', 'filters');
  mkdirSync(join(root, 'sub'), { recursive: true });
  writeFileSync(join(root, 'plain.txt'), 'one\n');
  writeFileSync(join(root, 'empty'), '');
  writeFileSync(join(root, 'sub', 'zeros'), Buffer.from([1, 0, 2]));
  writeFileSync(join(root, 'latin'), Buffer.from('caf\xe9 au lait\n', 'latin1'));
  await new Promise<void>(resolve => web.listen(0, '127.0.0.1', resolve));
});

afterAll(async () => {
  web.close();
  await project?.close();
});

/** The results of each filter in an SLS with one state, by name. */
const answers = async (head: string, filters: Readonly<Record<string, string>>) => {
  const lines = Object.entries(filters).map(([name, text]) => `    - ${name}: {{ ${text} }}\n`);
  project.write({ 'states/look.sls': `#!${head}|yaml\nlook:\n  test.nop:\n${lines.join('')}` });
  const run = await project.run('web1', 'state.show_low_sls', 'look', '--out=json');
  expect(run.stderr).toBe('');
  const [chunk] = (run.json() as { web1: Record<string, unknown>[] }).web1;
  return chunk;
};

test('filters on files, users and names ask the host, in Jinja', { tags: 'slow' }, async () => {
  const port = (web.address() as AddressInfo).port;
  const chunk = await answers('jinja', {
    shell: "'sh' | which",
    nothing: "'no-such-program' | which",
    uid: "'root' | get_uid",
    nobody: "'no-such-user' | get_uid",
    sum: `'${root}/plain.txt' | file_hashsum`,
    md5: `'${root}/plain.txt' | file_hashsum(form='md5')`,
    files: `'${root}' | list_files | sort | json`,
    gone: `'${root}/gone' | list_files | json`,
    empty: `['empty', 'plain.txt', 'gone'] | map('regex_replace', '^', '${root}/') | map('is_empty') | list | json`,
    text: `['empty', 'plain.txt', 'sub/zeros', 'latin', 'gone', 'sub'] | map('regex_replace', '^', '${root}/') | map('is_text_file') | list | json`,
    binary: `['empty', 'plain.txt', 'sub/zeros', 'latin', 'gone', 'sub'] | map('regex_replace', '^', '${root}/') | map('is_bin_file') | list | json`,
    address: `'127.0.0.1' | dns_check(port=${port})`,
    page: `('http://127.0.0.1:${port}/' | http_query(decode=true)).dict.up`,
  });
  const digest = (kind: string) => createHash(kind).update('one\n').digest('hex');
  expect(chunk).toMatchObject({
    shell: expect.stringMatching(/\/sh$/),
    nothing: 'None',
    uid: 0,
    nobody: 'None',
    sum: digest('sha256'),
    md5: digest('md5'),
    files: ['', '/empty', '/latin', '/plain.txt', '/sub', '/sub/zeros'].map(path => root + path),
    gone: [`${root}/gone`],
    empty: [true, false, false],
    text: [true, true, false, true, false, false],
    binary: [false, false, true, true, false, false],
    address: '127.0.0.1',
    page: true,
  });
});

test('the same filters exist in Liquid', async () => {
  const chunk = await answers('liquid', {
    shell: "'sh' | which",
    uid: "'root' | get_uid",
    md5: `'${root}/plain.txt' | file_hashsum: form: 'md5'`,
    files: `'${root}/sub' | list_files | json`,
    empty: `'${root}/empty' | is_empty`,
    text: `'${root}/latin' | is_text_file`,
    binary: `'${root}/sub/zeros' | is_bin_file`,
  });
  expect(chunk).toMatchObject({
    shell: expect.stringMatching(/\/sh$/),
    uid: 0,
    md5: createHash('md5').update('one\n').digest('hex'),
    files: [`${root}/sub`, `${root}/sub/zeros`],
    empty: true,
    text: true,
    binary: true,
  });
});

test('a name that no DNS knows is an error of the template', async () => {
  project.write({
    'states/dns.sls':
      "#!jinja|yaml\na:\n  test.nop:\n    - x: {{ 'no.such.invalid' | dns_check(80) }}\n",
  });
  const run = await project.run('web1', 'state.show_low_sls', 'dns', '--out=json');
  expect(run.code).not.toBe(0);
  expect(run.stdout + run.stderr).toContain(
    "the DNS lookup of 'no.such.invalid' on the host returned no address",
  );
});
