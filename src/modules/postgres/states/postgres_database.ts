/** Databases of PostgreSQL. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { type DbOptions, dbArgs } from '../postgres-db.ts';
import { postgresVirtual, removal } from '../postgres-state.ts';

/** Databases of PostgreSQL. */
export const __virtual__ = postgresVirtual;

/**
 * A database is there. Tablespace and owner of one that is there are changed; its encoding and
 * locale cannot be.
 *
 * @param name the database
 * @param tablespace where it is kept
 * @param encoding its encoding, as `UTF8`
 * @param lc_collate its order of texts
 * @param lc_ctype its classes of characters
 * @param owner its owner
 * @param owner_recurse true: what is in it gets that owner too
 * @param template the database to copy
 * @example
 * shop:
 *   postgres_database.present:
 *     - owner: shop
 *     - encoding: UTF8
 *     - template: template0
 */
export const present = async (
  name: string,
  {
    tablespace = null,
    encoding = null,
    lc_collate = null,
    lc_ctype = null,
    owner = null,
    owner_recurse = false,
    template = null,
    ...rest
  }: {
    tablespace?: string | null;
    encoding?: string | null;
    lc_collate?: string | null;
    lc_ctype?: string | null;
    owner?: string | null;
    owner_recurse?: boolean;
    template?: string | null;
  } & DbOptions = {},
): Promise<StateReturn> => {
  const where = dbArgs(rest);
  let doing = 'manage';
  try {
    const all: PlainDict = await salt('postgres.db_list')(where);
    const have = Object.hasOwn(all, name) ? (all[name] as PlainDict) : undefined;
    const differs = (key: string, wanted: string | null): boolean =>
      have !== undefined && Boolean(wanted) && have[key] !== wanted;
    if (
      (encoding && have && String(have.Encoding).toLowerCase() !== encoding.toLowerCase()) ||
      differs('Collate', lc_collate) ||
      differs('Ctype', lc_ctype)
    )
      return failed(
        name,
        `Database ${name} has wrong parameters which couldn't be changed on fly.`,
      );
    const changes: PlainDict = have ? alterations(have, { tablespace, owner }) : {};
    if (have && Object.keys(changes).length === 0)
      return unchanged(name, `Database ${name} is already present`);
    if (__opts__.test)
      return have
        ? would(name, `Database ${name} exists, but parameters need to be changed`, {
            [name]: changes,
          })
        : would(name, `Database ${name} is set to be created`, { [name]: 'Present' });
    doing = have ? 'change parameters for' : 'create';
    if (have) {
      await salt('postgres.db_alter')(name, { tablespace, owner, owner_recurse, ...where });
      return changed(name, `Parameters for database ${name} have been changed`, {
        [name]: 'Parameters changed',
      });
    }
    const options = { tablespace, encoding, lc_collate, lc_ctype, owner, template };
    await salt('postgres.db_create')(name, { ...options, ...where });
    return changed(name, `The database ${name} has been created`, { [name]: 'Present' });
  } catch (error) {
    return failed(name, `Failed to ${doing} database ${name}: ${messageOf(error)}`);
  }
};

const alterations = (
  have: PlainDict,
  { tablespace, owner }: { tablespace: string | null; owner: string | null },
): PlainDict => ({
  ...(tablespace && have.Tablespace !== tablespace
    ? { tablespace: { old: have.Tablespace ?? null, new: tablespace } }
    : {}),
  ...(owner && have.Owner !== owner ? { owner: { old: have.Owner ?? null, new: owner } } : {}),
});

/**
 * A database is not there.
 *
 * @param name the database
 * @example
 * shop:
 *   postgres_database.absent
 */
export const absent = async (name: string, options: DbOptions = {}): Promise<StateReturn> => {
  const where = dbArgs(options);
  return removal('Database', name, {
    exists: () => salt('postgres.db_exists')(name, where),
    remove: () => salt('postgres.db_remove')(name, where),
  });
};
