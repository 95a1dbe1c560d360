// @module-tag slow
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../../src/modules/_shared/commands/which.ts';
import { canCount, countRuns } from '../../../helpers/host-counts.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

const isAble =
  canCount &&
  process.getuid?.() === 0 &&
  which('useradd') !== undefined &&
  spawnSync('unshare', ['-m', 'true']).status === 0;

const byStates = ['/etc/group', '/etc/passwd'];
/** Also by the grains `username` and `groupname`, which the first run of these states collects. */
const byGrainsToo = ['/etc/group', '/etc/group', '/etc/passwd', '/etc/passwd'];

const accounts = 50_000;
const name = (at: number): string => `tsalt-u${at}`;
const id = (at: number): number => 1_000_000 + at;

/** Counts, not times, of runs that see an /etc with very many accounts. */
describe.skipIf(!isAble)('50,000 accounts (needs root, namespaces, strace, useradd)', () => {
  let project: Project;
  let run: ReturnType<typeof countRuns>;

  const file = (path: string, more: string): string =>
    `{{ grains.folder }}/${path}:\n  file.managed:\n    - contents: one\n    - makedirs: true\n${more}`;

  /** Files that belong to the accounts of `users`, one after the other. */
  const sls = (folder: string, count: number, users: number): string =>
    Array.from({ length: count }, (_, at) => {
      const owner = name(accounts - 1 - (at % users));
      return file(`${folder}/f${at}`, `    - user: ${owner}\n    - group: ${owner}\n`);
    }).join('');

  beforeAll(async () => {
    project = await startProject({
      hosts: [],
      files: {
        'states/one10.sls': sls('one10', 10, 1),
        'states/one100.sls': sls('one100', 100, 1),
        'states/many10.sls': sls('many10', 10, 10),
        'states/many100.sls': sls('many100', 100, 100),
        'states/made.sls': `before:
  cmd.run:
    - name: test -z "$(getent passwd tsalt-new)"
${file('first', `    - user: ${name(7)}\n    - group: ${name(7)}\n`)}
tsalt-new:
  group.present:
    - gid: 2000001
  user.present:
    - uid: 2000001
    - gid: 2000001
    - createhome: false
${file('second', '    - user: tsalt-new\n    - group: tsalt-new\n')}
groupadd -g 2000002 tsalt-other && useradd -M -u 2000002 -g tsalt-other tsalt-other:
  cmd.run
${file('third', '    - user: tsalt-other\n    - group: tsalt-other\n')}
usermod -u 2000003 tsalt-other:
  cmd.run
${file('fourth', '    - user: tsalt-other\n    - group: tsalt-other\n')}`,
      },
    });
    project.write({
      'tsalt.yaml': `cachedir: cache\ngrains: {folder: ${project.dir}/target}\n`,
    });
    const etc = join(project.dir, 'etc');
    mkdirSync(etc);
    execFileSync('cp', ['-a', '/etc/.', etc]);
    const lines = (rest: (at: number) => string): string =>
      Array.from({ length: accounts }, (_, at) => `${name(at)}:x:${id(at)}:${rest(at)}\n`).join('');
    appendFileSync(
      join(etc, 'passwd'),
      lines(at => `${id(at)}::/nonexistent:/bin/false`),
    );
    appendFileSync(
      join(etc, 'group'),
      lines(() => ''),
    );
    run = countRuns(project, `exec unshare -m sh -c 'mount --bind ${etc} /etc && exec "$@"' sh`);
    for (let times = 0; times < 2; times += 1) await run('test.ping');
    // Files of the workspace are hashed until they are older than a clock's tick.
    await sleep(300);
    await run('test.ping');
  });
  afterAll(() => project?.close());

  const applied = async (sls: string): Promise<readonly string[]> => {
    const { result, counts } = await run('state.apply', sls);
    expect(result.stderr).toBe('');
    expect({ code: result.code, stdout: result.code === 0 ? '' : result.stdout }).toEqual({
      code: 0,
      stdout: '',
    });
    return counts.opened.filter(path => /^\/etc\/(?:passwd|group)$/.test(path)).toSorted();
  };

  test.each(['one', 'many'])(
    'new and unchanged files, owners: %s: 100 states read accounts once, as 10 do',
    async owners => {
      for (const expected of [byGrainsToo, byStates])
        for (const count of [10, 100]) expect(await applied(`${owners}${count}`)).toEqual(expected);
      const { uid, gid } = statSync(join(project.dir, `target/${owners}100/f99`));
      const owner = id(accounts - 1 - (owners === 'one' ? 0 : 99));
      expect({ uid, gid }).toEqual({ uid: owner, gid: owner });
    },
  );

  test('accounts that states make and change are seen by the states that follow', async () => {
    await applied('made');
    const owners = ['first', 'second', 'third', 'fourth'].map(path => {
      const { uid, gid } = statSync(join(project.dir, 'target', path));
      return [uid, gid];
    });
    expect(owners).toEqual([
      [id(7), id(7)],
      [2_000_001, 2_000_001],
      [2_000_002, 2_000_002],
      [2_000_003, 2_000_002],
    ]);
    expect(readFileSync('/etc/passwd', 'utf8')).not.toContain('tsalt-');
  });
});
