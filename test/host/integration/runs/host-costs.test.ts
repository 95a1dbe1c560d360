import { userInfo } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canCount, countRuns, type HostCounts } from '../../../helpers/host-counts.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

/** Counts, not times: they are the same on a busy machine. The bounds are a little above them. */
describe.skipIf(!canCount)('costs on the host (needs strace)', () => {
  let project: Project;
  let run: ReturnType<typeof countRuns>;
  const counts: Record<string, HostCounts> = {};

  const sls = (count: number, lines: string): string =>
    Array.from(
      { length: count },
      (_, at) => `{{ grains.folder }}/${count}/f${at}:
  file.managed:
    - user: ${userInfo().username}
    - group: ${userInfo().gid}
    - mode: '0644'
    - makedirs: true
${lines.replaceAll('NUMBER', String(at))}`,
    ).join('');
  const contents = '    - contents: number NUMBER\n';
  const template =
    '    - source: salt://one.liquid\n    - template: liquid\n    - context: {number: NUMBER}\n';

  const folder = (count: number): Record<string, string> => ({
    ...Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`states/tree${count}/f${at}`, `number ${at}\n`]),
    ),
    [`states/recurse${count}.sls`]: `{{ grains.folder }}/tree${count}:
  file.recurse:
    - source: salt://tree${count}
    - user: ${userInfo().username}
    - file_mode: keep
`,
  });

  beforeAll(async () => {
    project = await startProject({
      hosts: [],
      files: {
        'states/nothing.sls': 'nothing:\n  test.nop: []\n',
        'states/one.liquid': 'number {{ number }}\n',
        'states/template10.sls': sls(10, template),
        'states/contents100.sls': sls(100, contents),
        'states/contents1000.sls': sls(1000, contents),
        'states/template100.sls': sls(100, template),
        'states/template1000.sls': sls(1000, template),
        ...folder(100),
        ...folder(1000),
      },
    });
    project.write({
      'tsalt.yaml': `cachedir: cache\ngrains: {folder: ${project.dir}/target}\n`,
    });
    run = countRuns(project);
    // The first run keeps the grains, the second one makes the code cache of runs without them.
    await project.run('@local', 'test.ping');
    await project.run('@local', 'test.ping');
    await project.run('@local', 'state.apply', 'nothing');
    // Files of the workspace are hashed until they are older than a clock's tick. The next run syncs them.
    await sleep(200);
    await project.run('@local', 'test.ping');
    await project.run('@local', 'state.apply', 'nothing');
    await project.run('@local', 'test.attr_call');
    counts.ping = (await run('test.ping')).counts;
    await project.run('@local', 'user.info', 'root');
    counts.block = (await run('user.info', 'root')).counts;
    counts.grains = (await run('test.attr_call')).counts;
    counts.sleep = (await run('test.sleep', '0.2')).counts;
    for (const name of [
      ...['contents100', 'contents1000', 'template10', 'template100', 'template1000'],
      ...['recurse100', 'recurse1000'],
    ])
      for (const kind of ['new', 'unchanged']) {
        if (kind === 'new') await project.run('@local', 'file.remove', `${project.dir}/target`);
        const done = await run('state.apply', name);
        expect(done.result.stderr).toBe('');
        expect(done.result.code).toBe(0);
        counts[`${kind} ${name}`] = done.counts;
      }
  });
  afterAll(() => project?.close());

  /** Of one state: what 900 states more cost more. */
  const perState = (kind: string, pick: (counts: HostCounts) => number): number =>
    (pick(counts[`${kind}1000`] as HostCounts) - pick(counts[`${kind}100`] as HostCounts)) / 900;

  const countLooks = (calls: HostCounts['calls']): number =>
    ['statx', 'newfstatat', 'fstat', 'lstat', 'stat'].reduce(
      (sum, name) => sum + (calls[name] ?? 0),
      0,
    );
  const looks = ({ calls }: HostCounts): number => countLooks(calls);
  const vainLooks = ({ failed }: HostCounts): number => countLooks(failed);
  const opens = ({ calls }: HostCounts): number => calls.openat ?? 0;

  test('a ping reads the artifact, its code cache and that both were checked, calls few functions, loads no slow module of Node', () => {
    const { calls, functions, builtins, opened, read } = counts.ping as HostCounts;
    expect(opened.filter(path => /\/[0-9a-f]{64}\.js/.test(path))).toHaveLength(3);
    expect(functions).toBeGreaterThan(200);
    expect(functions).toBeLessThanOrEqual(360);
    // Of 2.3 MB.
    expect(read).toBeLessThan(1_200_000);
    expect(builtins).toEqual([]);
    // The wrapper's own execve is one.
    expect(calls.execve).toBe(1);
    expect(calls.fsync).toBeUndefined();
  });

  test('a function in a block opens the code of that beside what a ping opens, and nothing is synced', () => {
    const own = ({ opened }: HostCounts): readonly string[] =>
      opened.filter(path => /\/[0-9a-f]{64}\.js/.test(path));
    const [ping, block] = [counts.ping, counts.block].map(one => own(one as HostCounts));
    const more = block?.slice(ping?.length) ?? [];

    expect(more).toEqual([expect.stringMatching(/\.cache\.\d+$/)]);
    expect(counts.block?.calls.fsync).toBeUndefined();
  });

  test('a ping reads nothing of the system once the artifact runs, where a function of grains does', () => {
    const after = ({ opened }: HostCounts): readonly string[] =>
      opened
        .slice(opened.findLastIndex(path => /\/[0-9a-f]{64}\.js/.test(path)))
        .filter(path => /^\/(?:etc|proc|sys|usr)\//.test(path));

    expect(after(counts.grains as HostCounts)).toContain('/etc/machine-id');
    expect(after(counts.ping as HostCounts)).toEqual([]);
  });

  test.each([
    // A pause makes some: on a busy machine there are more of them. A state that waits makes 25.
    { kind: 'unchanged contents', promises: 2 },
    // States may wait for a piece with their templates, which takes some 40. Where the machine is busy,
    // several of fifty do.
    { kind: 'unchanged template', promises: 5 },
  ])(
    '$kind: a state looks at its path once, and opens and reads its file once',
    ({ kind, promises }) => {
      expect(perState(kind, opens)).toBeCloseTo(1, 1);
      // The path, the open file, /etc/passwd.
      expect(perState(kind, looks)).toBeLessThanOrEqual(3.1);
      expect(perState(kind, one => one.promises)).toBeLessThanOrEqual(promises);
      expect(perState(kind, one => one.sent)).toBeLessThanOrEqual(1100);
      const { calls } = counts[`${kind}1000`] as HostCounts;
      expect(calls.fsync).toBeUndefined();
      expect(calls.rename).toBeUndefined();
      expect(calls.execve).toBe(1);
    },
  );

  test('a run of few templates loads neither what hashes nor what opens streams', () => {
    expect(counts['unchanged template1000']?.builtins).toEqual(
      expect.arrayContaining(['crypto', 'net']),
    );
    expect(counts['unchanged template10']?.builtins).toEqual([]);
    // On a slow disk it reads on, by a stream.
    expect(counts['new template10']?.builtins.filter(name => name !== 'net')).toEqual([]);
  });

  test('a short call that has to wait, as all do on a busy machine, opens no stream', () => {
    expect(counts.sleep?.builtins).toEqual([]);
  });

  test('states that read no grains collect them in their first run only', () => {
    const hasCollected = ({ opened }: HostCounts): boolean => opened.includes('/etc/machine-id');
    for (const name of ['contents100', 'template100', 'recurse100']) {
      expect(hasCollected(counts[`new ${name}`] as HostCounts)).toBe(true);
      expect(hasCollected(counts[`unchanged ${name}`] as HostCounts)).toBe(false);
    }
  });

  test('an unchanged file of file.recurse is looked at and compared, without a state of its own', () => {
    const kind = 'unchanged recurse';
    expect(perState(kind, opens)).toBeCloseTo(1, 1);
    // The path, and the open file.
    expect(perState(kind, looks)).toBeLessThanOrEqual(2.1);
    expect(perState(kind, one => one.promises)).toBeLessThanOrEqual(1);
  });

  test('a new file of file.recurse is made without a state of its own', () => {
    const kind = 'new recurse';
    expect(perState(kind, opens)).toBeLessThanOrEqual(1.1);
    // The path, and the temporary file.
    expect(perState(kind, looks)).toBeLessThanOrEqual(2.2);
    expect(perState(kind, one => one.calls.rename ?? 0)).toBeCloseTo(1, 1);
    // A state that waits makes 25. A pause, which a slow machine makes more often, makes a few.
    expect(perState(kind, one => one.promises)).toBeLessThanOrEqual(2);
  });

  test.each([
    { kind: 'new contents', promises: 2, vain: 1.1 },
    // Those wait whose text has not arrived: few of 256, but more where both sides share a busy processor.
    { kind: 'new template', promises: 12, vain: 2.1 },
  ])(
    '$kind: a state makes one file and renames it; one sync is for all of them',
    ({ kind, promises, vain }) => {
      expect(perState(kind, opens)).toBeLessThanOrEqual(1.1);
      // /etc/passwd, the directory, and twice the temporary file.
      expect(perState(kind, looks)).toBeLessThanOrEqual(4.2);
      // The path when the state begins, and when its content is requested.
      expect(perState(kind, vainLooks)).toBeLessThanOrEqual(vain);
      expect(perState(kind, one => one.calls.rename ?? 0)).toBeCloseTo(1, 1);
      expect(perState(kind, one => one.promises)).toBeLessThanOrEqual(promises);
      const { calls } = counts[`${kind}1000`] as HostCounts;
      expect(calls.fsync).toBeUndefined();
      expect(calls.syncfs).toBe(1);
      // The wrapper's own, and `sync -f`.
      expect(calls.execve).toBe(2);
    },
  );

  test('1,000 states call the functions that 100 do', () => {
    const more = (kind: string): number =>
      Math.abs((counts[`${kind}1000`]?.functions ?? 0) - (counts[`${kind}100`]?.functions ?? 0));
    expect(more('unchanged contents')).toBeLessThanOrEqual(40);
    // The functions of a state that waits for its template.
    expect(more('unchanged template')).toBeLessThanOrEqual(200);
    // Some 30 of them name the exports of a file, in place of thousands that were made at the start.
    expect(counts['unchanged template100']?.functions).toBeLessThanOrEqual(900);
    expect(counts['unchanged contents100']?.functions).toBeLessThanOrEqual(800);
  });
});
