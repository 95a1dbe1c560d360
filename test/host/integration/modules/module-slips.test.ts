import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zipSync } from 'fflate';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

// Mistakes of module authors, and where the reason is reported.

let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/_modules/odd.ts': `import { getLogger, __salt__ } from 'tsalt-ssh/module';
const log = getLogger();
log.warning('at top');
export const __virtual__ = () => { log.warning('in virtual'); return true; };
export const thrown = () => { log.warning('in function'); throw { code: 5 }; };
export const single = async () => await __salt__['state.single']('test.nop', { name: 'x' });
`,
      'states/_modules/fortytwo.ts':
        'export const __virtual__ = () => 42;\nexport const x = () => 1;\n',
      'states/_renderers/environment.ts': `export const render = (text, { env, saltenv }) =>
  ({ x: { 'test.configurable_test_state': [{ result: true }, { changes: false }, { comment: env + '/' + saltenv }] } });
`,
      'states/env.sls': '#!environment\nx\n',
      'states/one.sls': '#!yaml|json\na: b\n',
      'states/two.sls': '#!json|yaml\na: b\n',
    },
  });
});
afterAll(() => project.close());

const run = async (...words: string[]) => {
  const { code, stdout, stderr } = await project.run(...words);
  return { code, text: stderr + stdout };
};

const zip = (name: string, files: Readonly<Record<string, string>>): void => {
  const bytes = Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const);
  writeFileSync(
    join(project.dir, 'states/_modules', `${name}.zip`),
    zipSync(Object.fromEntries(bytes)),
  );
};

test('an object that is thrown is shown, and lines of the log name their module', {
  tags: 'slow',
}, async () => {
  const { code, text } = await run('web1', 'odd.thrown');
  expect(text).toContain('{"code":5}');
  for (const where of ['at top', 'in virtual', 'in function'])
    expect(text).toContain(`[WARNING ] web1: odd: ${where}\n`);
  expect(code).toBe(20);
});

test('a number from __virtual__ is reported as wrong', async () => {
  expect((await run('web1', 'fortytwo.x')).text).toContain(
    "'fortytwo' __virtual__ returned 42, which is not true, false, a name or [false, reason]",
  );
});

test('a module that calls state.single learns why that is not available', async () => {
  const { text } = await run('web1', 'odd.single');
  expect(text).toContain(
    "'state.single' is not available: states are compiled on the control node",
  );
  expect((await run('web1', 'state.singel', 'test.nop')).text).toContain(
    "Did you mean 'state.single'?",
  );
});

test('a pipe with two formats is refused with what to leave out', async () => {
  const one = await run('web1', 'state.apply', 'one');
  expect(one.text).toContain("A pipe has one format: leave out 'json' or 'yaml'.");
  const two = await run('web1', 'state.apply', 'two');
  expect(two.text).toContain("A pipe has one format: leave out 'yaml' or 'json'.");
});

test('a renderer of the user gets env', async () => {
  expect((await run('web1', 'state.apply', 'env')).text).toContain('Comment: base/base');
});

test('archives: each has its own reason, its own name for imports and its own place', {
  tags: 'slow',
}, async () => {
  zip('good', {
    'good/index.ts':
      "import { hours } from 'good/sleep';\nexport const slept = () => hours();\nexport const fails = () => { throw new TypeError('tired'); };\n",
    'good/sleep/index.ts': 'export const hours = () => 8;\n',
  });
  zip('noindex', { 'noindex/other.ts': 'x' });
  zip('unresolved', { 'unresolved/index.ts': "import 'nowhere/x';\n" });
  writeFileSync(join(project.dir, 'states/_modules/corrupt.zip'), 'garbage');
  expect((await run('web1', 'good.slept')).text).toContain('web1:\n    8\n');
  expect((await run('web1', 'good.fails')).text).toContain(
    'tired (states/_modules/good.zip/good/index.ts:3:',
  );
  const folder = join(project.dir, 'states/_modules');
  expect((await run('web1', 'corrupt.x')).text).toContain(
    `'corrupt.x' is not available: invalid zip data (${folder}/corrupt.zip)\n`,
  );
  expect((await run('web1', 'noindex.x')).text).toContain(
    `'noindex.x' is not available: the archive has no noindex/index.ts (or .js) (${folder}/noindex.zip)\n`,
  );
  expect((await run('web1', 'unresolved.x')).text).toContain(
    `Could not resolve "nowhere/x" (${folder}/unresolved.zip/unresolved/index.ts:1:8)`,
  );
});

test('enable_zip_modules: false leaves archives alone', async () => {
  const config = 'known_hosts_file: known_hosts\ncachedir: cache\n';
  project.write({ 'tsalt.yaml': `${config}enable_zip_modules: False\n` });
  const { code, text } = await run('web1', 'good.slept');
  expect(text).toContain("'good.slept' is not available.");
  expect(text).not.toContain('was left out');
  expect(code).toBe(64);
  project.write({ 'tsalt.yaml': config });
});

test('module new warns of a name that a built-in module has', async () => {
  expect((await run('module', 'new', 'state', 'file')).text).toContain(
    "There is a built-in state module 'file': yours takes its place",
  );
  expect((await run('module', 'new', 'exec', 'pkg')).text).toContain(
    "There is a built-in exec module 'pkg'",
  );
  expect((await run('module', 'new', 'exec', 'rack')).text).not.toContain('built-in');
});
