import { shownPath } from '../../fileserver/shown-path.ts';
import { TsaltError } from '../../protocol/error.ts';
import { readable } from '../../transport/unreachable.ts';
import type { HostAttempt } from './attempt.ts';

/** Errors that interrupt a run. */
const codes: ReadonlySet<string> = new Set([
  'cancelled',
  'connection-lost',
  'host-silent',
  'run-aborted',
  'runtime-ended',
  'runtime-stuck',
]);

/** Adds to an error that ended a run the states and functions that had begun and did not finish. */
export const withUnfinished = (error: unknown, attempt: HostAttempt): unknown => {
  if (!(error instanceof TsaltError) || !codes.has(error.code)) return error;
  const { code, message, kind, at, excerpt, cause } = error;
  const hint = [error.hint, unfinished(attempt), unstarted(attempt), loadedModules(code, attempt)]
    .filter(text => text !== undefined)
    .join('\n');
  return new TsaltError(code, message, {
    kind,
    at,
    excerpt,
    cause,
    hint: hint === '' ? undefined : hint,
  });
};

const unfinished = ({ states, calls }: HostAttempt): string | undefined => {
  const running =
    states.running.length > 0
      ? states.running.map(({ id, fun }) => `the state '${shown(id)}' (${shown(fun)})`)
      : calls.running.map(fun => `the function ${shown(fun)}`);
  if (running.length === 0) return undefined;
  const more = running.length > most ? ` and ${running.length - most} more` : '';
  return `It was running ${running.slice(0, most).join(', ')}${more}.`;
};

const unstarted = ({ states }: HostAttempt): string | undefined => {
  const left = states.unstarted;
  if (left.length === 0) return undefined;
  const named = left
    .slice(0, most)
    .map(({ __id__, state, fun }) => `'${shown(__id__)}' (${shown(`${state}.${fun}`)})`);
  const more = left.length > most ? ` and ${left.length - most} more` : '';
  return `Not run: ${named.join(', ')}${more}.`;
};

/** A loop at the top of a module, or in its `__virtual__`, cannot be seen from outside. */
const loadedModules = (code: string, { states, calls, facts }: HostAttempt): string | undefined => {
  const isStuck = code === 'runtime-stuck' || code === 'host-silent';
  if (!isStuck || states.running.length > 0 || facts.loaded.length === 0) return undefined;
  const files = facts.loaded.map(({ path }) => shownPath(path));
  const more = files.length > most ? ` and ${files.length - most} more` : '';
  const where = calls.running.length > 0 ? 'It' : 'A module';
  return `${where} may compute endlessly, as may a module that was loaded: ${files.slice(0, most).join(', ')}${more}.`;
};

const most = 5;

const shown = (text: unknown): string => readable(String(text), 200);
