/**
 * `tsalt-ssh/vitest`: matchers for what state functions return. Importing it once adds them to
 * `expect`, in a test or in a setup file.
 *
 *     import 'tsalt-ssh/vitest';
 *     expect(await t.run(() => present('a'))).toHaveChanged({ a: { old: null, new: 'b' } });
 */
import { expect } from 'vitest';

/** Matchers for the return value of a state function, or for a state of a run's results. */
export type StateMatchers<R = unknown> = {
  /** The state is as wanted: `result` is true. */
  toSucceed: () => R;
  /** The state failed: `result` is false. With an argument, its comment contains it or matches it. */
  toFail: (comment?: string | RegExp) => R;
  /** The state succeeded and changed something; with an argument, exactly these changes. */
  toHaveChanged: (changes?: object) => R;
  /** The state succeeded and changed nothing. */
  toBeUnchanged: () => R;
  /** The state, in test mode, would change something: `result` is null. */
  toPredictChanges: (changes?: object) => R;
};

declare module 'vitest' {
  // biome-ignore lint/suspicious/noExplicitAny: the parameter must be the one that vitest declares
  interface Matchers<T = any> extends StateMatchers<T> {}
}

type Matched = { readonly pass: boolean; readonly message: () => string };

type MatcherTools = {
  readonly isNot: boolean;
  readonly equals: (a: unknown, b: unknown) => boolean;
  readonly utils: {
    readonly diff: (a: unknown, b: unknown) => string | null | undefined;
    readonly stringify: (value: unknown) => string;
  };
};

type Returned = { readonly result: unknown; readonly changes: object; readonly comment: string };

/** Reads what a matcher was given, which may be anything. */
const returned = (value: unknown): Returned | undefined => {
  if (typeof value !== 'object' || value === null || !('result' in value)) return undefined;
  const { result, changes, comment } = value as Record<string, unknown>;
  const lines = Array.isArray(comment) ? comment.map(String) : [String(comment ?? '')];
  return {
    result,
    changes: typeof changes === 'object' && changes !== null ? changes : {},
    comment: lines.join('\n'),
  };
};

/** Makes a matcher of a check that returns undefined, or why the state is not what is expected. */
const matcher =
  (
    what: string,
    check: (state: Returned, tools: MatcherTools, given: unknown) => string | undefined,
  ) =>
  (tools: MatcherTools, value: unknown, given?: unknown): Matched => {
    const state = returned(value);
    const fault = state
      ? check(state, tools, given)
      : `${tools.utils.stringify(value)} is not the return value of a state`;
    const shown = state ? `\nresult: ${state.result}\ncomment: ${state.comment}` : '';
    return {
      pass: fault === undefined,
      message: () =>
        `expected the state ${tools.isNot ? 'not ' : ''}${what}: ${fault ?? 'it did'}${shown}`,
    };
  };

const succeeded = ({ result }: Returned): string | undefined =>
  result === true ? undefined : `its result is ${result}`;

const sameChanges = (
  { changes }: Returned,
  { equals, utils }: MatcherTools,
  wanted: unknown,
): string | undefined => {
  if (wanted === undefined)
    return Object.keys(changes).length > 0 ? undefined : 'it reports no changes';
  if (equals(changes, wanted)) return undefined;
  return `its changes differ\n${utils.diff(wanted, changes) ?? ''}`;
};

const checks = {
  toSucceed: matcher('to succeed', succeeded),
  toFail: matcher('to fail', ({ result, comment }, { utils }, wanted) => {
    if (result !== false) return `its result is ${result}`;
    const isFound =
      wanted instanceof RegExp ? wanted.test(comment) : comment.includes(String(wanted ?? ''));
    return isFound ? undefined : `its comment has no ${utils.stringify(wanted)}`;
  }),
  toHaveChanged: matcher(
    'to have changed something',
    (state, tools, wanted) => succeeded(state) ?? sameChanges(state, tools, wanted),
  ),
  toBeUnchanged: matcher(
    'to be unchanged',
    state =>
      succeeded(state) ??
      (Object.keys(state.changes).length === 0
        ? undefined
        : `it changed ${Object.keys(state.changes).join(', ')}`),
  ),
  toPredictChanges: matcher('to predict changes', (state, tools, wanted) =>
    state.result === null
      ? wanted === undefined
        ? undefined
        : sameChanges(state, tools, wanted)
      : `its result is ${state.result}`,
  ),
};

expect.extend(
  Object.fromEntries(
    Object.entries(checks).map(([name, check]) => [
      name,
      function (this: MatcherTools, value: unknown, given?: unknown): Matched {
        return check(this, value, given);
      },
    ]),
  ),
);
