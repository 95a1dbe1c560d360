/** Tablespaces of PostgreSQL. */
import { messageOf } from '../../../protocol/error.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { type DbOptions, dbArgs } from '../postgres-db.ts';
import { postgresVirtual, removal } from '../postgres-state.ts';

/** Tablespaces of a PostgreSQL server. */
export const __virtual__ = postgresVirtual;

/**
 * A tablespace is there. Its owner and settings are changed; its folder cannot be.
 *
 * @param name the tablespace
 * @param directory its folder: there, empty, and the server's own
 * @param options settings, as `{random_page_cost: 1.1}`
 * @param owner its owner
 * @example
 * fast:
 *   postgres_tablespace.present:
 *     - directory: /srv/fast
 */
export const present = async (
  name: string,
  directory: string,
  {
    options = null,
    owner = null,
    ...rest
  }: { options?: PlainDict | null; owner?: string | null } & DbOptions = {},
): Promise<StateReturn> => {
  const where = dbArgs(rest);
  try {
    const all: PlainDict = await salt('postgres.tablespace_list')(where);
    const have = Object.hasOwn(all, name) ? (all[name] as PlainDict) : undefined;
    if (!have) {
      const changes = { [name]: 'Present' };
      if (__opts__.test) return would(name, `Tablespace ${name} is set to be created`, changes);
      await salt('postgres.tablespace_create')(name, directory, { options, owner, ...where });
      return changed(name, `The tablespace ${name} has been created`, changes);
    }
    if (have.Location !== directory)
      return failed(
        name,
        `Tablespace ${name} exists at the wrong location ${String(have.Location)}, and PostgreSQL does not move tablespaces`,
      );
    const set = Object.entries(options ?? {}).filter(
      ([key, value]) =>
        !String(have.Opts)
          .replace(/^\{|\}$/g, '')
          .split(',')
          .includes(`${key}=${String(value)}`),
    );
    const other: PlainDict = {
      ...(owner && have.Owner !== owner ? { owner } : {}),
      ...(set.length > 0 ? { options: Object.fromEntries(set) } : {}),
    };
    const changes = { [name]: other };
    if (Object.keys(other).length === 0)
      return unchanged(name, `Tablespace ${name} is already present`);
    if (__opts__.test)
      return would(
        name,
        `Tablespace ${name} ${set.length > 0 ? 'options' : 'owner'} to be altered`,
        changes,
      );
    await salt('postgres.tablespace_alter')(name, {
      new_owner: other.owner ? owner : null,
      set_option: set.length > 0 ? Object.fromEntries(set) : null,
      ...where,
    });
    return changed(
      name,
      `Tablespace ${name} ${set.length > 0 ? 'opts' : 'owner'} changed`,
      changes,
    );
  } catch (error) {
    return failed(name, `Failed to manage tablespace ${name}: ${messageOf(error)}`);
  }
};

/**
 * A tablespace is not there.
 *
 * @param name the tablespace
 * @example
 * fast:
 *   postgres_tablespace.absent
 */
export const absent = async (name: string, options: DbOptions = {}): Promise<StateReturn> => {
  const where = dbArgs(options);
  return removal('Tablespace', name, {
    exists: () => salt('postgres.tablespace_exists')(name, where),
    remove: () => salt('postgres.tablespace_remove')(name, where),
  });
};
