import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasSshd, startSshd } from '../../../helpers/sshd.ts';

const folders = 1000;
const filesOfFolder = 100;

const names = Array.from({ length: folders }, (_, at) => `d${at}`).flatMap(folder =>
  Array.from({ length: filesOfFolder }, (_, at) => `${folder}/f${at}`),
);

const contentOf = (name: string): string => `content of ${name}\n`.repeat(name.length);

type Answer = {
  readonly result: boolean;
  readonly comment: string;
  readonly changes: Readonly<Record<string, unknown>>;
};

describe.skipIf(!hasSshd)('a folder of 100,000 files', { tags: 'slow', timeout: 600_000 }, () => {
  let project: Project;
  let close: (() => Promise<void>) | undefined;
  const target = (name = ''): string => join(project.dir, 'target', name);

  const apply = async (): Promise<Answer> => {
    const { code, stdout, stderr } = await project.run(
      ...['web1', 'state.apply', 'many', '--out=json', '--static'],
    );
    expect(code, stderr).toBe(0);
    const [answer] = Object.values(JSON.parse(stdout).web1 as Record<string, Answer>);
    if (!answer) throw new Error('The run has no state.');
    expect(answer.result, answer.comment).toBe(true);
    return answer;
  };

  beforeAll(async () => {
    project = await startProject({ hosts: [] });
    const sshd = await startSshd({ dir: join(project.dir, 'sshd') });
    close = sshd.close;
    project.write({
      known_hosts: `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`,
      'roster.yaml': `web1: {host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}, thin_dir: ${project.dir}/work}\n`,
      'states/many.sls': `${target()}:\n  file.recurse:\n    - source: salt://tree\n`,
    });
    const tree = join(project.dir, 'states/tree');
    for (let at = 0; at < folders; at += 1) mkdirSync(join(tree, `d${at}`), { recursive: true });
    for (const name of names) writeFileSync(join(tree, name), contentOf(name));
  }, 120_000);
  afterAll(async () => {
    await close?.();
    await project.close();
  }, 120_000);

  test('it is made, then found as it should be, and then only what is missing or differs is made', async () => {
    const first = await apply();

    expect(Object.keys(first.changes)).toHaveLength(folders + names.length);
    for (const name of names) expect(readFileSync(target(name), 'utf8')).toBe(contentOf(name));

    const stamps = names.map(name => lstatSync(target(name)).ctimeMs);
    const second = await apply();

    expect(second.changes).toEqual({});
    expect(names.map(name => lstatSync(target(name)).ctimeMs)).toEqual(stamps);

    rmSync(target('d500'), { recursive: true });
    writeFileSync(target('d7/f7'), 'another\n');
    const third = await apply();

    expect(Object.keys(third.changes).toSorted()).toEqual(
      [
        target('d500'),
        target('d7/f7'),
        ...names.filter(name => name.startsWith('d500/')).map(target),
      ].toSorted(),
    );
    expect(readdirSync(target('d500'))).toHaveLength(filesOfFolder);
    expect(readFileSync(target('d7/f7'), 'utf8')).toBe(contentOf('d7/f7'));
  });
});
