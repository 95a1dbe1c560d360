import { getOwn } from '../../protocol/plain.ts';
import { SaltInvocationError } from '../api.ts';
import { mysqlName } from './mysql-run.ts';

export type Grant = {
  /** Rights in upper case, followed by their columns: `SELECT (a, b)`. */
  readonly grant: readonly string[];
  /** `db.table`, without quotes. */
  readonly database: string;
  readonly user: string;
  readonly host: string;
  readonly grantOption: boolean;
};

/** Parses a line of `SHOW GRANTS`; undefined for roles and proxies. */
export const parseGrant = (line: string): Grant | undefined => {
  const match =
    /^GRANT (.+?) ON (?:TABLE |FUNCTION |PROCEDURE )?((?:`(?:[^`]|``)+`|[^`\s])+) TO (`(?:[^`]|``)*`|'(?:[^'\\]|''|\\.)*'|[^\s@]+)@(`(?:[^`]|``)*`|'[^']*'|\S+)(.*)$/s.exec(
      line,
    );
  if (!match) return undefined;
  const [, grant = '', database = '', user = '', host = '', rest = ''] = match;
  return {
    grant: splitRights(grant),
    database: plainTarget(database),
    user: unquote(user),
    host: unquote(host),
    grantOption: /\bWITH\b.*\bGRANT OPTION\b/.test(rest) || /\bGRANT OPTION\b/.test(grant),
  };
};

/**
 * Normalizes rights: `select (b,a), Insert` becomes `SELECT (a, b)` and `INSERT`, and ALL becomes
 * ALL PRIVILEGES. Columns are not quoted.
 */
export const splitRights = (grant: string): string[] =>
  (grant.match(/(?:[^,(]|\([^)]*\))+/g) ?? [])
    .map(part => part.trim())
    .filter(part => part !== '')
    .map(part => {
      const [, right = '', columns] = /^([^(]+?)\s*(?:\((.*)\))?$/s.exec(part) ?? [];
      const name = right.toUpperCase().replace(/\s+/g, ' ');
      const plain = getOwn(aliases, name) ?? name;
      if (columns === undefined) return plain;
      const list = columns.split(',').map(column => unquote(column.trim()));
      return `${plain} (${list.sort().join(', ')})`;
    });

/** Formats rights as SQL, with quoted columns. */
export const rightsText = (grant: string): string => {
  const rights = splitRights(grant).map(one => /^([A-Z][A-Z ]*?)(?: \(([^()]*)\))?$/.exec(one));
  if (rights.length === 0 || rights.includes(null))
    throw new SaltInvocationError(`These are not rights of MySQL: ${grant}`);
  return rights
    .map(found =>
      found?.[2] === undefined
        ? found?.[1]
        : `${found[1]} (${found[2].split(', ').map(mysqlName).join(', ')})`,
    )
    .join(', ');
};

/** MariaDB reports some rights under newer names than those used to grant them. */
const aliases: Readonly<Record<string, string>> = {
  ALL: 'ALL PRIVILEGES',
  'BINLOG MONITOR': 'REPLICATION CLIENT',
  'REPLICA MONITOR': 'SLAVE MONITOR',
  'REPLICATION REPLICA': 'REPLICATION SLAVE',
  'REPLICATION REPLICA ADMIN': 'REPLICATION SLAVE ADMIN',
  'DELETE VERSIONING ROWS': 'DELETE HISTORY',
};

const unquote = (text: string): string =>
  /^[`'"]/.test(text) ? text.slice(1, -1).replace(/(``)/g, '`') : text;

const plainTarget = (target: string): string => target.replace(/[`"]/g, '').replaceAll('\\', '');

/** Splits `db.table` at the last dot into database and table. */
export const splitTarget = (database: string): { db: string; table: string } => {
  const dot = database.lastIndexOf('.');
  if (dot < 1)
    throw new SaltInvocationError(
      `database must be written as database.table or database.*, not ${database}`,
    );
  return { db: database.slice(0, dot), table: database.slice(dot + 1) };
};

/** Returns `db.table` for GRANT: `_` in the database's name is escaped, `%` is a wildcard as in Salt. */
export const grantTarget = (database: string, escaped: boolean): string => {
  const { db, table } = splitTarget(database);
  if (!escaped) return `${db}.${table}`;
  const literal = table === '*' ? db.replaceAll('_', '\\_') : db;
  return `${db === '*' ? db : mysqlName(literal)}.${table === '*' ? table : mysqlName(table)}`;
};

/**
 * The privileges that ALL PRIVILEGES includes on a database or a table; on the server it includes
 * all.
 */
const ordinary: ReadonlySet<string> = new Set([
  ...['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'DROP', 'REFERENCES', 'INDEX', 'ALTER'],
  ...['CREATE TEMPORARY TABLES', 'LOCK TABLES', 'CREATE VIEW', 'SHOW VIEW', 'TRIGGER', 'EVENT'],
  ...['CREATE ROUTINE', 'ALTER ROUTINE', 'EXECUTE', 'SHOW CREATE ROUTINE', 'DELETE HISTORY'],
  'USAGE',
]);

const onServer =
  /^(?:FILE|PROCESS|RELOAD|SHUTDOWN|SUPER|SHOW DATABASES|SET USER|(?:CREATE|DROP) ROLE|CREATE (?:USER|TABLESPACE)|REPLICATION .+|BINLOG .+|\w+ (?:ADMIN|MONITOR)|[A-Z]+(?:_[A-Z]+)+)$/;

const isPartOfAll = (right: string, { db, table }: { db: string; table: string }): boolean =>
  ordinary.has(right) ||
  (db === '*' && onServer.test(right)) ||
  (table !== '*' && /^(?:SELECT|INSERT|UPDATE|REFERENCES) \(/.test(right));

/** Whether what is there covers what is wanted. */
export const covers = (have: readonly Grant[], wanted: Omit<Grant, 'user' | 'host'>): boolean => {
  const target = plainTarget(wanted.database);
  const same = have.filter(({ database }) => database === target);
  const rights = new Set(same.flatMap(({ grant }) => grant));
  const all = rights.has('ALL PRIVILEGES');
  return (
    same.length > 0 &&
    wanted.grant.every(one => rights.has(one) || (all && isPartOfAll(one, splitTarget(target)))) &&
    (!wanted.grantOption || same.some(({ grantOption }) => grantOption))
  );
};
