import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: string;
const run = (...args: string[]) =>
  tsalt(['--local', '--out', 'json', ...args], { cwd: project, env: { HOME: project } });
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(project, path)), { recursive: true });
  writeFileSync(join(project, path), text);
};

const disk = `
  import type { StateReturn } from 'tsalt-ssh/module';
  export const present = (name: string, { size = 1 }: { size?: number } = {}): StateReturn => ({
    name, result: true, comment: 'size ' + size, changes: {},
  });
`;

const resource = `
  import { __context__ } from 'tsalt-ssh/module';
  export const __contracts__ = ['auto_state'];
  export const __func_alias__ = { list_: 'list', delete_: 'delete' };
  const answer = (ret: unknown) => ({ result: true, comment: '', ret });
  export const get = (name: string) => answer(__context__[name] ?? {});
  export const list_ = () => answer({});
  export const create = (name: string, { size = 0 }: { size?: number } = {}) => {
    __context__[name] = { size };
    return answer(null);
  };
  export const update = create;
  export const delete_ = (name: string) => answer(delete __context__[name]);
`;

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'nested-states-'));
  write('tsalt.yaml', 'cachedir: cache\n');
  write('states/_states/my_cloud/disk.ts', disk);
  write('states/_modules/my_cloud/my_resource.ts', resource);
});
afterAll(() => removeFolder(project));

const single = async (...args: string[]): Promise<Record<string, unknown>> => {
  const { stdout, stderr } = await run('state.single', ...args);
  expect(stderr).toBe('');
  const results = JSON.parse(stdout).local;
  return Array.isArray(results) ? { errors: results } : (Object.values(results)[0] as never);
};

test('state.single: finds state modules with a dot in their name', { tags: 'slow' }, async () => {
  expect(await single('my_cloud.disk.present', 'name=x', 'size=3')).toMatchObject({
    result: true,
    comment: 'size 3',
  });
  expect(await single('my_cloud.my_resource.present', 'name=x', 'size=3')).toMatchObject({
    result: true,
    changes: { new: { size: 3 } },
  });
});

test('state.single: ignores what follows the function, as Salt does', {
  tags: 'slow',
}, async () => {
  expect(await single('test.nop.more', 'name=x')).toMatchObject({ result: true });
  expect(await single('a.b.c', 'name=x')).toEqual({
    errors: ["Specified state 'a.b' was not found"],
  });
});
