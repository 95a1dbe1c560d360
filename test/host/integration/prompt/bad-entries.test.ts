import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
beforeAll(async () => {
  project = await startProject({ hosts: ['web1'] });
});
afterAll(() => project.close());

const roster = (...lines: string[]): void =>
  project.roster(`${project.hosts.web1?.entry}${lines.join('\n')}\n`);

const long = 'x'.repeat(300);

test('wrong roster entries fail alone, each with its place and reason', async () => {
  roster(
    'bad-key: {host: 192.0.2.1, usr: root}',
    'bad-port: {host: 192.0.2.1, port: none}',
    'bad-kind: 7',
    `"h\u{1f680}": {host: 192.0.2.1}`,
    `${long}: {host: 192.0.2.1}`,
  );
  const { code, stdout } = await project.run('*', 'test.ping', '--static', '--out', 'json');
  expect(code).toBe(64);
  const { web1, ...others } = JSON.parse(stdout) as Record<string, unknown>;
  expect(web1).toBe(true);
  const file = `${project.dir}/roster.yaml`;
  expect(others).toEqual({
    'bad-key': `The roster entry 'bad-key' has an unknown key 'usr'. (${file}:7:28)\nDid you mean 'user'?`,
    'bad-port': `The value of 'port' must be a port from 1 to 65535, not 'none'. (${file}:8:29)`,
    'bad-kind': `The roster entry 'bad-kind' must be a host name or a mapping, not 7. (${file}:9:1)`,
    'h\u{1f680}': expect.stringMatching(
      /characters that an id must not have: "\u{1f680}" \(U\+1F680\)\. \(.*roster\.yaml:10:1\)/u,
    ),
    [long]: expect.stringMatching(
      /^An id is too long: it has 300 characters and starts with "x{40}"\. \(.*roster\.yaml:11:1\)/,
    ),
  });
});

test('a run that does not ask for the wrong entry is not disturbed by it', async () => {
  roster('bad-key: {host: 192.0.2.1, usr: root}');
  expect(await project.run('web1', 'test.ping')).toMatchObject({ code: 0, stderr: '' });
  const listed = await project.run('-H');
  expect(listed.stdout).toContain("has an unknown key 'usr'");
  expect(listed.stdout).toContain('127.0.0.1');
});

test('a roster without any right entry is refused before the run', async () => {
  project.roster('a: {usr: x}\nb: {usr: y}\n');
  const { code, stdout, stderr } = await project.run('*', 'test.ping');
  expect({ code, stdout }).toEqual({ code: 64, stdout: '' });
  expect(stderr).toContain(`(${project.dir}/roster.yaml:1:5)`);
});
