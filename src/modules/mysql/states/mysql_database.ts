/** Manages databases of MySQL and MariaDB. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import type { MysqlOptions } from '../mysql-run.ts';
import { mysqlVirtual } from '../mysql-state.ts';

/** Databases of a MySQL or MariaDB server. */
export const __virtual__ = mysqlVirtual;

/**
 * Makes sure that a database exists, with this character set and collation.
 *
 * @param name the database
 * @param character_set its character set
 * @param collate its order of texts
 * @unknown ignored
 * @example
 * shop:
 *   mysql_database.present:
 *     - character_set: utf8mb4
 *     - collate: utf8mb4_unicode_ci
 */
export const present = async (
  name: string,
  {
    character_set = null,
    collate = null,
    ...where
  }: { character_set?: string | null; collate?: string | null } & MysqlOptions = {},
): Promise<StateReturn> => {
  const wanted = { character_set, collate };
  let doing = '';
  try {
    const have: PlainDict = await salt('mysql.db_get')(name, where);
    if (Object.keys(have).length === 0) {
      const changes = { [name]: 'Present' };
      if (__opts__.test)
        return would(name, `Database ${name} is not present and needs to be created`, changes);
      doing = `Failed to create database ${name}`;
      await salt('mysql.db_create')(name, { ...wanted, ...where });
      return changed(name, `The database ${name} has been created`, changes);
    }
    const notes = [
      ...differs('character set', character_set, have.character_set),
      ...differs('collate', collate, have.collate),
    ];
    if (notes.length === 0) return unchanged(name, `Database ${name} is already present`);
    if (__opts__.test)
      return would(
        name,
        [...notes, `Database ${name} is going to be updated`].join('\n'),
        changesOf(have, { ...have, ...given(wanted) }),
      );
    await salt('mysql.alter_db')(name, { ...wanted, ...where });
    const now: PlainDict = await salt('mysql.db_get')(name, where);
    return changed(name, notes.join('\n'), changesOf(have, now));
  } catch (error) {
    const reason = messageOf(error);
    return failed(name, doing ? `${doing} (${reason})` : reason);
  }
};

const differs = (what: string, wanted: string | null, have: unknown): string[] =>
  wanted && fullName(wanted) !== fullName(String(have))
    ? [`Database ${what} ${wanted} != ${String(have)} needs to be updated`]
    : [];

/** Newer servers report `utf8` and its collations by their full names; compared in lower case. */
const fullName = (name: string): string => name.toLowerCase().replace(/^utf8(?=_|$)/, 'utf8mb3');

const given = (wanted: PlainDict): PlainDict =>
  Object.fromEntries(Object.entries(wanted).filter(([, value]) => value));

const changesOf = (before: PlainDict, now: PlainDict): PlainDict =>
  Object.fromEntries(
    ['character_set', 'collate']
      .filter(key => before[key] !== now[key])
      .map(key => [key, { before: before[key] ?? null, now: now[key] ?? null }]),
  );

/**
 * Makes sure that a database does not exist.
 *
 * @param name the database
 * @unknown ignored
 * @example
 * shop:
 *   mysql_database.absent
 */
export const absent = async (name: string, where: MysqlOptions = {}): Promise<StateReturn> => {
  let doing = '';
  try {
    if (!(await salt('mysql.db_exists')(name, where)))
      return unchanged(name, `Database ${name} is not present, so it cannot be removed`);
    const changes = { [name]: 'Absent' };
    if (__opts__.test)
      return would(name, `Database ${name} is present and needs to be removed`, changes);
    doing = `Unable to remove database ${name}`;
    await salt('mysql.db_remove')(name, where);
    return changed(name, `Database ${name} has been removed`, changes);
  } catch (error) {
    const reason = messageOf(error);
    return failed(name, doing ? `${doing} (${reason})` : reason);
  }
};
