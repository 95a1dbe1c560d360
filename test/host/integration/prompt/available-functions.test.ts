import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: string;
const value = async (...args: string[]): Promise<string[]> => {
  const { stdout, stderr } = await tsalt(['--local', '--out', 'json', ...args], { cwd: project });
  expect(stderr).toBe('');
  return JSON.parse(stdout).local;
};

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'available-'));
  for (const folder of ['_modules', '_states'])
    mkdirSync(join(project, 'states', folder), { recursive: true });
  writeFileSync(join(project, 'tsalt.yaml'), 'cachedir: cache\n');
  const write = (path: string, text: string): void =>
    writeFileSync(join(project, 'states', path), text);
  write(
    '_modules/gone.ts',
    "export const __virtual__ = () => [false, 'no enzymes'];\nexport const fly = () => 1;\n",
  );
  write(
    '_modules/half.ts',
    `import { __salt__, depends } from 'tsalt-ssh/module';
     export const here = () => Object.keys(__salt__).filter(name => /^(gone|half)\\./.test(name));
     export const lacks = depends('no-such-command-here', () => 1);
     export const stands = depends('no-such-command-here', () => 1, { fallback: () => 2 });
     export const waits = depends(async () => false, () => 1);`,
  );
  write(
    '_states/cheese.ts',
    `import { __salt__ } from 'tsalt-ssh/module';
     export const __virtual__ = () => 'gone.fly' in __salt__ ? 'cheese' : [false, 'no enzymes'];
     export const sliced = (name: string) => ({ name, result: true, comment: '', changes: {} });`,
  );
});
afterAll(() => removeFolder(project));

test('sys.list_*: leaves out what __virtual__ and depends took away', {
  tags: 'slow',
}, async () => {
  expect(await value('sys.list_functions', 'gone', 'half')).toEqual(['half.here', 'half.stands']);
  const modules = await value('sys.list_modules');
  expect(modules).toContain('half');
  expect(modules).toContain('state');
  expect(modules).toContain('test');
  expect(modules).not.toContain('gone');
  expect(await value('sys.list_state_functions', 'cheese')).toEqual([]);
  const states = await value('sys.list_state_modules');
  expect(states).toContain('file');
  expect(states).not.toContain('cheese');
});

test('Object.keys(__salt__) leaves out what the host does not have', async () => {
  expect(await value('half.here')).toEqual(['half.here', 'half.stands', 'half.waits']);
});
