import { messageOf } from '../../protocol/error.ts';
import { salt } from '../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../_shared/states/returns.ts';
import { toList } from '../_shared/states/values.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';
import { type DbOptions, dbArgs } from './postgres-db.ts';
import { type Encryption, hashedPassword, passwordFits } from './postgres-password.ts';
import { quoteLiteral } from './postgres-run.ts';

type RoleState = {
  createdb?: boolean | null;
  createroles?: boolean | null;
  encrypted?: Encryption | null;
  superuser?: boolean | null;
  replication?: boolean | null;
  inherit?: boolean | null;
  login?: boolean | null;
  password?: string | null;
  default_password?: string | null;
  refresh_password?: boolean | null;
  valid_until?: string | null;
  groups?: string | string[] | null;
} & DbOptions;

const flags = {
  createdb: 'can create databases',
  inherit: 'inherits privileges',
  login: 'can login',
  createroles: 'can create roles',
  replication: 'replication',
  superuser: 'superuser',
} as const;

/** `postgres_user.present` and `postgres_group.present`. */
export const ensureRole = async (
  kind: 'user' | 'group',
  name: string,
  options: RoleState,
): Promise<StateReturn> => {
  const where = dbArgs(options);
  const label = kind === 'user' ? 'User' : 'Group';
  let deed = 'manage';
  try {
    const role: PlainDict | null = await salt('postgres.role_get')(name, {
      return_password: options.password != null && !options.refresh_password,
      ...where,
    });
    const password = passwordToSet(name, role, options);
    const update = role === null ? {} : await differences(role, password, options);
    if (role !== null && Object.keys(update).length === 0)
      return unchanged(name, `${label} ${name} is already present`);
    const mode = role === null ? 'create' : 'update';
    const changes: PlainDict = { [name]: role === null ? 'Present' : update };
    if (__opts__.test) return would(name, `${label} ${name} is set to be ${mode}d`, changes);
    const wanted: PlainDict = Object.fromEntries(
      Object.keys(flags).map(key => [key, options[key as keyof typeof flags] ?? null]),
    );
    if (role === null && wanted.login === null) delete wanted.login;
    deed = mode;
    await salt(`postgres.${kind}_${mode}`)(name, {
      ...wanted,
      encrypted: options.encrypted ?? 'md5',
      rolepassword: password,
      valid_until: options.valid_until ?? null,
      groups: options.groups ?? null,
      ...where,
    });
    return changed(name, `The ${kind} ${name} has been ${mode}d`, changes);
  } catch (error) {
    return failed(name, `Failed to ${deed} ${kind} ${name}: ${messageOf(error)}`);
  }
};

const passwordToSet = (
  name: string,
  role: PlainDict | null,
  { password, default_password, refresh_password, encrypted }: RoleState,
): string | null => {
  const wanted = password ?? (role === null ? default_password : null);
  if (wanted === null || wanted === undefined) return null;
  const way = encrypted ?? 'md5';
  const kept = String(role?.password ?? '');
  if (role !== null && !refresh_password && passwordFits(name, String(wanted), kept, way))
    return null;
  return hashedPassword(name, String(wanted), way);
};

const differences = async (
  role: PlainDict,
  password: string | null,
  options: RoleState,
): Promise<PlainDict> => {
  const update: PlainDict = {};
  for (const [key, label] of Object.entries(flags)) {
    const wanted = options[key as keyof typeof flags];
    if (wanted !== null && wanted !== undefined && role[label] !== wanted) update[key] = wanted;
  }
  if (password !== null) update.password = true;
  if (options.valid_until) {
    const [row] = await salt('postgres.psql_query')(
      `SELECT ${quoteLiteral(options.valid_until)}::timestamp(0) AS dt`,
      dbArgs(options),
    );
    if (row?.dt !== (role['expiry time'] ?? '')) update.valid_until = options.valid_until;
  }
  const have = (role.groups ?? []) as string[];
  const missing = toList(options.groups ?? null).filter(group => !have.includes(group));
  if (missing.length > 0) update.groups = missing;
  return update;
};
