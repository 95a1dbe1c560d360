import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as sqlite from '../../../src/modules/sqlite3/exec/sqlite3.ts';
import {
  oneStatement,
  readQuoted,
  sqliteValue,
} from '../../../src/modules/sqlite3/sqlite-statement.ts';
import * as state from '../../../src/modules/sqlite3/states/sqlite3.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

test('one statement and nothing of the program itself is run', () => {
  expect(oneStatement(' -- why\n/* ; */ SELECT \';\', "a;b" /* ; */ ;\n -- end\n')).toBe(
    'SELECT \';\', "a;b" /* ; */',
  );
  expect(oneStatement("SELECT '\n.shell id\n/\n'")).toBe("SELECT '\n.shell id\n/\n'");
  expect(() => oneStatement('SELECT 1; DROP TABLE t')).toThrow('only execute one statement');
  expect(() => oneStatement('/* a */\n.shell id')).toThrow('near ".": syntax error');
  expect(() => oneStatement('SELECT 6\n/\n2')).toThrow('no line of only "/" or "go"');
  expect(() => oneStatement('SELECT 6\nGO\n.shell id')).toThrow('no line of only "/" or "go"');
  expect(() => oneStatement("SELECT 'a")).toThrow('a quote has no end');
});

test('values go there and come back as they are', () => {
  expect(sqliteValue("it's")).toBe("'it''s'");
  expect(sqliteValue('a\r\n')).toBe("CAST(X'610d0a' AS TEXT)");
  expect(() => sqliteValue([1])).toThrow('not lists');
  expect(
    readQuoted("'a','b'\n1,NULL\n-1.5,X'c3a4'\n'x,\n''y','9'\n9223372036854775807,''\n"),
  ).toEqual([
    ['a', 'b'],
    [1, null],
    [-1.5, 'ä'],
    ["x,\n'y", '9'],
    ['9223372036854775807', ''],
  ]);
});

test('a text of many megabytes is read whole', () => {
  const long = `${'a'.repeat(20_000_000)}''b`;
  expect(oneStatement(`SELECT '${long}';`)).toHaveLength(long.length + 9);
  expect(readQuoted(`'${long}',1\n`)).toEqual([[long.replaceAll("''", "'"), 1]]);
});

const missing = which('sqlite3') === undefined ? ' (needs sqlite3)' : '';

describe.skipIf(missing)(`databases of SQLite${missing}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-sqlite-'));
  const db = join(folder, 'a.db');
  const context = contextOf({ sqlite3: sqlite });
  const fetch = (sql: string) => within(context, () => sqlite.fetch(db, sql));

  beforeEach(() => {
    rmSync(db, { force: true });
    const made = spawnSync('sqlite3', [db], {
      input:
        "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT UNIQUE, age INT);\nINSERT INTO people VALUES (1, 'Ann', 30), (2, 'Bob', 40);\n",
      encoding: 'utf8',
    });
    expect(made.status, made.stderr).toBe(0);
  });
  afterAll(() => removeFolder(folder));

  /**
   * Test mode predicts and changes nothing, the run changes, and the next run has nothing to do.
   */
  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const before = spawnSync('sqlite3', [db, '.dump'], { encoding: 'utf8' }).stdout;
    const told = await within(testing(context), work);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    expect(spawnSync('sqlite3', [db, '.dump'], { encoding: 'utf8' }).stdout).toBe(before);
    const done = await within(context, work);
    expect(done, String(done.comment)).toMatchObject({ result: true, changes: told.changes });
    expect(await within(context, work)).toMatchObject({ result: true, changes: nothing });
    return done;
  };

  test('makes, replaces and drops tables', async () => {
    const columns = ['a INT', "b TEXT DEFAULT 'x;y'"];
    expect(await settles(() => state.table_present('we ird', db, columns))).toMatchObject({
      comment: "Created table 'we ird'",
      changes: { new: "CREATE TABLE `we ird` (a INT,b TEXT DEFAULT 'x;y')" },
    });
    await settles(() => state.table_present('t', db, 'CREATE TABLE t (\n  a INT -- one\n);\n'));
    const other = 'CREATE TABLE t (a TEXT)';
    expect(await within(context, () => state.table_present('t', db, other))).toMatchObject({
      result: false,
      comment: `Expected schema=${other}\nactual schema=CREATE TABLE t (\n  a INT -- one\n)`,
    });
    expect(await settles(() => state.table_present('t', db, other, { force: true }))).toMatchObject(
      { comment: "Replaced 't'" },
    );
    await settles(() => state.table_absent('we ird', db));
    expect(await within(context, () => sqlite.tables(db))).toEqual([['people'], ['t']]);
  });

  test('a table that cannot be replaced stays', async () => {
    const broken = 'CREATE TABLE people (';
    expect(
      await within(context, () => state.table_present('people', db, broken, { force: true })),
    ).toMatchObject({ result: false, changes: nothing });
    expect(await fetch('SELECT COUNT(*) FROM people')).toEqual([[2]]);
  });

  test('makes, changes and removes rows', async () => {
    const cara = { name: "C'ara", age: 50 };
    const by = { where_args: ["C'ara"] };
    const row = (data: object, more = {}) =>
      state.row_present('r', db, 'people', { ...data }, 'name = ?', { ...by, ...more });
    await settles(() => row(cara));
    expect(await within(context, () => row({ age: 51 }))).toMatchObject({
      result: false,
      comment: 'Existing data does not match desired state',
    });
    expect(await settles(() => row({ age: 51 }, { update: true }))).toMatchObject({
      comment: 'Row updated',
      changes: { old: { id: 3, name: "C'ara", age: 50 }, new: { age: 51 } },
    });
    await settles(() => state.row_absent('r', db, 'people', 'name = ?', ["C'ara"]));
    expect(
      await within(context, () => state.row_absent('r', db, 'people', 'age > 1')),
    ).toMatchObject({ result: false, comment: 'More than one row matched the specified query' });
    expect(
      await within(context, () =>
        state.row_present('r', db, 'people', { id: 9, name: 'Ann' }, 'id=9'),
      ),
    ).toMatchObject({ result: false, comment: 'UNIQUE constraint failed: people.name' });
  });

  test('a text with line ends of Windows is kept to the letter', async () => {
    const data = { name: 'a\r\nb\n.shell id\nä' };
    await settles(() =>
      state.row_present('r', db, 'people', data, 'name = ?', { where_args: [data.name] }),
    );
    expect(await fetch('SELECT name FROM people WHERE id = 3')).toEqual([[data.name]]);
  });

  test('test mode makes no file, and says what is not there', async () => {
    const missing = join(folder, 'new.db');
    const told = await within(testing(context), () => state.table_present('t', missing, ['a']));
    expect(told).toMatchObject({ result: null, changes: { new: 'CREATE TABLE `t` (a)' } });
    expect(await within(context, () => state.row_absent('r', missing, 't', 'a = 1'))).toMatchObject(
      { result: false, comment: 'no such table: t' },
    );
    expect(
      await within(testing(context), () => state.row_present('r', missing, 't', { a: 1 }, 'a=1')),
    ).toMatchObject({ result: null, comment: 'Row will be inserted into t' });
    expect(
      await within(testing(context), () => state.row_present('r', db, 't', { a: 1 }, 'a=1')),
    ).toMatchObject({ result: null });
    expect(existsSync(missing)).toBe(false);
  });

  test('a name of a database is a path from the root on, and nothing else', async () => {
    const name = join(folder, 'b.db').slice(1);
    const work = () => state.table_present('t', name, 'CREATE TABLE t (a)');
    expect((await settles(work)).comment).toBe("Created table 't'");
    expect(await within(context, () => sqlite.tables(`/${name}`))).toEqual([['t']]);
    expect(await within(context, () => sqlite.fetch(':memory:', 'SELECT 1'))).toEqual([[1]]);
    expect(existsSync('/:memory:')).toBe(false);
    const address = `file:${folder}/b.db?mode=memory`;
    await expect(within(context, () => sqlite.fetch(address, 'SELECT 1'))).rejects.toThrow(
      'unable to open',
    );
  });

  test('returns rows, and refuses more than one statement', async () => {
    expect(await fetch('SELECT *, 1.5, NULL FROM people')).toEqual([
      [1, 'Ann', 30, 1.5, null],
      [2, 'Bob', 40, 1.5, null],
    ]);
    expect(await within(context, () => sqlite.modify(db, 'DELETE FROM people;'))).toBe(true);
    expect(await fetch('SELECT * FROM people')).toEqual([]);
    await expect(fetch('SELECT * FROM nosuch')).rejects.toThrow(/^no such table: nosuch$/);
    expect(
      await within(context, () => state.row_absent('r', db, 'people', 'id=? OR name=?', [1])),
    ).toMatchObject({ result: false, comment: expect.stringContaining('uses 2, and there are 1') });
    await expect(fetch('SELECT 1; SELECT 2')).rejects.toThrow('one statement at a time');
    expect(await within(context, () => sqlite.fetch())).toBe(false);
    expect(await sqlite.sqlite_version()).toMatch(/^3\.\d+/);
  });
});
