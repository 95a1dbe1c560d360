import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { takeLock } from '../../../src/modules/_shared/commands/run-lock.ts';
import { readRollbackResult } from '../../../src/protocol/rollback.ts';
import { restoreAccounts, snapshotAccounts } from '../../../src/runtime/rollback/accounts.ts';
import { restoreFiles, snapshotFiles } from '../../../src/runtime/rollback/files.ts';
import { decide, rollbackHolder, takeRollbackNews } from '../../../src/runtime/rollback/folders.ts';
import { answerRollback } from '../../../src/runtime/rollback/rollback.ts';
import { takeRunLock } from '../../../src/runtime/run-lock.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let dir = '';
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'tsalt-guard-'));
});
afterEach(() => removeFolder(dir));

const at = (...parts: string[]): string => join(dir, ...parts);
const nobody = async (): Promise<ReadonlySet<string>> => new Set();

/** Calls a function as an ordinary user: root may read everything. Only until its first wait. */
const asNobody = <T>(work: () => T): T => {
  const isRoot = process.getuid?.() === 0;
  if (isRoot) process.seteuid?.(65534);
  try {
    return work();
  } finally {
    if (isRoot) process.seteuid?.(0);
  }
};

/** Everything in a folder, as far as a user could see a difference. */
const look = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map(name => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      const what = stat.isSymbolicLink()
        ? `-> ${readlinkSync(path)}`
        : stat.isFile()
          ? `${readFileSync(path, 'utf8')} ${stat.mtimeMs}`
          : '';
      return `${name} ${stat.mode.toString(8)} ${stat.uid}:${stat.gid} ${what}`;
    });

describe('files of a guarded run', () => {
  beforeEach(() => {
    mkdirSync(at('etc/ssh/conf.d'), { recursive: true });
    for (const [name, text] of Object.entries({ a: 'A', b: 'B', same: 'S', 'conf.d/c': 'C' }))
      writeFileSync(at('etc/ssh', name), text);
    for (const name of ['a', 'b']) utimesSync(at('etc/ssh', name), 1_000_000, 1_000_000);
    chmodSync(at('etc/ssh/a'), 0o640);
    symlinkSync('a', at('etc/ssh/link'));
  });

  test('are put back as they were, and new ones go', async () => {
    const before = look(at('etc'));
    const kept = snapshotFiles([at('etc/ssh'), at('etc/none')]);
    writeFileSync(at('etc/ssh/a'), 'other');
    chmodSync(at('etc/ssh/a'), 0o600);
    rmSync(at('etc/ssh/b'));
    mkdirSync(at('etc/ssh/b'));
    writeFileSync(at('etc/ssh/b/inner'), 'x');
    rmSync(at('etc/ssh/conf.d'), { recursive: true });
    rmSync(at('etc/ssh/link'));
    symlinkSync('b', at('etc/ssh/link'));
    mkdirSync(at('etc/none/deep'), { recursive: true });
    writeFileSync(at('etc/none/deep/new'), 'new');

    const { restored, problems } = await restoreFiles(kept, nobody);

    expect(problems).toEqual([]);
    expect(look(at('etc')).map(line => line.replace(/(C) .*/, '$1'))).toEqual(
      before.map(line => line.replace(/(C) .*/, '$1')),
    );
    expect(restored).not.toContain(at('etc/ssh/same'));
    expect(restored).toEqual(
      expect.arrayContaining(
        ['ssh/a', 'ssh/b', 'ssh/link', 'ssh/conf.d', 'ssh/conf.d/c', 'none'].map(name =>
          at('etc', name),
        ),
      ),
    );
  });

  test('that a package brought stay', async () => {
    const kept = snapshotFiles([at('etc/ssh')]);
    writeFileSync(at('etc/ssh/brought'), 'x');
    writeFileSync(at('etc/ssh/new'), 'x');
    const owned = async (paths: readonly string[]) =>
      new Set(paths.filter(path => path.endsWith('brought')));
    expect((await restoreFiles(kept, owned)).restored).toEqual([at('etc/ssh/new')]);
  });

  test('reports paths that cannot be restored, and restores the others', async () => {
    const kept = snapshotFiles([at('etc/ssh')]);
    writeFileSync(at('etc/ssh/same'), 'other');
    rmSync(at('etc/ssh/conf.d'), { recursive: true });
    writeFileSync(at('etc/ssh/a'), 'other');
    const entries = new Map(kept.entries);
    const wrong = { ...entries.get(at('etc/ssh/a')), kind: 'file', content: 5 };
    entries.set(at('etc/ssh/a'), wrong as never);
    const { restored, problems } = await restoreFiles({ ...kept, entries }, nobody);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${at('etc/ssh/a')} could not be restored`);
    expect(restored).toContain(at('etc/ssh/same'));
    expect(readFileSync(at('etc/ssh/conf.d/c'), 'utf8')).toBe('C');
  });

  test('that the account must not read are left alone, or reported if they were changed', async () => {
    mkdirSync(at('etc/closed'));
    writeFileSync(at('etc/closed/inner'), 'I');
    writeFileSync(at('etc/sudoers'), 'root');
    const closed = [at('etc/closed'), at('etc/sudoers')];
    for (const path of [dir, at('etc')]) chmodSync(path, 0o755);
    for (const path of closed) chmodSync(path, 0o000);
    const inner = at('etc/closed/inner');
    const kept = asNobody(() => snapshotFiles([at('etc')]));
    const keptInner = asNobody(() => snapshotFiles([inner]));
    expect(await asNobody(() => restoreFiles(kept, nobody))).toEqual({
      restored: [],
      problems: [],
    });
    for (const path of closed) chmodSync(path, 0o755);
    const unread = (path: string): string =>
      `${path} could not be restored: before the run this account could not read it`;
    expect(await restoreFiles(kept, nobody)).toEqual({
      restored: [],
      problems: closed.map(unread),
    });
    expect(await restoreFiles(keptInner, nobody)).toEqual({
      restored: [],
      problems: [unread(inner)],
    });
    expect(readFileSync(inner, 'utf8')).toBe('I');
  });

  test('of more than 64 MiB are refused before anything runs', () => {
    writeFileSync(at('big'), Buffer.alloc(65 * 1024 * 1024));
    expect(() => snapshotFiles([at('big')])).toThrow(/64 MiB/);
  });
});

test('accounts get their own lines and groups back, others keep what they have now', async () => {
  mkdirSync(at('etc'));
  const files: Record<string, string> = {
    passwd: 'root:x:0:0::/root:/bin/sh\nops:x:1000:1000::/home/ops:/bin/sh\n',
    shadow: 'root:*:1::::::\nops:$6$old:1::::::\n',
    group: 'sudo:x:27:ops\nweb:x:33:\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(at('etc', name), text);
  const kept = snapshotAccounts(['root', 'ops'], dir);
  writeFileSync(
    at('etc/passwd'),
    'root:x:0:0::/root:/bin/sh\nnew:x:1001:1001::/home/new:/bin/sh\n',
  );
  writeFileSync(at('etc/shadow'), 'root:*:1::::::\nops:!$6$old:1::::::\nnew:!:1::::::\n');
  writeFileSync(at('etc/group'), 'sudo:x:27:new\nweb:x:33:ops\n');

  expect(await restoreAccounts(kept, dir)).toEqual({
    restored: ['/etc/passwd', '/etc/shadow', '/etc/group'],
    problems: [],
  });

  expect(readFileSync(at('etc/passwd'), 'utf8')).toBe(
    'root:x:0:0::/root:/bin/sh\nnew:x:1001:1001::/home/new:/bin/sh\nops:x:1000:1000::/home/ops:/bin/sh\n',
  );
  expect(readFileSync(at('etc/shadow'), 'utf8')).toBe(
    'root:*:1::::::\nops:$6$old:1::::::\nnew:!:1::::::\n',
  );
  expect(readFileSync(at('etc/group'), 'utf8')).toBe('sudo:x:27:new,ops\nweb:x:33:ops\n');
  expect((await restoreAccounts(kept, dir)).restored).toEqual([]);
});

describe('the folder of a guarded run', () => {
  const id = '0123456789abcdef';
  const gone = { pid: 2 ** 22 + 1, begun: '1', fun: 'state.apply --guard', since: '' };
  const guard = (...files: [string, unknown][]): string => {
    const folder = at(`guard-${id}`);
    mkdirSync(folder);
    for (const [name, content] of files)
      writeFileSync(join(folder, name), JSON.stringify(content ?? ''));
    return folder;
  };
  const params = { chunks: [], opts: { id: 'web1', test: false, saltenv: 'base' } };

  test('holds the host for others until it is settled', async () => {
    takeLock(guard(['ended', '']), 'state.apply --guard');
    const place = { dir, isStopping: () => false, log: () => undefined };
    await expect(takeRunLock(params, place)).rejects.toThrow(
      `The function "state.apply --guard" is running as PID ${process.pid}`,
    );
    rmSync(at(`guard-${id}`), { recursive: true });
    (await takeRunLock(params, place))?.release();
  });

  test('is confirmed once, and only where the run has ended', async () => {
    const folder = guard(['ended', '']);
    takeLock(folder, 'state.apply --guard');
    expect(await answerRollback(dir, { id, keep: true })).toMatchObject({ confirmed: true });
    expect(decide(folder)).toBe(false);
  });

  test('returns what was restored, and is removed', async () => {
    const outcome = { confirmed: false, restored: ['/etc/hosts'], problems: [] };
    guard(['run.lock', gone], ['ended', ''], ['outcome.json', outcome]);
    expect(rollbackHolder(dir)).toBeUndefined();
    expect(await answerRollback(dir, { id, keep: true })).toEqual(outcome);
    expect(readdirSync(dir)).toEqual([]);
  });

  test('is reported by the next run, once, if its watchdog is gone', async () => {
    const said: string[] = [];
    guard(['run.lock', gone], ['ended', '']);
    await expect(answerRollback(dir, { id, keep: true })).rejects.toThrow(/is not there any more/);
    guard(['outcome.json', { confirmed: false, restored: ['/etc/hosts'], problems: ['x'] }]);
    takeRollbackNews(dir, message => said.push(message));
    takeRollbackNews(dir, message => said.push(message));
    expect(said).toEqual(['An earlier guarded run was not confirmed: restored /etc/hosts; x.']);
  });

  test.each(['', '../../etc', '0123456789ABCDEF'])('has a name of digits alone: %j', async name => {
    await expect(answerRollback(dir, { id: name, keep: true })).rejects.toThrow(/not the name/);
    expect(statSync(dir).isDirectory()).toBe(true);
  });

  test.each([null, 5, [], {}, { confirmed: 'yes' }])('what a host says is data: %j', said => {
    expect(readRollbackResult(said)).toBeUndefined();
    expect(readRollbackResult({ confirmed: false, restored: [1, 'a', {}], problems: 'x' })).toEqual(
      {
        confirmed: false,
        restored: ['a'],
        problems: [],
      },
    );
  });
});
