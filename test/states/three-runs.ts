import { expect } from 'vitest';
import { nothing } from '../helpers/nothing.ts';
import { snapshot, type TestHost } from './runner.ts';

export type StateCase = {
  readonly title: string;
  readonly fun: string;
  /** Files below the scratch folder before the run; a name that ends with `/` is a directory. */
  readonly before?: Readonly<Record<string, string>>;
  readonly control?: Readonly<Record<string, string>>;
  readonly name: string;
  readonly args?: readonly unknown[];
  /** `changes` of the real run; `ROOT` is replaced by the scratch folder. */
  readonly changes?: unknown;
  readonly testChanges?: unknown;
  readonly comment?: string;
  readonly after?: Readonly<Record<string, string>>;
};

/** Runs a state in test mode (nothing moves), for real (changes), and again (no change). */
export const runThreeTimes = async (host: TestHost, one: StateCase): Promise<void> => {
  for (const [path, text] of Object.entries(one.before ?? {})) host.write(path, text);
  for (const [path, text] of Object.entries(one.control ?? {})) host.control.set(path, text);
  const fill = <T>(value: T): T =>
    JSON.parse(JSON.stringify(value).replaceAll('ROOT', host.root)) as T;
  const name = fill(one.name);
  const args = fill(one.args ?? []);
  const before = snapshot(host.root);

  const planned = await host.test(one.fun, name, ...args);
  expect(planned, 'test mode').toMatchObject({ result: null });
  expect(snapshot(host.root), 'test mode touches nothing').toEqual(before);
  if (one.testChanges) expect(planned.changes).toEqual(fill(one.testChanges));

  const applied = await host.state(one.fun, name, ...args);
  expect(applied.result, String(applied.comment)).toBe(true);
  expect(applied.changes).not.toEqual({});
  if (one.changes) expect(applied.changes).toEqual(fill(one.changes));
  if (one.comment) expect(applied.comment).toBe(fill(one.comment));
  for (const [path, text] of Object.entries(one.after ?? {}))
    expect(host.file(path), path).toBe(text);

  const done = snapshot(host.root);
  const again = await host.state(one.fun, name, ...args);
  expect(again, 'second run').toMatchObject({ result: true, changes: nothing });
  expect(snapshot(host.root), 'second run').toEqual(done);
};
