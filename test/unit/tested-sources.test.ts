import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';

/** Programs that tests run as built files, and a test that does. */
const programs: Readonly<Record<string, string>> = {
  'src/main.ts': 'test/host/integration/prompt/first-use.test.ts',
  'src/cli/worker-process.ts': 'test/host/integration/workers/worker-processes.test.ts',
  'src/cli/detach/detached-run.ts': 'test/host/integration/workers/detach.test.ts',
  'src/loader/main.ts': 'test/host/loader/programs.test.ts',
  'src/output/html/page/main.ts': 'test/host/integration/reports/html-report.test.ts',
  'src/render/script/guest/main.ts': 'test/host/render/mako.test.ts',
};

/** Files whose tests name them otherwise, or which have none, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  'src/bundle/builtin-types.ts':
    'scripts/types.ts runs it: the type tests in test/types use the result',
  'src/runtime/grains-main.ts':
    'test/host/integration/rollout/rollout.test.ts: hosts that are asked for their grains',
  'src/modules/vitest.ts': 'test/host/bundle/install.test.ts imports it as tsalt-ssh/vitest',
  'src/modules/apache/states/apache_conf.ts': 'test/host/states/apache.test.ts composes its name',
  'src/modules/apache/states/apache_site.ts': 'test/host/states/apache.test.ts composes its name',
  'src/modules/cron/states/cron/describe.ts': 'test/lab/describe.test.ts, by state.describe',
  'src/modules/pkg/states/pkg/describe.ts': 'test/lab/describe.test.ts, by state.describe',
  'src/modules/service/states/service/describe.ts': 'test/lab/describe.test.ts, by state.describe',
  'src/modules/user/states/user/describe.ts': 'test/lab/describe.test.ts, by state.describe',
  'src/modules/grains/grains/static_grains.ts': 'a grains module: every test that sets grains_file',
  'src/modules/file/states/file/mod_run_check_cmd.ts':
    'its helper check-cmd.ts, by check_cmd of file states',
  'src/modules/disk/exec/mount/elsewhere.ts':
    'no test: fails with the name of the platform it is for',
  'src/modules/disk/states/mount/mod_watch.ts': 'no test: one call of mount.remount',
  'src/modules/pkg/states/pkg/mod_watch.ts': 'no test: one call of the state that watches',
};

const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(path => posix.join(folder, path))
    .filter(path => ending.test(path) && !path.includes('node_modules'));

const read = (path: string): string => readFileSync(path, 'utf8');
const sources = filesIn('src', /\.ts$/);
const tests = filesIn('test', /\.(?:[mc]?ts|js|py|sls|ya?ml|json)$/).map(read);

const declares = /^(?:export )?(?:default )?(?:async )?(?:const|let|function|class|enum)\b/m;
const exported = /^export (?:async )?(?:const|function) ([\w$]+)/gm;

/** Functions that tests call or use in SLS, such as `file.managed`. */
const functions = new Set(
  tests.flatMap(text => [...text.matchAll(/\b[a-z]\w*\.[a-z]\w*/g)].map(([name]) => name)),
);

/** Sources that tests name, by an import or by their path. */
const named = new Set(
  tests.flatMap(text => [...text.matchAll(/\bsrc\/[\w./-]+\.ts\b/g)].map(([path]) => path)),
);

/** The names by which users call a built-in module, which is a file or a folder. */
const moduleNames = (file: string): string[] => {
  const [, folder = '', name = ''] =
    /^(src\/modules\/[^/]+\/(?:exec|states|grains))\/([^/.]+)/.exec(file) ?? [];
  if (name === '') return [];
  const home = posix.join(folder, name);
  const parts = existsSync(home) ? filesIn(home, /\.ts$/) : [file];
  const virtual = parts.flatMap(part => /__virtualname__ = '(\w+)'/.exec(read(part))?.[1] ?? []);
  return [name, ...virtual];
};

const isTested = (file: string): boolean =>
  named.has(file) ||
  file in programs ||
  ['test/unit', 'test/host'].some(level =>
    existsSync(file.replace(/^src/, level).replace(/\.ts$/, '.test.ts')),
  ) ||
  moduleNames(file).some(module =>
    [...read(file).matchAll(exported)].some(([, name = '']) =>
      functions.has(`${module}.${name.replace(/_$/, '')}`),
    ),
  );

/** The files that a file imports, at once or later. */
const imports = (file: string): string[] =>
  [...read(file).matchAll(/(?:from |import\()'(\.[^']+)'/g)].map(([, to = '']) =>
    posix.join(posix.dirname(file), to),
  );

test('a source has a test of its path, is named by one, or serves a file that is', () => {
  const reached = new Set<string>();
  const queue = sources.filter(isTested);
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (reached.has(file) || !existsSync(file)) continue;
    reached.add(file);
    queue.push(...imports(file));
  }
  const unreached = sources.filter(file => !reached.has(file) && declares.test(read(file)));
  expect(unreached.filter(file => !(file in elsewhere)).sort()).toEqual([]);
});

test('what is listed exists', () => {
  expect(Object.keys(elsewhere).filter(file => !existsSync(file))).toEqual([]);
  expect(Object.entries(programs).filter(paths => !paths.every(existsSync))).toEqual([]);
});
