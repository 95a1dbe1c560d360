import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { toPlain } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

/** Real Salt's answers for file states, run against the modules without the engine. */
const cases = [
  'results/file_managed_source_and_diff',
  'results/file_managed_test_apply_repeat',
  'results/contents_forms',
  'results/file_edit_states',
];

type Golden = {
  files: Record<string, string>;
  setup?: { files: Record<string, string> };
  call?: string;
  steps?: { call: string }[];
  expect: {
    return: Record<string, Record<string, unknown>>;
    steps?: { return: Record<string, Record<string, unknown>> }[];
    tmpdir: Record<string, { mode?: string; content?: string; symlink?: string; dir?: boolean }>;
  };
};

let host: TestHost;
afterEach(() => host.remove());

process.umask(0o022);
const isRoot = process.geteuid?.() === 0;

test.skipIf(!isRoot).each(cases)('%s as Salt does it', async name => {
  const path = join(import.meta.dirname, '../../golden/cases', `${name}.json`);
  host = makeHost({ pillar: { a: { b: 'from pillar' } } });
  const golden: Golden = JSON.parse(
    readFileSync(path, 'utf8').replaceAll('{{TMPDIR}}', join(host.root, 'tmp')),
  );
  mkdirSync(join(host.root, 'tmp'));
  for (const [file, text] of Object.entries(golden.setup?.files ?? {}))
    host.write(`tmp/${file}`, text);
  for (const [file, text] of Object.entries(golden.files)) host.control.set(file, text);
  const steps = golden.steps ?? [{ call: golden.call }];
  const expected = golden.expect.steps ?? [golden.expect];
  for (const [index, step] of steps.entries())
    expect(await apply(golden.files['a.sls']!, step.call === 'apply_test')).toEqual(
      withoutEngine(expected[index]!.return),
    );
  for (const [file, wanted] of Object.entries(golden.expect.tmpdir))
    expect(look(join(host.root, 'tmp', file)), file).toMatchObject(wanted);
  const there = readdirSync(join(host.root, 'tmp'));
  expect(there.filter(file => !Object.hasOwn(golden.expect.tmpdir, file))).toEqual([]);
});

const apply = async (sls: string, test: boolean): Promise<Record<string, unknown>> => {
  const results: Record<string, unknown> = {};
  const tree = toPlain(loadYaml(sls.replace('#!yaml\n', ''))) as Record<
    string,
    Record<string, object[]>
  >;
  for (const [id, body] of Object.entries(tree))
    for (const [fun, list] of Object.entries(body)) {
      const { name, ...options } = Object.assign({}, ...list) as { name: string };
      const mode = (value: unknown) => (value === 0o640 ? 640 : value);
      const keywords = Object.fromEntries(
        Object.entries(options).map(([key, value]) => [key, key === 'mode' ? mode(value) : value]),
      );
      results[id] = await (test ? host.test : host.state)(fun, name, ...positional(fun, keywords));
    }
  return results;
};

/** Parameters that these functions take by position. */
const positions: Record<string, string[]> = {
  'file.replace': ['pattern', 'repl'],
  'file.comment': ['regex'],
  'file.symlink': ['target'],
};

const positional = (fun: string, keywords: Record<string, unknown>): unknown[] => {
  const names = positions[fun] ?? [];
  const rest = Object.entries(keywords).filter(([key]) => !names.includes(key));
  return [...names.map(name => keywords[name]), Object.fromEntries(rest)];
};

const withoutEngine = (results: Record<string, Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.values(results).map(({ __id__, __sls__, __run_num__, ...rest }) => [__id__, rest]),
  );

const look = (path: string): object => {
  if (!existsSync(path)) return {};
  const stats = lstatSync(path);
  if (stats.isSymbolicLink()) return { symlink: readlinkSync(path) };
  const mode = `0${(stats.mode & 0o7777).toString(8)}`;
  return stats.isDirectory() ? { mode, dir: true } : { mode, content: readFileSync(path, 'utf8') };
};
