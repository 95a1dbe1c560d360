import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readAccounts } from '../../../src/modules/_shared/commands/accounts.ts';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as accounts from '../../../src/modules/mysql/exec/mysql/accounts.ts';
import * as databases from '../../../src/modules/mysql/exec/mysql/databases.ts';
import * as rights from '../../../src/modules/mysql/exec/mysql/grants.ts';
import * as maintenance from '../../../src/modules/mysql/exec/mysql/maintenance.ts';
import * as server from '../../../src/modules/mysql/exec/mysql/server.ts';
import { covers, parseGrant, splitRights } from '../../../src/modules/mysql/mysql-grant.ts';
import * as database from '../../../src/modules/mysql/states/mysql_database.ts';
import * as grants from '../../../src/modules/mysql/states/mysql_grants.ts';
import * as query from '../../../src/modules/mysql/states/mysql_query.ts';
import * as user from '../../../src/modules/mysql/states/mysql_user.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const daemon = which('mariadbd');
const canRun = process.getuid?.() === 0 && daemon !== undefined && which('mariadb-install-db');

test('reads what SHOW GRANTS of MySQL and MariaDB says', () => {
  expect(
    parseGrant('GRANT SELECT (a, b), INSERT ON `sh\\_op`.`it``em` TO `shop`@`%` WITH GRANT OPTION'),
  ).toEqual({
    grant: ['SELECT (a, b)', 'INSERT'],
    database: 'sh_op.item',
    user: 'shop',
    host: '%',
    grantOption: true,
  });
  expect(
    parseGrant("GRANT USAGE ON *.* TO 'x'@'localhost' IDENTIFIED BY PASSWORD '*AB'")?.grant,
  ).toEqual(['USAGE']);
  expect(parseGrant('GRANT `reader`@`%` TO `shop`@`%`')).toBe(undefined);
  expect(splitRights('select (b,a),all, Create  View')).toEqual([
    'SELECT (a, b)',
    'ALL PRIVILEGES',
    'CREATE VIEW',
  ]);
  const all = [parseGrant('GRANT ALL PRIVILEGES ON `a`.* TO `u`@`h`')].filter(
    one => one !== undefined,
  );
  expect(covers(all, { grant: ['SELECT'], database: 'a.*', grantOption: false })).toBe(true);
  expect(covers(all, { grant: ['SELECT'], database: 'a.*', grantOption: true })).toBe(false);
  expect(covers(all, { grant: ['SELECT'], database: 'b.*', grantOption: false })).toBe(false);
  // A privilege that no database has is not in ALL of one, but was reported as granted.
  for (const right of ['NOSUCH', 'REPLICATION SLAVE', 'FILE', 'SELECT (a)'])
    expect(covers(all, { grant: [right], database: 'a.*', grantOption: false }), right).toBe(false);
  const everywhere = [parseGrant('GRANT ALL PRIVILEGES ON *.* TO `u`@`h`')].filter(
    one => one !== undefined,
  );
  for (const right of ['REPLICATION SLAVE', 'SUPER', 'BINLOG_ADMIN', 'SHOW DATABASES', 'EVENT'])
    expect(covers(everywhere, { grant: [right], database: '*.*', grantOption: false })).toBe(true);
  expect(covers(everywhere, { grant: ['NOSUCH'], database: '*.*', grantOption: false })).toBe(
    false,
  );
});

describe.skipIf(!canRun)('a real MariaDB server', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-my-'));
  const where = { connection_unix_socket: join(folder, 'sock'), connection_user: 'root' };
  const context = contextOf({
    mysql: { ...maintenance, ...server, ...databases, ...accounts, ...rights },
  });
  let child: ChildProcess;
  const ask = (sql: string, base = 'mysql') =>
    within(context, () => server.query(base, sql, where));

  beforeAll(async () => {
    const account = (await readAccounts()).find(({ name }) => name === 'mysql');
    chownSync(folder, account?.uid ?? 0, account?.gid ?? 0);
    const common = ['--no-defaults', `--datadir=${join(folder, 'data')}`, '--user=mysql'];
    const made = spawnSync(
      'mariadb-install-db',
      [...common, '--auth-root-authentication-method=normal', '--skip-test-db'],
      { encoding: 'utf8' },
    );
    expect(made.status, made.stderr).toBe(0);
    child = spawn(
      String(daemon),
      [
        ...common,
        `--socket=${where.connection_unix_socket}`,
        '--skip-networking',
        `--pid-file=${join(folder, 'pid')}`,
        '--innodb-flush-log-at-trx-commit=0',
      ],
      { stdio: 'ignore' },
    );
    await vi.waitFor(() => expect(existsSync(where.connection_unix_socket)).toBe(true), {
      timeout: 120_000,
      interval: 100,
    });
  }, 240_000);

  afterAll(async () => {
    const ended = new Promise(resolve => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
    removeFolder(folder);
  });

  /** Test mode predicts, the run changes, and the next run has nothing to do. */
  const settles = async (state: () => Promise<StateReturn>): Promise<string> => {
    const told = await within(testing(context), state);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    const done = await within(context, state);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(Object.keys(done.changes).length).toBeGreaterThan(0);
    expect(await within(context, state)).toMatchObject({ result: true, changes: nothing });
    return String(done.comment);
  };

  test('makes, changes and removes a database', async () => {
    await settles(() => database.present('sh_op`1', { character_set: 'latin1', ...where }));
    expect(
      await settles(() =>
        database.present('sh_op`1', { character_set: 'utf8mb4', collate: 'utf8mb4_bin', ...where }),
      ),
    ).toBe(
      'Database character set utf8mb4 != latin1 needs to be updated\nDatabase collate utf8mb4_bin != latin1_swedish_ci needs to be updated',
    );
    const short = { character_set: 'utf8', collate: 'utf8_general_ci', ...where };
    await settles(() => database.present('sh_op`1', short));
    // The server reports utf8 as utf8mb3: nothing to do, and test mode knows it.
    expect(await within(testing(context), () => database.present('sh_op`1', short))).toMatchObject({
      result: true,
      comment: 'Database sh_op`1 is already present',
    });
    await settles(() => database.absent('sh_op`1', where));
    await settles(() => database.present('sh_op', where));
  });

  test('makes accounts that can log in, changes how, removes them', async () => {
    const name = `o'ha\\ra`;
    expect(await settles(() => user.present(name, { password: `it's "a\\b`, ...where }))).toBe(
      `The user ${name}@localhost has been added`,
    );
    const login = (password: string) =>
      within(context, () => server.verify_login(name, password, where));
    expect([await login(`it's "a\\b`), await login('wrong')]).toEqual([true, false]);
    await settles(() => user.present(name, { password: 'other', ...where }));
    expect([await login(`it's "a\\b`), await login('other')]).toEqual([false, true]);
    await settles(() =>
      user.present(name, { password_hash: '*6C8989366EAF75BB670AD8EA7A7FC1176A95CEF4', ...where }),
    );
    expect(await login('mypass')).toBe(true);
    await settles(() => user.present(name, { allow_passwordless: true, ...where }));
    await settles(() =>
      user.present(name, { allow_passwordless: true, unix_socket: true, ...where }),
    );
    await settles(() => user.absent(name, where));
    expect(await within(context, () => user.present('x', where))).toMatchObject({
      result: false,
      comment:
        'Either password or password_hash must be specified, unless allow_passwordless is True',
    });
  });

  test('knows an account by its host in any letters, and by the socket alone', async () => {
    const away = { host: 'DB.Example.com', password: 'pw', ...where };
    await settles(() => user.present('away', away));
    const info = await within(context, () => accounts.user_info('away', 'DB.Example.com', where));
    expect(info).toMatchObject({ Host: 'db.example.com', max_connections: 0 });
    await settles(() => user.absent('away', { host: 'DB.Example.com', ...where }));
    // With a password the socket does not count, and is not reported.
    const both = { password: 'pw', unix_socket: true, ...where };
    expect(await within(context, () => user.present('both', both))).toMatchObject({
      result: true,
      comment: 'The user both@localhost has been added',
    });
    await settles(() => user.absent('both', where));
    const bySocket = { unix_socket: true, ...where };
    expect(await within(context, () => accounts.user_create('local', 'localhost', bySocket))).toBe(
      true,
    );
    expect(
      (await within(context, () => accounts.user_info('local', 'localhost', where)))?.plugin,
    ).toBe('unix_socket');
    await settles(() => user.absent('local', where));
  });

  test('a column may be called NULL', async () => {
    expect(await ask("SELECT NULL, 'x'")).toMatchObject({
      columns: ['NULL', 'x'],
      results: [[null, 'x']],
    });
  });

  test('a server that follows another one is freed of it', async () => {
    const free = () => within(context, () => maintenance.free_slave(where));
    await expect(free()).rejects.toThrow('follows no other');
    await ask("CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT=9, MASTER_USER='none'");
    expect(await within(context, () => maintenance.slave_lag(where))).toBe(-2);
    expect(await free()).toBe('promoted');
    expect(await within(context, () => maintenance.slave_lag(where))).toBe(-1);
  });

  test('grants and revokes rights', async () => {
    await ask('CREATE TABLE sh_op.items (id int, name text)');
    await settles(() => user.present('shop', { password: 'pw', ...where }));
    const to = { user: 'shop', ...where };
    await settles(() =>
      grants.present('one', { grant: 'select,insert', database: 'sh_op.*', ...to }),
    );
    await settles(() =>
      grants.present('one', {
        grant: 'select,insert',
        database: 'sh_op.*',
        grant_option: true,
        ...to,
      }),
    );
    await settles(() => grants.absent('two', { grant: 'INSERT', database: 'sh_op.*', ...to }));
    expect(await within(context, () => rights.user_grants('shop', 'localhost', where))).toContain(
      'GRANT SELECT ON `sh\\_op`.* TO `shop`@`localhost` WITH GRANT OPTION',
    );
    await settles(() =>
      grants.present('three', { grant: 'update', database: 'sh_op.*', revoke_first: true, ...to }),
    );
    expect(
      await within(context, () =>
        rights.grant_exists('SELECT', 'sh_op.*', 'shop', 'localhost', where),
      ),
    ).toBe(false);
    await settles(() =>
      grants.present('four', { grant: 'select (id), update', database: 'sh_op.items', ...to }),
    );
    await settles(() =>
      grants.present('five', {
        grant: 'all privileges',
        database: '*.*',
        ssl_option: [{ SUBJECT: '/CN=shop' }, { CIPHER: 'AES' }],
        ...to,
      }),
    );
    await settles(() => grants.present('six', { grant: 'all', database: 'sh_op.*', ...to }));
    const less = { grant: 'select', database: 'sh_op.*', revoke_first: true, ...to };
    await settles(() => grants.present('six', less));
    expect(await within(context, () => rights.user_grants('shop', 'localhost', where))).toContain(
      'GRANT SELECT ON `sh\\_op`.* TO `shop`@`localhost`',
    );
    expect(
      await within(context, () =>
        grants.absent('none', { grant: 'usage', database: '*.*', ...to }),
      ),
    ).toMatchObject({ result: true, changes: nothing });
    const noSsl = { grant: 'insert', database: 'sh_op.*', ...to };
    await settles(() => grants.present('seven', { ...noSsl, ssl_option: [{ SSL: false }] }));
    expect(
      await within(context, () =>
        grants.present('bad', { ...noSsl, grant: 'drop', ssl_option: true }),
      ),
    ).toMatchObject({ result: false, comment: expect.stringContaining('[{SSL: true}]') });
    expect(
      await within(context, () =>
        grants.present('bad', { grant: 'all; drop', database: 'a.*', ...to }),
      ),
    ).toMatchObject({ result: false, comment: expect.stringContaining('not rights of MySQL') });
  });

  test('runs queries, and keeps their answer', async () => {
    await ask("INSERT INTO items VALUES (1, 'a\\tb\\n\\\\c'), (2, NULL)", 'sh_op');
    expect(await ask('SELECT * FROM items ORDER BY id', 'sh_op')).toMatchObject({
      columns: ['id', 'name'],
      results: [
        ['1', 'a\tb\n\\c'],
        ['2', null],
      ],
      'rows returned': 2,
    });
    const file = join(folder, 'answer.json');
    const schema = join(folder, 'schema.sql');
    writeFileSync(schema, 'CREATE TABLE more (id int);\nINSERT INTO more VALUES (1), (2);\n');
    await settles(() =>
      query.run_file('load', 'sh_op', {
        query_file: schema,
        output: file,
        overwrite: false,
        ...where,
      }),
    );
    expect(readFileSync(file, 'utf8')).toMatch(
      /^query time:\{'human': '[\d.]+ms', 'raw': '[\d.]+'\}\nrows affected:2\n$/,
    );
    const rows = { output: join(folder, 'rows'), ...where };
    expect(
      await within(context, () =>
        query.run('q', 'sh_op', 'SELECT id, name FROM items ORDER BY id', rows),
      ),
    ).toMatchObject({
      comment: expect.stringContaining(
        `'rows returned': 2, 'columns': ('id', 'name'), 'results': [{'id': '1', 'name': 'a\\tb\\n\\\\c'}, {'id': '2', 'name': None}]}`,
      ),
    });
    expect(readFileSync(rows.output, 'utf8')).toBe('id:1\nname:a\tb\n\\c\nid:2\nname:None\n');
    expect(await ask("SELECT 1 AS a, '5%%' AS a, NULL AS `NULL`")).toMatchObject({
      columns: ['a', 'a', 'NULL'],
      results: [['1', '5%', null]],
    });
    const one = await within(context, () => query.run('q', 'sh_op', 'SELECT 1', where));
    expect(one.comment).toMatch(
      /, 'rows returned': 1, 'columns': \('1',\), 'results': \[\{'1': '1'\}\]\}$/,
    );
    expect(await ask('SELECT * FROM items WHERE id = 9', 'sh_op')).toMatchObject({
      'rows returned': 0,
      results: [],
    });
    expect(
      await within(testing(context), () =>
        query.run_file('q', 'sh_op', { query_file: join(folder, 'not-there'), ...where }),
      ),
    ).toMatchObject({ result: false, comment: `File ${join(folder, 'not-there')} does not exist` });
    // An earlier state may be about to make it.
    expect(await within(context, () => query.run('q', 'nope', 'SELECT 1', where))).toMatchObject({
      result: null,
      changes: nothing,
      comment: 'Database nope is not present',
    });
    const flags = (client_flags: string[]) =>
      within(context, () => query.run('q', 'sh_op', 'SELECT 1', { client_flags, ...where }));
    expect(await flags(['multi_statements'])).toMatchObject({ result: true });
    expect(await flags(['multi_statements', 'local_files'])).toMatchObject({
      result: false,
      comment: expect.stringContaining('The client flag local_files is not one'),
    });
    const asked: string[] = [];
    const cache_file = async (path: string) => {
      asked.push(path);
      return schema;
    };
    const remote = contextOf({ mysql: { ...server, ...databases }, cp: { cache_file } });
    writeFileSync(schema, 'SELECT 1;\n');
    const unknown = contextOf({
      mysql: { ...server, ...databases },
      cp: { cache_file: async () => false },
    });
    const missing = { query_file: 'salt://shop/gone.sql', ...where };
    expect(
      await within(testing(unknown), () => query.run_file('f', 'sh_op', missing)),
    ).toMatchObject({
      result: false,
      comment: 'File salt://shop/gone.sql does not exist',
    });
    const given = { query_file: 'salt://shop/x.sql', saltenv: 'prod', ...where };
    expect(await within(remote, () => query.run_file('f', 'sh_op', given))).toMatchObject({
      result: true,
    });
    expect(asked).toEqual(['salt://shop/x.sql?saltenv=prod']);
    await expect(ask('SELEC 1')).rejects.toThrow(/^MySQL Error 1064: /);
  });

  test('checks, repairs and optimizes tables, and knows plugins and replication', async () => {
    const run = <T>(work: () => Promise<T>) => within(context, work);
    await run(() => databases.db_create('care', where));
    await ask('CREATE TABLE `o``dd` (id int) ENGINE=Aria; CREATE TABLE two (id int)', 'care');
    expect(await run(() => maintenance.db_check('care', null, where))).toMatchObject([
      [{ Table: 'care.o`dd', Op: 'check', Msg_text: 'OK' }],
      [{ Table: 'care.two', Msg_text: 'OK' }],
    ]);
    expect(await run(() => databases.db_tables('nope', where))).toBe(false);
    expect(await run(() => maintenance.db_repair('care', 'o`dd', where))).toMatchObject([
      { Op: 'repair', Msg_text: 'OK' },
    ]);
    const optimized = await run(() => maintenance.db_optimize('care', 'two', where));
    expect(optimized.at(-1)).toMatchObject({ Op: 'optimize', Msg_text: 'OK' });
    expect(await run(() => maintenance.quote_identifier('a`b_c', true))).toBe('`a``b\\_c`');
    expect(await run(() => maintenance.slave_lag(where))).toBe(-1);
    expect(await run(() => maintenance.get_master_status(where))).toEqual({});
    expect(await run(() => maintenance.plugin_status('Aria', where))).toBe('ACTIVE');
    expect(await run(() => maintenance.plugin_status('nope', where))).toBe('');
    const plugin = 'METADATA_LOCK_INFO';
    const library = 'metadata_lock_info.so';
    expect(await run(() => maintenance.plugin_add(plugin, library, where))).toBe(true);
    expect(await run(() => maintenance.plugin_add(plugin, library, where))).toBe(true);
    expect(await run(() => maintenance.plugin_remove(plugin, where))).toBe(true);
    expect(await run(() => maintenance.plugin_status(plugin, where))).toBe('');
    expect(await run(() => maintenance.plugin_remove(plugin, where))).toBe(true);
    expect(await run(() => server.processlist(where))).toContainEqual(
      expect.objectContaining({ Id: expect.any(Number), Info: 'SHOW FULL PROCESSLIST' }),
    );
  });

  test('names of accounts, tables and columns may have blanks and quotes', {
    tags: 'slow',
  }, async () => {
    await ask("CREATE DATABASE `o'd.d`; CREATE TABLE `o'd.d`.`t b` (`x y` int, `p``q` int)");
    for (const name of ['u 1', "u'2", 'u@3', 'u`4', 'größe']) {
      await settles(() => user.present(name, { host: '10.0.0.%', password: 'x', ...where }));
      const to = { user: name, host: '10.0.0.%', ...where };
      await settles(() => grants.present('a', { grant: 'select', database: "o'd.d.*", ...to }));
      const columns = { grant: 'insert (x y, p`q), update (`x y`)', database: "o'd.d.t b", ...to };
      await settles(() => grants.present('b', columns));
      await settles(() => grants.absent('b', columns));
      await settles(() => user.absent(name, { host: '10.0.0.%', ...where }));
    }
    expect(await rights.tokenize_grant('GRANT SELECT, INSERT ON `a b`.* TO `u 1`@`%`')).toEqual({
      user: 'u 1',
      host: '%',
      grant: ['SELECT', 'INSERT'],
      database: 'a b.*',
    });
  });

  test('in a name for databases % matches any text, as in Salt, and _ only itself', async () => {
    await ask("CREATE USER dev@localhost IDENTIFIED BY 'x'");
    const to = { user: 'dev', ...where };
    await settles(() =>
      grants.present('a', { grant: 'all privileges', database: 'dev_%.*', ...to }),
    );
    const rows = await ask("SELECT Db FROM mysql.db WHERE User = 'dev'");
    expect(rows).toMatchObject({ results: [['dev\\_%']] });
    const own = { ...where, connection_user: 'dev', connection_pass: 'x' };
    expect(await within(context, () => databases.db_create('dev_1', own))).toBe(true);
    await expect(within(context, () => databases.db_create('devs1', own))).rejects.toThrow('1044');
    await settles(() => grants.absent('a', { grant: 'all', database: 'dev_%.*', ...to }));
    expect(await within(context, () => maintenance.quote_identifier('a%', true))).toBe('`a%%`');
  });

  test('privileges of a role are not reported as missing', async () => {
    await ask('CREATE ROLE lector; GRANT SELECT ON mysql.* TO lector');
    const role = { user: 'lector', host: '', grant: 'select', database: 'mysql.*', ...where };
    expect(await within(context, () => grants.absent('a', role))).toMatchObject({
      result: false,
      comment: expect.stringContaining('MySQL Error 1141'),
    });
  });

  test('rights on names that fit are not taken back first from one name', async () => {
    await ask('CREATE USER fit@localhost; GRANT SELECT ON `fit_x`.* TO fit@localhost');
    const to = { user: 'fit', database: 'fit_x.*', ...where };
    await within(context, () =>
      grants.present('a', { grant: 'select,insert', revoke_first: true, ...to }),
    );
    expect(await ask("SELECT Db, Insert_priv FROM mysql.db WHERE User = 'fit' ORDER BY 1")).toEqual(
      expect.objectContaining({
        results: [
          ['fit\\_x', 'Y'],
          ['fit_x', 'N'],
        ],
      }),
    );
  });

  test('an account that changes its own password is let in by the new one from then on', async () => {
    await ask("CREATE USER boss@localhost IDENTIFIED BY 'old'; GRANT ALL ON *.* TO boss@localhost");
    const own = { ...where, connection_user: 'boss', connection_pass: 'old', password: 'new' };
    expect(await within(context, () => user.present('boss', own))).toMatchObject({
      changes: { boss: 'Updated' },
    });
    expect(await within(context, () => user.present('boss', own))).toMatchObject({
      changes: nothing,
      comment: 'User boss@localhost is already present with the desired password',
    });
    expect(
      await within(context, () => user.present('boss', { host: '127.0.0.1', ...own })),
    ).toMatchObject({ changes: { boss: 'Present' } });
    expect(
      await within(context, () => user.present('boss', { ...own, password: 'newer' })),
    ).toMatchObject({ result: false, comment: expect.stringMatching(/^MySQL Error 1045: /) });
  });

  test("failures are reported in Salt's words", async () => {
    const comment = async (work: () => Promise<StateReturn>) => {
      const done = await within(context, work);
      expect(done.result).toBe(false);
      return done.comment;
    };
    expect(await comment(() => database.present('x', { character_set: 'nosuch', ...where }))).toBe(
      "Failed to create database x (MySQL Error 1115: Unknown character set: 'nosuch')",
    );
    expect(await comment(() => user.present('x', { password_hash: 'nohash', ...where }))).toBe(
      'Failed to create user x@localhost (MySQL Error 1372: Password hash should be a 41-digit hexadecimal number)',
    );
    await within(context, () => user.present('x', { password: 'y', ...where }));
    expect(
      await comment(() => user.present('x', { password: 'y', password_column: 'z', ...where })),
    ).toBe("MySQL Error 1054: Unknown column 'z' in mysql.user");
    const stranger = { ...where, connection_user: 'nobody', connection_pass: 'no' };
    const what = { grant: 'select', database: 'a.*', user: 'x', ...stranger };
    expect(await comment(() => grants.present('g', what))).toMatch(/^MySQL Error 1045: /);
    expect(await comment(() => grants.absent('g', what))).toMatch(
      /^Unable to determine if grant select on a\.\* for x@localhost exists \(MySQL Error 1045: /,
    );
    expect(await comment(() => database.absent('g', stranger))).toMatch(/^MySQL Error 1045: /);
  });

  test('a login that fails is a sentence', async () => {
    const ret = await within(context, () =>
      user.present('x', {
        password: 'y',
        ...where,
        connection_user: 'nobody',
        connection_pass: 'no',
      }),
    );
    expect(ret).toMatchObject({ result: false });
    expect(ret.comment).toContain("MySQL Error 1045: Access denied for user 'nobody'@'localhost'");
  });
});
