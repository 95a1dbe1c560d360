import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: string;
const run = (...args: string[]) => tsalt(['--local', ...args], { cwd: project });

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'outputters-'));
  mkdirSync(join(project, 'states/_modules'), { recursive: true });
  writeFileSync(join(project, 'tsalt.yaml'), 'cachedir: cache\n');
  writeFileSync(
    join(project, 'states/_modules/shown.ts'),
    `
      export const __outputter__ = { list: 'txt', dict: 'txt', number: 'txt', fails: 'txt', run: 'highstate', odd: 'fancy' };
      export const list = () => ['a', 'b'];
      export const dict = () => ({ a: 1 });
      export const number = () => 5;
      export const fails = () => { throw new Error('no luck'); };
      export const odd = () => ['a'];
      export const run = () => ({
        'test_|-one_|-one_|-nop': { name: 'one', result: true, comment: 'Done well.', changes: {}, __run_num__: 0, __id__: 'one' },
      });
    `,
  );
});
afterAll(() => removeFolder(project));

test('__outputter__: a module chooses the outputter of lists, dicts and numbers', {
  tags: 'slow',
}, async () => {
  expect((await run('shown.list')).stdout).toBe("local: ['a', 'b']\n");
  expect((await run('shown.dict')).stdout).toBe("local: {'a': 1}\n");
  expect((await run('shown.number')).stdout).toBe('local: 5\n');
  expect((await run('test.ping')).stdout).toBe('local:\n    True\n');
  expect((await run('shown.list', '--out', 'raw')).stdout).toBe("{'local': ['a', 'b']}\n");
});

test('__outputter__: state results are shown as a state run', async () => {
  const { stdout } = await run('shown.run');
  expect(stdout).toContain('Comment: Done well.');
  expect(stdout).toContain('Summary for local');
});

test('__outputter__: an unknown outputter and a failure are shown nested', async () => {
  const odd = await run('shown.odd');
  expect(odd.stdout).toBe('local:\n    - a\n');
  expect(odd.stderr).toContain("There is no outputter 'fancy'");
  expect((await run('shown.fails')).stdout).toMatch(/^local:\n {4}no luck/);
});
