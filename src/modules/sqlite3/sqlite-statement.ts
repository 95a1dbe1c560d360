import { SaltInvocationError } from '../api.ts';

/**
 * One statement of SQL without what stands around it. The program sqlite3 reads more than SQL: lines
 * with a dot, `/` and `go` are its own commands, and none of them may be in what it is given.
 *
 * @param values how many values there are for its `?`
 * @throws SaltInvocationError when it is more than one, or has more or fewer `?`
 */
export const oneStatement = (sql: string, values?: number): string => {
  const text = sql.replace(/^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)+/, '');
  const pieces = text.matchAll(
    /'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|;|[^'"`[\-/;]+|[\s\S]/g,
  );
  let statement = '';
  let plain = '';
  let rest: string | undefined;
  for (const [piece] of pieces) {
    const isComment = /^(?:--|\/\*)/.test(piece);
    if (rest !== undefined) rest += isComment ? ' ' : piece;
    else if (piece === ';') rest = '';
    else {
      statement += piece;
      plain += isComment || /^['"`[]./s.test(piece) ? ' ' : piece;
    }
  }
  if ((rest ?? '').replace(/[\s;]/g, '') !== '')
    throw new SaltInvocationError('You can only execute one statement at a time.');
  if (/["'`]/.test(plain)) throw new SaltInvocationError('unrecognized token: a quote has no end');
  if (text.startsWith('.')) throw new SaltInvocationError('near ".": syntax error');
  if (/^\s*(?:\/|go)\s*$/im.test(plain))
    throw new SaltInvocationError('SQL for SQLite has no line of only "/" or "go".');
  const places = plain.split('?').length - 1;
  if (values !== undefined && values !== places && !/[:@$]\w|\?\d/.test(plain))
    throw new SaltInvocationError(
      `Incorrect number of bindings supplied. The current statement uses ${places}, and there are ${values} supplied.`,
    );
  return statement.trim();
};

/** A name as an SQL identifier. */
export const sqliteName = (name: string): string => `\`${name.replaceAll('`', '``')}\``;

/**
 * A value as an SQL literal. Of texts with control characters the bytes are given: the program would
 * change the ends of their lines.
 */
export const sqliteValue = (value: unknown): string => {
  if (value === null || value === undefined) return 'NULL';
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string')
    throw new SaltInvocationError(
      `SQLite keeps texts and numbers, not ${Array.isArray(value) ? 'lists' : 'dicts'}`,
    );
  return /\p{Cc}/u.test(value)
    ? `CAST(X'${Buffer.from(value).toString('hex')}' AS TEXT)`
    : `'${value.replaceAll("'", "''")}'`;
};

export type SqliteValue = string | number | null;

/** Rows of the program's mode `quote`: SQL literals with commas between them. */
export const readQuoted = (text: string): SqliteValue[][] => {
  const rows: SqliteValue[][] = [];
  let row: SqliteValue[] = [];
  for (let at = 0; at < text.length; ) {
    const end = literalEnd(text, at);
    row.push(sqlValue(text.slice(at, end)));
    at = end + 1;
    if (text[end] === ',') continue;
    rows.push(row);
    row = [];
  }
  return rows;
};

/** Where a literal ends; a text may be longer than what a regular expression can go through. */
const literalEnd = (text: string, start: number): number => {
  const quote = text[start] === 'X' ? start + 1 : start;
  if (text[quote] !== "'") {
    const length = text.slice(start, start + 64).search(/[,\n]/);
    return length < 0 ? text.length : start + length;
  }
  let end = text.indexOf("'", quote + 1);
  while (text[end + 1] === "'") end = text.indexOf("'", end + 2);
  return end < 0 ? text.length : end + 1;
};

const sqlValue = (literal: string): SqliteValue => {
  if (literal === 'NULL') return null;
  if (literal.startsWith("X'")) return Buffer.from(literal.slice(2, -1), 'hex').toString();
  if (literal.startsWith("'")) return literal.slice(1, -1).replaceAll("''", "'");
  const number = Number(literal);
  return Number.isInteger(number) && !Number.isSafeInteger(number) && /^-?\d+$/.test(literal)
    ? literal
    : number;
};
