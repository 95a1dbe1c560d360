import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { readAccounts } from '../../../src/modules/_shared/commands/accounts.ts';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as clusters from '../../../src/modules/postgres/exec/postgres/clusters.ts';
import * as databases from '../../../src/modules/postgres/exec/postgres/databases.ts';
import * as objects from '../../../src/modules/postgres/exec/postgres/objects.ts';
import * as privileges from '../../../src/modules/postgres/exec/postgres/privileges.ts';
import * as queries from '../../../src/modules/postgres/exec/postgres/queries.ts';
import * as roles from '../../../src/modules/postgres/exec/postgres/roles.ts';
import * as storage from '../../../src/modules/postgres/exec/postgres/storage.ts';
import { withoutArgumentNames } from '../../../src/modules/postgres/postgres-function.ts';
import { hashedPassword, passwordFits } from '../../../src/modules/postgres/postgres-password.ts';
import * as database from '../../../src/modules/postgres/states/postgres_database.ts';
import * as extension from '../../../src/modules/postgres/states/postgres_extension.ts';
import * as group from '../../../src/modules/postgres/states/postgres_group.ts';
import * as initdb from '../../../src/modules/postgres/states/postgres_initdb.ts';
import * as language from '../../../src/modules/postgres/states/postgres_language.ts';
import * as rights from '../../../src/modules/postgres/states/postgres_privileges.ts';
import * as schema from '../../../src/modules/postgres/states/postgres_schema.ts';
import * as tablespace from '../../../src/modules/postgres/states/postgres_tablespace.ts';
import * as user from '../../../src/modules/postgres/states/postgres_user.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const versions = '/usr/lib/postgresql';
const bin = existsSync(versions)
  ? join(versions, readdirSync(versions).sort().at(-1) ?? '', 'bin')
  : '';
const canRun = process.getuid?.() === 0 && existsSync(join(bin, 'pg_ctl'));

test('a function is looked up by the types of its arguments', () => {
  expect(
    withoutArgumentNames('s.f(IN a integer, "b c" text[], OUT d text, VARIADIC e int[])'),
  ).toBe('s.f(integer, text[], int[])');
  const types =
    'f(double precision, character varying, timestamp with time zone, numeric(10,2), "A b")';
  expect(withoutArgumentNames(types)).toBe(types);
  expect(
    withoutArgumentNames('f(a double precision, n numeric(10, 2), t time(3) without time zone)'),
  ).toBe('f(double precision, numeric(10, 2), time(3) without time zone)');
  expect(withoutArgumentNames('f()')).toBe('f()');
});

test('passwords are kept as PostgreSQL keeps them', () => {
  expect(hashedPassword('shop', 'secret', 'md5')).toBe('md5f433c50293bc7afbe20b67ceb15a1e55');
  const kept = hashedPassword('shop', 'secret', 'scram-sha-256');
  expect(passwordFits('shop', 'secret', kept, 'scram-sha-256')).toBe(true);
  expect(passwordFits('shop', 'Secret', kept, 'scram-sha-256')).toBe(false);
  expect(() => hashedPassword('shop', 'secret', 'rot13')).toThrow('Not a way to keep passwords');
});

describe.skipIf(!canRun)('a real PostgreSQL server', { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-pg-'));
  const data = join(folder, 'data');
  const context = contextOf({
    postgres: {
      ...clusters,
      ...queries,
      ...databases,
      ...roles,
      ...objects,
      ...storage,
      ...privileges,
    },
  });
  const db = { db_host: folder, db_port: 5499 };
  const where = { host: folder, port: 5499 };
  const asPostgres = (program: string, ...args: string[]) =>
    spawnSync(
      'setpriv',
      ['--reuid=postgres', '--regid=postgres', '--clear-groups', '--', join(bin, program), ...args],
      {
        encoding: 'utf8',
        cwd: '/',
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
  const sql = async (query: string, base = 'postgres') =>
    within(context, () => queries.psql_query(query, { ...where, maintenance_db: base }));

  beforeAll(async () => {
    const account = (await readAccounts()).find(({ name }) => name === 'postgres');
    chownSync(folder, account?.uid ?? 0, account?.gid ?? 0);
    mkdirSync(join(folder, 'space'));
    chownSync(join(folder, 'space'), account?.uid ?? 0, account?.gid ?? 0);
    expect(
      asPostgres('initdb', '-D', data, '-A', 'trust', '-N', '-E', 'UTF8').stderr,
    ).not.toContain('error');
    writeFileSync(
      join(data, 'postgresql.auto.conf'),
      `listen_addresses = ''\nport = 5499\nunix_socket_directories = '${folder}'\nfsync = off\n`,
    );
    const started = asPostgres('pg_ctl', '-D', data, '-w', '-l', join(folder, 'log'), 'start');
    expect(started.status).toBe(0);
  }, 240_000);

  afterAll(() => {
    asPostgres('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
    removeFolder(folder);
  });

  type State = () => Promise<StateReturn>;
  /** Test mode predicts, the run changes, and the next run has nothing to do. */
  const settles = async (state: State): Promise<string> => {
    const told = await within(testing(context), state);
    expect(told, String(told.comment)).toMatchObject({ result: null });
    const done = await within(context, state);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(Object.keys(done.changes)).toHaveLength(1);
    expect(await within(context, state)).toMatchObject({ result: true, changes: nothing });
    return String(done.comment);
  };

  test('a password that the server is to hash is compared with what it made of it', async () => {
    for (const way of ['md5', 'scram-sha-256']) {
      await sql(`ALTER SYSTEM SET password_encryption = '${way}'`);
      await sql('SELECT pg_reload_conf()');
      await settles(() => user.present(`as-is ${way}`, { password: 'p', encrypted: false, ...db }));
      await settles(() => user.present(`as-is ${way}`, { password: 'q', encrypted: false, ...db }));
    }
    await sql('ALTER SYSTEM RESET password_encryption');
    await sql('SELECT pg_reload_conf()');
  });

  test('a database that somebody is connected to is removed too', async () => {
    await within(context, () => database.present(`bu"s'y`, db));
    const client = spawn(
      join(bin, 'psql'),
      ['-h', folder, '-p', '5499', '-U', 'postgres', '-d', `bu"s'y`, '-c', 'SELECT pg_sleep(60)'],
      { stdio: 'ignore' },
    );
    const ended = new Promise(resolve => client.once('exit', resolve));
    await vi.waitFor(
      async () =>
        expect(
          await sql(`SELECT pid FROM pg_stat_activity WHERE datname = 'bu"s''y'`),
        ).toHaveLength(1),
      { timeout: 120_000, interval: 100 },
    );
    await settles(() => database.absent(`bu"s'y`, db));
    await ended;
  });

  test('makes, changes and removes a role; names with quotes are names', {
    tags: 'slow',
  }, async () => {
    for (const name of ['shop', `o'hara "the\\role"; drop table x; --`]) {
      expect(
        await settles(() =>
          user.present(name, { password: "it's \\secret", createdb: true, ...db }),
        ),
      ).toBe(`The user ${name} has been created`);
      await settles(() =>
        user.present(name, { superuser: true, valid_until: '2031-01-01', ...db }),
      );
      await settles(() =>
        user.present(name, { password: 'other', encrypted: 'scram-sha-256', ...db }),
      );
    }
    expect(
      await sql(
        "SELECT rolsuper, rolcreatedb, rolcanlogin, rolvaliduntil::date AS until FROM pg_roles WHERE rolname = 'shop'",
      ),
    ).toEqual([{ rolsuper: 't', rolcreatedb: 't', rolcanlogin: 't', until: '2031-01-01' }]);
    await settles(() => user.absent(`o'hara "the\\role"; drop table x; --`, db));
  });

  test('knows groups and memberships', { tags: 'slow' }, async () => {
    await settles(() => group.present('readers', db));
    expect(await sql("SELECT rolcanlogin FROM pg_roles WHERE rolname = 'readers'")).toEqual([
      { rolcanlogin: 'f' },
    ]);
    await settles(() => rights.present('shop', 'readers', 'group', db));
    expect(
      await within(context, () => user.present('shop', { groups: 'readers', ...db })),
    ).toMatchObject({ changes: nothing });
    await settles(() => rights.absent('shop', 'readers', 'group', db));
    await settles(() => user.present('shop', { groups: ['readers'], ...db }));
    // A change that fails as a whole is not made in part.
    expect(
      await within(context, () => user.present('half', { groups: 'not_there', ...db })),
    ).toMatchObject({
      result: false,
      comment: expect.stringContaining('"not_there" does not exist'),
    });
    const half = { superuser: true, groups: 'not_there', ...db };
    expect(await within(context, () => group.present('readers', half))).toMatchObject({
      result: false,
    });
    expect(
      await sql("SELECT rolname, rolsuper FROM pg_roles WHERE rolname IN ('half', 'readers')"),
    ).toEqual([{ rolname: 'readers', rolsuper: 'f' }]);
  });

  test('makes a database, changes its owner, refuses another encoding', {
    tags: 'slow',
  }, async () => {
    await settles(() =>
      database.present('shop-1', { encoding: 'UTF8', template: 'template0', ...db }),
    );
    await sql(
      "CREATE AGGREGATE total (int) (sfunc = int4pl, stype = int4); CREATE PROCEDURE noop() LANGUAGE sql AS ''",
      'shop-1',
    );
    await settles(() => database.present('shop-1', { owner: 'shop', owner_recurse: true, ...db }));
    expect(
      await sql(
        "SELECT proname, pg_get_userbyid(proowner) AS owner FROM pg_proc WHERE proname IN ('total', 'noop') ORDER BY 1",
        'shop-1',
      ),
    ).toEqual([
      { proname: 'noop', owner: 'shop' },
      { proname: 'total', owner: 'shop' },
    ]);
    // As in Salt, an empty change is not an error, and the server is not asked.
    expect(await within(context, () => databases.db_alter('not there', where))).toBe(true);
    expect(
      await within(context, () => database.present('shop-1', { encoding: 'LATIN1', ...db })),
    ).toMatchObject({
      result: false,
      comment: "Database shop-1 has wrong parameters which couldn't be changed on fly.",
    });
    await settles(() => schema.present('shop-1', 'sales', { owner: 'shop', ...db }));
    const extensions = await within(context, () =>
      objects.available_extensions({ ...where, maintenance_db: 'shop-1' }),
    );
    expect(extensions).toHaveProperty('plpgsql');
    await settles(() => extension.absent('plpgsql', { maintenance_db: 'shop-1', ...db }));
    await settles(() => extension.present('plpgsql', { maintenance_db: 'shop-1', ...db }));
    expect(await within(context, () => language.present('plpgsql', 'shop-1', db))).toMatchObject({
      result: true,
      changes: nothing,
    });
    await settles(() =>
      tablespace.present('fast', join(folder, 'space'), {
        owner: 'shop',
        options: { seq_page_cost: 2 },
        ...db,
      }),
    );
    await settles(() =>
      tablespace.present('fast', join(folder, 'space'), { options: { seq_page_cost: 3 }, ...db }),
    );
    expect(
      await within(context, () =>
        storage.tablespace_alter('fast', { new_name: 'fast 2', ...where }),
      ),
    ).toBe(true);
    expect((await within(context, () => storage.tablespace_list(where)))['fast 2']).toMatchObject({
      Opts: '{seq_page_cost=3}',
    });
    await settles(() => tablespace.absent('fast 2', db));
  });

  test('an extension is brought to a newer version and another schema, never to an older one', async () => {
    await within(context, () => database.present('ext', db));
    await sql('CREATE SCHEMA parts', 'ext');
    const hstore = (more: object) => () =>
      extension.present('hstore', { maintenance_db: 'ext', ...more, ...db });
    expect(await settles(hstore({ ext_version: '1.7' }))).toBe(
      'The extension hstore has been installed',
    );
    expect(await settles(hstore({ ext_version: '1.8' }))).toBe(
      'The extension hstore has been upgraded',
    );
    expect(await within(context, hstore({ ext_version: '1.7' }))).toMatchObject({
      result: true,
      changes: nothing,
    });
    expect(await settles(hstore({ schema: 'parts' }))).toBe(
      'The extension hstore has been upgraded',
    );
    expect(await within(context, () => language.absent('nope', 'ext', db))).toMatchObject({
      comment: 'Language nope is not present so it cannot be removed',
    });
  });

  test('objects that need an extension are removed with it, unless that is not requested', async () => {
    const at = { maintenance_db: 'ext', ...db };
    await sql('CREATE EXTENSION earthdistance CASCADE', 'ext');
    for (const keep of [{ restrict: true }, { cascade: false }])
      expect(
        await within(context, () => extension.absent('cube', { ...keep, ...at })),
      ).toMatchObject({
        result: false,
        comment: expect.stringContaining('earthdistance depends on'),
      });
    await settles(() => extension.absent('cube', at));
    expect(await sql("SELECT 1 FROM pg_extension WHERE extname = 'earthdistance'", 'ext')).toEqual(
      [],
    );
  });

  test('the kind of object may be in capitals, and a membership has no rights', async () => {
    await sql('CREATE ROLE reads; CREATE TABLE seen (a int)');
    const asked = { privileges: ['select , insert'], ...db };
    await settles(() => rights.present('reads', 'seen', 'TABLE', asked));
    await settles(() => rights.absent('reads', 'seen', 'Table', asked));
    expect(
      await within(context, () => rights.present('reads', 'pg_monitor', 'group', asked)),
    ).toMatchObject({
      result: false,
      comment: 'The privileges option should not be set for object_type group',
    });
  });

  test('in a database that is not there nothing is to be removed, and a dry run goes on', async () => {
    const at = { maintenance_db: 'not yet', ...db };
    const some = { privileges: ['SELECT'], ...at };
    for (const [make, remove] of [
      [() => schema.present('not yet', 'sales', db), () => schema.absent('not yet', 'sales', db)],
      [() => extension.present('hstore', at), () => extension.absent('hstore', at)],
      [() => language.present('plperl', 'not yet', db), () => language.absent('x', 'not yet', db)],
      [
        () => rights.present('reads', 'seen', 'table', some),
        () => rights.absent('reads', 'seen', 'table', some),
      ],
    ] as const) {
      expect(await within(testing(context), make)).toMatchObject({ result: null });
      expect(await within(context, make)).toMatchObject({
        result: false,
        comment: expect.stringContaining('database "not yet" does not exist'),
      });
      expect(await within(context, remove)).toMatchObject({ result: true, changes: nothing });
    }
    // Roles do not belong to a database, so they are unknown then.
    expect(await within(context, () => user.absent('reads', at))).toMatchObject({ result: false });
  });

  test('existing grants are not repeated, and missing ones not revoked', async () => {
    await sql('CREATE ROLE calm; CREATE TABLE pond (a int)');
    const may = { privileges: 'SELECT,INSERT', ...where };
    const grant = (more: object = may) =>
      within(context, () => privileges.privileges_grant('calm', 'pond', 'table', { ...more }));
    const revoke = () =>
      within(context, () => privileges.privileges_revoke('calm', 'pond', 'table', may));
    expect(await revoke()).toBe(false);
    expect(await sql("SELECT relacl AS acl FROM pg_class WHERE relname = 'pond'")).toEqual([
      { acl: '' },
    ]);
    expect([await grant(), await grant(), await grant({ ...may, grant_option: true })]).toEqual([
      true,
      false,
      true,
    ]);
    expect([await revoke(), await revoke()]).toEqual([true, false]);
    const all = { privileges: ['SELECT'], prepend: 'nowhere', ...db };
    expect(await within(context, () => rights.present('calm', 'ALL', 'table', all))).toMatchObject({
      result: false,
      comment: expect.stringContaining('schema "nowhere" does not exist'),
    });
  });

  test('grants and revokes rights on every kind of object', { tags: 'slow' }, async () => {
    await sql(
      'CREATE TABLE orders (id serial); CREATE TABLE "Odd Name" (id int); CREATE FUNCTION one(integer) RETURNS integer LANGUAGE sql AS \'SELECT 1\'',
      'shop-1',
    );
    await settles(() => user.present('reader', db));
    const on = { maintenance_db: 'shop-1', ...db };
    for (const [object, type, list] of [
      ['orders', 'table', ['SELECT', 'UPDATE']],
      ['Odd Name', 'table', ['ALL']],
      ['orders_id_seq', 'sequence', ['USAGE']],
      ['sales', 'schema', ['USAGE']],
      ['shop-1', 'database', ['CREATE']],
      ['plpgsql', 'language', ['USAGE']],
      ['pg_default', 'tablespace', ['CREATE']],
      ['one(integer)', 'function', ['EXECUTE']],
      ['one', 'function', ['EXECUTE']],
      ['one(a integer)', 'function', ['EXECUTE']],
    ] as const) {
      const options = { privileges: [...list], ...on };
      await settles(() => rights.present('reader', object, type, options));
      await settles(() =>
        rights.present('reader', object, type, { grant_option: true, ...options }),
      );
      await settles(() => rights.absent('reader', object, type, options));
    }
    await settles(() =>
      rights.present('reader', 'ALL', 'table', { privileges: ['SELECT'], ...on }),
    );
    expect(
      await sql(
        "SELECT has_table_privilege('reader', 'orders', 'SELECT') AS a, has_table_privilege('reader', 'orders', 'DELETE') AS b",
        'shop-1',
      ),
    ).toEqual([{ a: 't', b: 'f' }]);
    expect(
      await within(context, () =>
        rights.present('reader', 'orders', 'table', { privileges: ['FLY'], ...on }),
      ),
    ).toMatchObject({
      result: false,
      comment: expect.stringContaining('Invalid privilege(s): FLY'),
    });
    await settles(() => rights.absent('reader', 'ALL', 'table', { privileges: ['SELECT'], ...on }));
  });

  // With the tests that make it.
  test('removes what it made', { tags: 'slow' }, async () => {
    await settles(() => schema.absent('shop-1', 'sales', db));
    await settles(() => database.absent('shop-1', db));
    await settles(() => user.absent('reader', db));
    await settles(() => group.absent('readers', db));
  });

  test('logs in with a password that no list of processes shows', async () => {
    await settles(() =>
      user.present('pw', { password: 'p:a\\ss', encrypted: 'scram-sha-256', ...db }),
    );
    writeFileSync(join(data, 'pg_hba.conf'), 'local all pw scram-sha-256\nlocal all all trust\n');
    await sql('SELECT pg_reload_conf()');
    const login = { ...where, user: 'pw' };
    const ask = (password: string) =>
      within(context, () =>
        queries.psql_query('SELECT current_user AS me', { ...login, password }),
      );
    await expect.poll(() => ask('p:a\\ss').catch(String)).toEqual([{ me: 'pw' }]);
    await expect(ask('wrong')).rejects.toThrow('password authentication failed');
    expect(readdirSync(tmpdir()).filter(name => name.startsWith('.tsalt-'))).toEqual([]);
  });

  test('a server that is not there is a sentence', async () => {
    const ret = await within(context, () => user.present('x', { db_host: '/nowhere', db_port: 1 }));
    expect(ret).toMatchObject({ result: false });
    expect(ret.comment).toContain('Is the server running locally');
  });

  test('makes a data directory with a superuser and a password', async () => {
    const target = join(folder, 'second');
    const options = {
      user: 'boss',
      password: 'hush',
      auth: 'scram-sha-256',
      locale: 'C.UTF-8',
      waldir: join(folder, 'wal'),
      checksums: true,
    };
    const made = await settles(() => initdb.present(target, options));
    expect(made).toBe(`Postgres data directory ${target} has been initialized`);
    expect(readFileSync(join(target, 'pg_hba.conf'), 'utf8')).toContain('scram-sha-256');
    expect(existsSync(join(folder, 'wal', 'archive_status'))).toBe(true);
    const { stdout } = spawnSync(join(bin, 'pg_controldata'), [target], { encoding: 'utf8' });
    expect(stdout).toMatch(/Data page checksum version:\s+1/);
    const full = join(folder, 'full');
    mkdirSync(full);
    writeFileSync(join(full, 'x'), '');
    expect(await within(context, () => initdb.present(full))).toMatchObject({
      result: false,
      changes: nothing,
      comment: expect.stringContaining('initialization failed'),
    });
  });

  test('knows one extension by name', async () => {
    const ext = (work: () => Promise<unknown>) => within(context, work);
    expect(await ext(() => objects.is_available_extension('plpgsql', where))).toBe(true);
    expect(await ext(() => objects.is_available_extension('toString', where))).toBe(false);
    expect(await ext(() => objects.create_metadata('toString', where))).toEqual([
      'EXTENSION NOT INSTALLED',
    ]);
    const newer = { ext_version: '99', schema: 'nowhere', ...where };
    expect(await ext(() => objects.create_metadata('plpgsql', newer))).toEqual([
      'EXTENSION INSTALLED',
      'EXTENSION TO UPGRADE',
    ]);
    expect(await ext(() => objects.drop_extension('toString', where))).toBe(true);
    expect(await ext(() => objects.get_available_extension('plpgsql', where))).toEqual({
      name: 'plpgsql',
      default_version: '1.0',
      comment: 'PL/pgSQL procedural language',
    });
    expect(await ext(() => objects.get_installed_extension('plpgsql', where))).toMatchObject({
      schema_name: 'pg_catalog',
    });
    expect(await ext(() => objects.get_available_extension('nope', where))).toBe(null);
  });
});

describe.skipIf(!canRun || !canRunApart() || !which('pg_createcluster'))(
  "Debian's clusters",
  () => {
    test('are made, kept and removed', { tags: 'slow', timeout: 240_000 }, async () => {
      const told = await runApart(
        {
          postgres: 'src/modules/postgres/exec/postgres/clusters.ts',
          state: 'src/modules/postgres/states/postgres_cluster.ts',
        },
        `import { mkdirSync, chmodSync } from 'node:fs';
      const version = ${JSON.stringify(bin.split('/').at(-2))};
      mkdirSync('/run/postgresql'); chmodSync('/run/postgresql', 0o1777);
      const options = { port: 5498, locale: 'C.UTF-8', encoding: 'UTF8', data_checksums: true };
      const dry = { ...context, opts: { ...context.opts, test: true } };
      told.told = await within(dry, () => state.present(version, 'tsalt', options));
      await step('made', () => state.present(version, 'tsalt', options));
      await step('again', () => state.present(version, 'tsalt', options));
      await step('other', () => state.present(version, 'tsalt', { port: 5497 }));
      await step('list', () => postgres.cluster_list());
      await step('all', () => postgres.cluster_list({ verbose: true }));
      await step('bad', () => postgres.cluster_create(version, '--help'));
      await step('removed', () => state.absent(version, 'tsalt'));
      await step('gone', () => state.absent(version, 'tsalt'));
      told.id = version + '/tsalt';`,
        ['/var'],
      );
      const id = String(told.id);
      expect(told.told).toMatchObject({ result: null });
      expect(told.made).toMatchObject({ result: true, changes: { [id]: 'Present' } });
      expect(told.again).toMatchObject({ result: true, changes: nothing });
      expect(told.other).toMatchObject({ result: false });
      expect(told.list).toContain(id);
      expect(told.all).toMatchObject({ [id]: { port: 5498, status: 'down', user: 'postgres' } });
      expect(told.bad).toContain('Not a version and name of a cluster');
      expect(told.removed).toMatchObject({ result: true, changes: { tsalt: 'Absent' } });
      expect(told.gone).toMatchObject({ result: true, changes: nothing });
    });
  },
);
