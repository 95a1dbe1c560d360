import { toList } from '../../../_shared/states/values.ts';
import { type PlainDict, SaltInvocationError } from '../../../api.ts';
import { withoutArgumentNames } from '../../postgres-function.ts';
import { type PostgresOptions, psqlRows, quoteLiteral, quoteName } from '../../postgres-run.ts';

type PrivilegeOptions = {
  /** the rights */
  privileges?: string | string[] | null;
  grant_option?: boolean | null;
  /** the schema of a table or sequence */
  prepend?: string | null;
} & Where;

/** As Salt has them here: the database before who logs in. */
type Where = {
  /** The database to connect to. */
  maintenance_db?: string | null;
} & PostgresOptions;

/** The catalog query of each type of object, and the privileges that ALL means for it. */
const types: Readonly<Record<string, { from: string; all: readonly string[]; kind: string }>> = {
  table: {
    from: "pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace|o.relname|o.relacl|o.relowner|r|o.relkind IN ('r','v','m','p','f')",
    all: ['INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER'],
    kind: 'TABLE',
  },
  sequence: {
    from: "pg_class o JOIN pg_namespace n ON n.oid = o.relnamespace|o.relname|o.relacl|o.relowner|s|o.relkind = 'S'",
    all: ['USAGE', 'SELECT', 'UPDATE'],
    kind: 'SEQUENCE',
  },
  schema: {
    from: 'pg_namespace o|o.nspname|o.nspacl|o.nspowner|n|true',
    all: ['CREATE', 'USAGE'],
    kind: 'SCHEMA',
  },
  tablespace: {
    from: 'pg_tablespace o|o.spcname|o.spcacl|o.spcowner|t|true',
    all: ['CREATE'],
    kind: 'TABLESPACE',
  },
  language: {
    from: 'pg_language o|o.lanname|o.lanacl|o.lanowner|l|true',
    all: ['USAGE'],
    kind: 'LANGUAGE',
  },
  database: {
    from: 'pg_database o|o.datname|o.datacl|o.datdba|d|true',
    all: ['CREATE', 'CONNECT', 'TEMPORARY'],
    kind: 'DATABASE',
  },
  function: {
    from: 'pg_proc o JOIN pg_namespace n ON n.oid = o.pronamespace|o.oid::regprocedure::text|o.proacl|o.proowner|f|true',
    all: ['EXECUTE'],
    kind: 'FUNCTION',
  },
};

const typeOf = (object_type: string) => {
  const type = Object.hasOwn(types, object_type) ? types[object_type] : undefined;
  if (type) return type;
  throw new SaltInvocationError(
    `Invalid object_type: ${object_type} provided. Write one of ${[...Object.keys(types), 'group'].join(', ')}.`,
  );
};

const wantedOf = (object_type: string, privileges: PrivilegeOptions['privileges']): string[] => {
  const { all } = typeOf(object_type);
  const wanted = toList(toList(privileges ?? null).join(',')).map(one => one.toUpperCase());
  const plain = wanted.map(one => (one === 'TEMP' ? 'TEMPORARY' : one));
  if (plain.length === 0)
    throw new SaltInvocationError(`privileges must be given for object_type ${object_type}.`);
  const wrong = plain.filter(one => one !== 'ALL' && !all.includes(one));
  if (wrong.length > 0)
    throw new SaltInvocationError(
      `Invalid privilege(s): ${wrong.join(', ')} provided for ${object_type}. Possible are ${all.join(', ')}, ALL.`,
    );
  return plain.includes('ALL') ? [...all] : plain;
};

/** A group is all that is asked for: a membership has no rights of its own. */
const refuseRights = (privileges: PrivilegeOptions['privileges']): void => {
  if (toList(privileges ?? null).length > 0)
    throw new SaltInvocationError('The privileges option should not be set for object_type group');
};

const inSchemas = ['table', 'sequence'];
const isAll = (name: string, type: string): boolean =>
  inSchemas.includes(type) && name.toUpperCase() === 'ALL';

type Right = { object: string; owner: string; role: string; right: string; grantable: boolean };

const rightsOf = async (
  name: string,
  object_type: string,
  prepend: string,
  where: PostgresOptions,
): Promise<Right[]> => {
  const [from, column, acl, owner, code, condition] = typeOf(object_type).from.split('|');
  const conditions = [
    String(condition),
    ...(isAll(name, object_type) ? [] : [nameIs(String(column), name, object_type)]),
    ...(inSchemas.includes(object_type) ? [`n.nspname = ${quoteLiteral(prepend)}`] : []),
  ];
  const rows = await psqlRows(
    `SELECT ${column} AS object, pg_get_userbyid(${owner}) AS owner,
 CASE a.grantee WHEN 0 THEN 'public' ELSE pg_get_userbyid(a.grantee) END AS role,
 a.privilege_type AS right, a.is_grantable AS grantable
 FROM ${from} LEFT JOIN LATERAL aclexplode(coalesce(${acl}, acldefault('${code}', ${owner}))) a ON true
 WHERE ${conditions.join(' AND ')}`,
    where,
  );
  return rows.map(({ object = '', owner: by = '', role = '', right = '', grantable }) => ({
    object,
    owner: by,
    role,
    right,
    grantable: grantable === 't',
  }));
};

/** Functions are named with their arguments, or without when one alone has that name; the schema in front is optional, as in SQL. */
const nameIs = (column: string, name: string, object_type: string): string => {
  if (object_type !== 'function') return `${column} = ${quoteLiteral(name)}`;
  return name.includes('(')
    ? `o.oid = to_regprocedure(${quoteLiteral(withoutArgumentNames(name))})`
    : `o.oid = to_regproc(${quoteLiteral(name)})`;
};

const membersOf = async (
  name: string,
  where: PostgresOptions,
): Promise<{ member: string; admin: boolean }[]> =>
  (
    await psqlRows(
      `SELECT u.rolname AS member, m.admin_option AS admin FROM pg_auth_members m
 JOIN pg_roles g ON g.oid = m.roleid JOIN pg_roles u ON u.oid = m.member WHERE g.rolname = ${quoteLiteral(name)}`,
      where,
    )
  ).map(({ member = '', admin }) => ({ member, admin: admin === 't' }));

/**
 * The rights on an object: `{role: {RIGHT: may grant it}}`; for a group `{member: may grant it}`.
 *
 * @param name the object
 * @param object_type `table`, `sequence`, `schema`, `tablespace`, `language`, `database`, `function` or `group`
 * @param prepend the schema of a table or sequence
 * @example tsalt-ssh db1 postgres.privileges_list orders table maintenance_db=shop
 */
export const privileges_list = async (
  name: string,
  object_type: string,
  { prepend = 'public', ...where }: { prepend?: string | null } & Where = {},
): Promise<PlainDict> => {
  if (object_type === 'group')
    return Object.fromEntries(
      (await membersOf(name, where)).map(({ member, admin }) => [member, admin]),
    );
  const found: { [role: string]: { [right: string]: boolean } } = {};
  const rights = await rightsOf(name, object_type, prepend ?? 'public', where);
  for (const { role, right, grantable } of rights)
    if (role !== '') found[role] = { ...found[role], [right]: grantable };
  return found;
};

/**
 * Whether a role has rights on an object. An owner has all of them.
 *
 * @param name the role
 * @param object_name the object, or ALL for every table or sequence of the schema
 * @param object_type the object's type
 * @param grant_option it must be able to grant them
 * @example tsalt-ssh db1 postgres.has_privileges shop orders table SELECT maintenance_db=shop
 */
export const has_privileges = async (
  name: string,
  object_name: string,
  object_type: string,
  { privileges = null, grant_option = null, prepend = 'public', ...where }: PrivilegeOptions = {},
): Promise<boolean> => {
  if (object_type === 'group') refuseRights(privileges);
  if (object_type === 'group')
    return (await membersOf(object_name, where)).some(
      ({ member, admin }) => member === name && (!grant_option || admin),
    );
  const wanted = wantedOf(object_type, privileges);
  const rights = await rightsOf(object_name, object_type, prepend ?? 'public', where);
  const objects = new Set(rights.map(({ object }) => object));
  if (objects.size === 0)
    return isAll(object_name, object_type) && hasSchema(prepend ?? 'public', where);
  return [...objects].every(object => {
    const own = rights.filter(right => right.object === object);
    return (
      own[0]?.owner === name ||
      wanted.every(one =>
        own.some(
          ({ role, right, grantable }) =>
            role === name && right === one && (!grant_option || grantable),
        ),
      )
    );
  });
};

const hasSchema = async (name: string, where: PostgresOptions): Promise<boolean> =>
  (await psqlRows(`SELECT 1 FROM pg_namespace WHERE nspname = ${quoteLiteral(name)}`, where))
    .length > 0;

const objectText = (name: string, object_type: string, prepend: string): string => {
  const { kind } = typeOf(object_type);
  if (isAll(name, object_type)) return `ALL ${kind}S IN SCHEMA ${quoteName(prepend)}`;
  if (inSchemas.includes(object_type)) return `${kind} ${quoteName(prepend)}.${quoteName(name)}`;
  if (object_type !== 'function') return `${kind} ${quoteName(name)}`;
  if (!/^[\w"$. ]+(?:\([\w"$., [\]]*\))?$/.test(name))
    throw new SaltInvocationError(`Write a function as add or add(integer), not ${name}`);
  return `${kind} ${name}`;
};

/**
 * Grants rights on an object, or a membership. False when the role has them already.
 *
 * @param name the role
 * @param object_name the object
 * @param object_type the object's type
 * @param grant_option it may grant them
 * @example tsalt-ssh db1 postgres.privileges_grant shop orders table SELECT,UPDATE maintenance_db=shop
 */
export const privileges_grant = async (
  name: string,
  object_name: string,
  object_type: string,
  { privileges = null, grant_option = null, prepend = 'public', ...where }: PrivilegeOptions = {},
): Promise<boolean> => {
  const asked = { privileges, grant_option, prepend, ...where };
  if (await has_privileges(name, object_name, object_type, asked)) return false;
  const role = name.toLowerCase() === 'public' ? 'PUBLIC' : quoteName(name);
  if (object_type === 'group') {
    const admin = grant_option ? ' WITH ADMIN OPTION' : '';
    await psqlRows(`GRANT ${quoteName(object_name)} TO ${role}${admin}`, where);
    return true;
  }
  const rights = wantedOf(object_type, privileges).join(',');
  const on = objectText(object_name, object_type, prepend ?? 'public');
  const end = grant_option ? ' WITH GRANT OPTION' : '';
  await psqlRows(`GRANT ${rights} ON ${on} TO ${role}${end}`, where);
  return true;
};

/**
 * Takes rights on an object back, or a membership. False when the role does not have all of them.
 *
 * @param name the role
 * @param object_name the object
 * @param object_type the object's type
 * @example tsalt-ssh db1 postgres.privileges_revoke shop orders table UPDATE maintenance_db=shop
 */
export const privileges_revoke = async (
  name: string,
  object_name: string,
  object_type: string,
  { privileges = null, prepend = 'public', ...where }: Omit<PrivilegeOptions, 'grant_option'> = {},
): Promise<boolean> => {
  const asked = { privileges, prepend, ...where };
  if (!(await has_privileges(name, object_name, object_type, asked))) return false;
  const role = name.toLowerCase() === 'public' ? 'PUBLIC' : quoteName(name);
  if (object_type === 'group') {
    await psqlRows(`REVOKE ${quoteName(object_name)} FROM ${role}`, where);
    return true;
  }
  const rights = wantedOf(object_type, privileges).join(',');
  const on = objectText(object_name, object_type, prepend ?? 'public');
  await psqlRows(`REVOKE ${rights} ON ${on} FROM ${role}`, where);
  return true;
};
