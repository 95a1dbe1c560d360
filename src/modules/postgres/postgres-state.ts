import { messageOf } from '../../protocol/error.ts';
import { salt } from '../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../api.ts';

/** A value that may depend on the result of `due`: then a function that is called after it. */
type Later<T> = T | (() => T);

/** A state that does one thing when it is due; an error is its failure. */
export const oneStep = async (
  name: string,
  step: {
    readonly due: () => Promise<boolean>;
    /** The object lives in a database: without that database, there is nothing to remove. */
    readonly inDatabase?: 'makes' | 'removes';
    readonly done: string;
    readonly would: Later<string>;
    readonly work: () => Promise<unknown>;
    readonly success: Later<string>;
    readonly failure: Later<string>;
    readonly changes: Later<PlainDict>;
  },
): Promise<StateReturn> => {
  try {
    if (!(await step.due())) return unchanged(name, step.done);
  } catch (error) {
    const inNothing = isNoDatabase(error) ? step.inDatabase : undefined;
    if (inNothing === 'removes') return unchanged(name, step.done);
    // An earlier state may be to make the database.
    if (!(inNothing === 'makes' && __opts__.test)) return failed(name, messageOf(error));
  }
  if (__opts__.test) return would(name, now(step.would), now(step.changes));
  try {
    await step.work();
  } catch (error) {
    return failed(name, `${now(step.failure)}: ${messageOf(error)}`);
  }
  return changed(name, now(step.success), now(step.changes));
};

const isNoDatabase = (error: unknown): boolean =>
  /FATAL: +database ".*" does not exist/s.test(messageOf(error));

const now = <T extends string | PlainDict>(value: Later<T>): T =>
  typeof value === 'function' ? value() : value;

const livesInDatabase = ['Extension', 'Language'];

/** `absent` of whatever PostgreSQL knows by name. */
export const removal = (
  what: string,
  name: string,
  calls: { readonly exists: () => Promise<boolean>; readonly remove: () => Promise<unknown> },
): Promise<StateReturn> =>
  oneStep(name, {
    due: calls.exists,
    ...(livesInDatabase.includes(what) ? ({ inDatabase: 'removes' } as const) : {}),
    done: `${what} ${name} is not present${what === 'Language' ? '' : ','} so it cannot be removed`,
    would: `${what} ${name} is set to be removed`,
    work: calls.remove,
    success: `${what} ${name} has been removed`,
    failure: `${what} ${name} failed to be removed`,
    changes: { [name]: 'Absent' },
  });

export const postgresVirtual = (): true | [false, string] => {
  try {
    salt('postgres.psql_query');
    return true;
  } catch {
    return [false, 'The execution module postgres is not available on this host.'];
  }
};
