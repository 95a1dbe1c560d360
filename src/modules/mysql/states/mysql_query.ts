/** Runs SQL on MySQL or MariaDB servers. */
import { messageOf } from '../../../protocol/error.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { exists } from '../../_shared/files/file-paths.ts';
import { salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { plainRepr, plainStr } from '../../_shared/text/python-text.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import type { MysqlOptions, MysqlResult } from '../mysql-run.ts';
import { mysqlVirtual } from '../mysql-state.ts';

/** SQL that states run on a MySQL or MariaDB server. */
export const __virtual__ = mysqlVirtual;

type Options = {
  output?: string | null;
  grain?: string | null;
  key?: string | null;
  overwrite?: boolean;
  check_db_exists?: boolean;
  client_flags?: string[] | null;
} & MysqlOptions;

/**
 * Runs SQL. With `output` and `overwrite: false` it runs until there is an output.
 *
 * @param name a name for this
 * @param database the database
 * @param query the SQL
 * @param output a file for the answer, or `grain`
 * @param grain the grain for it
 * @param key a key in that grain
 * @param overwrite false: not when there is an output already
 * @param check_db_exists fail if the database does not exist
 * @param client_flags `multi_statements`, which is always on; others are refused
 * @unknown ignored
 * @example
 * count items:
 *   mysql_query.run:
 *     - database: shop
 *     - query: SELECT COUNT(*) FROM items
 *     - output: /var/lib/shop/items.json
 *     - overwrite: false
 */
export const run = async (
  name: string,
  database: string,
  query: string,
  options: Options = {},
): Promise<StateReturn> =>
  execute(name, database, options, where => salt('mysql.query')(database, query, where));

/**
 * Runs a file of SQL.
 *
 * @param name a name for this
 * @param database the database
 * @param query_file the file, also `salt://`
 * @param saltenv the environment of a `salt://` file
 * @param output a file for the answer, or `grain`
 * @param grain the grain for it
 * @param key a key in that grain
 * @param overwrite false: not when there is an output already
 * @param check_db_exists fail if the database does not exist
 * @param client_flags `multi_statements`, which is always on; others are refused
 * @unknown ignored
 * @example
 * load schema:
 *   mysql_query.run_file:
 *     - database: shop
 *     - query_file: salt://shop/schema.sql
 *     - output: /var/lib/shop/schema.done
 *     - overwrite: false
 */
export const run_file = async (
  name: string,
  database: string,
  {
    query_file = null,
    saltenv = null,
    ...options
  }: { query_file?: string | null; saltenv?: string | null } & Options = {},
): Promise<StateReturn> => {
  if (!query_file) return failed(name, 'mysql_query.run_file needs query_file.');
  const path = await fileOf(query_file, saltenv);
  if (!path || !exists(path)) return failed(name, `File ${query_file} does not exist`);
  return execute(name, database, options, where => salt('mysql.file_query')(database, path, where));
};

const fileOf = async (file: string, saltenv: string | null): Promise<string | false> =>
  /^(?:salt|https?):\/\//.test(file)
    ? ((await salt('cp.cache_file')(inEnvironment(file, saltenv))) as string | false)
    : file;

const inEnvironment = (file: string, saltenv: string | null): string =>
  saltenv && file.startsWith('salt://') && !file.includes('?saltenv=')
    ? `${file}?saltenv=${saltenv}`
    : file;

const execute = async (
  name: string,
  database: string,
  options: Options,
  work: (where: MysqlOptions) => Promise<MysqlResult>,
): Promise<StateReturn> => {
  const {
    output = null,
    grain = null,
    key = null,
    overwrite = true,
    check_db_exists = true,
    client_flags = null,
    ...where
  } = options;
  if (client_flags !== null && !Array.isArray(client_flags))
    return failed(name, 'Error: client_flags must be a list.');
  const flag = client_flags?.find(one => one !== 'multi_statements');
  if (flag)
    return failed(
      name,
      `The client flag ${flag} is not one that mysql_query takes: only multi_statements, which is always on.`,
    );
  if (output === 'grain' && !grain)
    return failed(name, "Error: output type 'grain' needs the grain parameter");
  try {
    if (check_db_exists && !(await salt('mysql.db_exists')(database, where)))
      return would(name, `Database ${database} is not present`);
    const kept = `${grain}${key ? `:${key}` : ''}`;
    const place = output === 'grain' ? `grain: ${kept}` : output;
    if (place && !overwrite && (await isKept(output, grain, key)))
      return unchanged(
        name,
        `No execution needed. ${output === 'grain' ? `Grain ${kept}` : `File ${place}`} already set`,
      );
    const changes = { query: place ? `Executed. Output into ${place}` : 'Executed' };
    if (__opts__.test)
      return would(
        name,
        place
          ? `Query would execute, storing result in ${output === 'grain' ? place : `file: ${place}`}`
          : 'Query would execute, not storing result',
        changes,
      );
    const answer = withNamedColumns(await work(where));
    if (output === 'grain')
      await salt('grains.set')(key ? `${grain}:${key}` : grain, answer, { force: true });
    else if (output) writeAtomic(output, Buffer.from(linesOf(answer)));
    return changed(name, textOf(answer), changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/** Returns each row as a dict, by column names. */
const withNamedColumns = (answer: MysqlResult): PlainDict => {
  const { columns, results, ...rest } = answer;
  if (!columns || !results) return rest;
  const rows = results.map(row =>
    Object.fromEntries(columns.map((column, at) => [column, row[at] ?? null])),
  );
  return { ...rest, columns, results: rows };
};

/** Formats the result like Python's `str()`; in Salt, the columns are a tuple. */
const textOf = ({ columns, results, ...rest }: PlainDict): string => {
  if (!Array.isArray(columns)) return plainStr(rest);
  const tuple = `(${columns.map(plainRepr).join(', ')}${columns.length === 1 ? ',' : ''})`;
  return `${plainStr(rest).slice(0, -1)}, 'columns': ${tuple}, 'results': ${plainRepr(results)}}`;
};

/**
 * Formats the output file: `column:value` for every value, or the server's message if there are no
 * rows.
 */
const linesOf = ({ results, ...rest }: PlainDict): string =>
  (Array.isArray(results) ? (results as PlainDict[]) : [rest])
    .flatMap(row => Object.entries(row).map(([name, value]) => `${name}:${plainStr(value)}\n`))
    .join('');

const isKept = async (
  output: string | null,
  grain: string | null,
  key: string | null,
): Promise<boolean> =>
  output === 'grain'
    ? (await salt('grains.get')(key ? `${grain}:${key}` : grain, null)) !== null
    : exists(String(output));
