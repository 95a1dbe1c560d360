import { toList } from '../../../_shared/states/values.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';
import { type Encryption, hashedPassword } from '../../postgres-password.ts';
import {
  type PostgresAccount,
  type PostgresLogin,
  type PostgresOptions,
  psqlRows,
  quoteLiteral,
  quoteName,
} from '../../postgres-run.ts';

type RoleOptions = {
  /** it may make databases */
  createdb?: boolean | null;
  /** it may make roles */
  createroles?: boolean | null;
  /** it has the rights of its groups */
  inherit?: boolean | null;
  /** it may log in */
  login?: boolean | null;
  /** how many connections at a time */
  connlimit?: number | null;
  /** how the password is kept: `md5` (true), `scram-sha-256`, or as it is (false) */
  encrypted?: Encryption | null;
  /** it may do anything */
  superuser?: boolean | null;
  /** it may stream */
  replication?: boolean | null;
  /** its password */
  rolepassword?: string | null;
  /** until when the password counts */
  valid_until?: string | null;
  /** the roles it is a member of */
  groups?: string | string[] | null;
};

const listing = (password: boolean): string =>
  `SELECT r.rolname AS name, r.rolsuper AS superuser, r.rolinherit AS "inherits privileges",
 r.rolcreaterole AS "can create roles", r.rolcreatedb AS "can create databases",
 r.rolcanlogin AS "can login", r.rolreplication AS replication, r.rolconnlimit AS connections,
 r.rolvaliduntil::timestamp(0) AS "expiry time", r.rolconfig AS "defaults variables",
 ${password ? "coalesce(a.rolpassword, '')" : "''"} AS password,
 (SELECT string_agg(g.rolname, ',' ORDER BY g.rolname) FROM pg_auth_members m
  JOIN pg_roles g ON g.oid = m.roleid WHERE m.member = r.oid) AS groups
 FROM pg_roles r ${password ? 'JOIN pg_authid a ON a.oid = r.oid' : ''}`;

const roleOf = (row: Record<string, string>, withPassword: boolean): PlainDict => {
  const { name: _, connections, groups, password, ...rest } = row;
  const flags = Object.fromEntries(
    Object.entries(rest).map(([key, value]) => [
      key,
      key === 'expiry time' ? value || null : key === 'defaults variables' ? value : value === 't',
    ]),
  );
  return {
    ...flags,
    'can update system catalogs': null,
    connections: Number(connections) < 0 ? null : Number(connections),
    groups: groups ? groups.split(',') : [],
    ...(withPassword ? { password: password ?? '' } : {}),
  };
};

/**
 * The roles by name, with what they may do.
 *
 * @param return_password true: with their passwords as the server keeps them; only for a superuser
 * @example tsalt-ssh db1 postgres.user_list
 */
export const user_list = async (
  options: PostgresOptions & { return_password?: boolean } = {},
): Promise<PlainDict> => {
  const { return_password = false, ...where } = options;
  const rows = await psqlRows(`${listing(return_password)} ORDER BY 1`, where);
  return Object.fromEntries(rows.map(row => [row.name ?? '', roleOf(row, return_password)]));
};

/**
 * One role; null when it is not there.
 *
 * @param name the role
 * @param return_password true: with its password as the server keeps it
 * @example tsalt-ssh db1 postgres.role_get shop
 */
export const role_get = async (
  name: string,
  options: PostgresOptions & { return_password?: boolean } = {},
): Promise<PlainDict | null> => {
  const { return_password = false, ...where } = options;
  const sql = `${listing(return_password)} WHERE r.rolname = ${quoteLiteral(name)}`;
  const [row] = await psqlRows(sql, where);
  return row ? roleOf(row, return_password) : null;
};

/**
 * Whether a role is there.
 *
 * @param name the role
 * @example tsalt-ssh db1 postgres.user_exists shop
 */
export const user_exists = async (name: string, options: PostgresOptions = {}): Promise<boolean> =>
  (await role_get(name, options)) !== null;

/**
 * Makes a role that may log in.
 *
 * @param username the role
 * @example tsalt-ssh db1 postgres.user_create shop rolepassword=secret
 */
export const user_create = async (
  username: string,
  options: PostgresLogin & RoleOptions & PostgresAccount = {},
): Promise<true> => createRole(username, { login: true, ...options });

/**
 * Changes a role. What is not given stays.
 *
 * @param username the role
 * @param groups further roles it is a member of
 * @example tsalt-ssh db1 postgres.user_update shop createdb=True
 */
export const user_update = async (
  username: string,
  options: PostgresLogin & RoleOptions & PostgresAccount = {},
): Promise<true> => alterRole(username, options);

/**
 * Removes a role.
 *
 * @param username the role
 * @example tsalt-ssh db1 postgres.user_remove shop
 */
export const user_remove = async (
  username: string,
  options: PostgresOptions = {},
): Promise<true> => {
  await psqlRows(`DROP ROLE ${quoteName(username)}`, options);
  return true;
};

/**
 * Makes a group role, which may not log in.
 *
 * @param groupname the role
 * @param encrypted how the password is kept
 * @example tsalt-ssh db1 postgres.group_create readers
 */
export const group_create = async (
  groupname: string,
  options: PostgresLogin & RoleOptions & PostgresAccount = {},
): Promise<true> => createRole(groupname, { login: false, ...options });

/**
 * Changes a group. What is not given stays.
 *
 * @param groupname the role
 * @example tsalt-ssh db1 postgres.group_update readers createdb=True
 */
export const group_update = async (
  groupname: string,
  options: PostgresLogin & RoleOptions & PostgresAccount = {},
): Promise<true> => alterRole(groupname, options);

/**
 * Removes a group.
 *
 * @param groupname the role
 * @example tsalt-ssh db1 postgres.group_remove readers
 */
export const group_remove = async (
  groupname: string,
  options: PostgresOptions = {},
): Promise<true> => user_remove(groupname, options);

const createRole = async (name: string, options: RoleOptions & PostgresOptions): Promise<true> => {
  const { groups, ...rest } = options;
  if (await user_exists(name, whereOf(options)))
    throw new CommandExecutionError(`The role ${name} already exists.`);
  const create = `CREATE ROLE ${quoteName(name)}${wordsOf(name, rest)};\n`;
  await psqlRows(atOnce(create + memberships(name, groups)), whereOf(options));
  return true;
};

const alterRole = async (name: string, options: RoleOptions & PostgresOptions): Promise<true> => {
  const words = wordsOf(name, options);
  const alter = words === '' ? '' : `ALTER ROLE ${quoteName(name)}${words};\n`;
  await psqlRows(atOnce(alter + memberships(name, options.groups)), whereOf(options));
  return true;
};

/** All or nothing: a role that cannot have its groups is not made or changed either. */
const atOnce = (sql: string): string => `BEGIN;\n${sql}COMMIT;\n`;

const memberships = (name: string, groups: RoleOptions['groups']): string =>
  toList(groups ?? null)
    .map(group => `GRANT ${quoteName(group)} TO ${quoteName(name)};\n`)
    .join('');

const flags = {
  superuser: 'SUPERUSER',
  createdb: 'CREATEDB',
  createroles: 'CREATEROLE',
  inherit: 'INHERIT',
  login: 'LOGIN',
  replication: 'REPLICATION',
} as const;

const wordsOf = (name: string, options: RoleOptions): string => {
  const words = Object.entries(flags).flatMap(([key, word]) => {
    const value = options[key as keyof typeof flags];
    return value === null || value === undefined ? [] : [value ? word : `NO${word}`];
  });
  const { rolepassword, encrypted, valid_until, connlimit } = options;
  if (connlimit !== null && connlimit !== undefined)
    words.push(`CONNECTION LIMIT ${Number(connlimit)}`);
  if (rolepassword)
    words.push(
      `PASSWORD ${quoteLiteral(hashedPassword(name, String(rolepassword), encrypted ?? 'md5'))}`,
    );
  if (valid_until) words.push(`VALID UNTIL ${quoteLiteral(valid_until)}`);
  return words.map(word => ` ${word}`).join('');
};

const whereOf = ({
  user = null,
  host = null,
  port = null,
  maintenance_db = null,
  password = null,
  runas = null,
}: PostgresOptions): PostgresOptions => ({ user, host, port, maintenance_db, password, runas });
