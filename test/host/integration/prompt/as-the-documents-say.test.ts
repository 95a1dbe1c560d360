import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

let project: string;
const run = (...args: string[]) => tsalt(['--local', '--out', 'json', ...args], { cwd: project });

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'missing-files-'));
  mkdirSync(join(project, 'states/_states'), { recursive: true });
  writeFileSync(join(project, 'tsalt.yaml'), 'cachedir: cache\n');
  writeFileSync(join(project, 'states/here.yaml'), 'a: {{ 1 + 1 }}\n');
  writeFileSync(
    join(project, 'states/_states/outer.ts'),
    `export const ran = (name: string) => ({
       name, result: true, comment: '', changes: {},
       sub_state_run: [{
         low: { state: 'tool', __id__: 'step', name: 'step', fun: 'done' },
         result: true, comment: '', changes: {}, duration: 1.5,
       }],
     });`,
  );
  writeFileSync(
    join(project, 'states/_states/bag.ts'),
    `import { gen_state_tag, deep_diff, __salt_system_encoding__ } from 'tsalt-ssh/module';
     export const installed = (name: string, { pkgs }: { pkgs?: string[] } = {}) => ({
       name, result: true, comment: (pkgs ?? [name]).join(' '),
       changes: deep_diff({ a: 1, b: { c: 1, d: 2 } }, { a: 1, b: { c: 1, d: __salt_system_encoding__ } }),
     });
     export const mod_aggregate = (low: any, chunks: any[], running: any) => {
       const pkgs: string[] = [];
       for (const chunk of chunks) {
         if (gen_state_tag(chunk) in running) continue;
         if (chunk.state !== 'bag' || '__agg__' in chunk || chunk.fun !== low.fun) continue;
         pkgs.push(...(chunk.pkgs ?? [chunk.name]));
         chunk.__agg__ = true;
       }
       if (pkgs.length > 0) low.pkgs = [...(low.pkgs ?? []), ...pkgs];
       return low;
     };`,
  );
  writeFileSync(
    join(project, 'states/bags.sls'),
    'a: {bag.installed: [{aggregate: true}]}\nb: bag.installed\nc: bag.installed\n',
  );
  writeFileSync(
    join(project, 'states/lists.sls'),
    'a: {bag.installed: [{aggregate: true}, {pkgs: [x, y]}]}\nb: bag.installed\n',
  );
  writeFileSync(join(project, 'states/steps.sls'), 'all: outer.ran\n');
});
afterAll(() => removeFolder(project));

const value = async (...args: string[]): Promise<unknown> => {
  const { stdout } = await run(...args);
  return JSON.parse(stdout).local;
};

test('slsutil.renderer: renders a missing file to an empty dict, as Salt does', {
  tags: 'slow',
}, async () => {
  expect(await value('slsutil.renderer', 'salt://here.yaml')).toEqual({ a: 2 });
  const { stdout, stderr } = await run('slsutil.renderer', 'salt://none.yaml');
  expect(JSON.parse(stdout)).toEqual({ local: {} });
  expect(stderr).toContain('there is no file salt://none.yaml');
  expect(await value('slsutil.renderer', '/no/such/file')).toEqual({});
});

test('cp.get_url: returns the path of a missing local file, as Salt does', async () => {
  expect(await value('cp.get_url', '/no/such')).toBe('/no/such');
  expect(await value('cp.get_url', 'salt://none.yaml')).toBe(false);
});

test('sub_state_run: reports its duration in seconds', async () => {
  const results = Object.values((await value('state.apply', 'steps')) as object);
  expect(results.find(result => result.duration === 1500)).toBeDefined();
});

test("mod_aggregate: the documents' loop keeps the name of the first state", async () => {
  const first = async (sls: string) =>
    Object.values((await value('state.apply', sls)) as object)[0];
  const bag = await first('bags');
  expect(bag.comment).toBe('a b c');
  expect(bag.changes).toEqual({ old: { b: { d: 2 } }, new: { b: { d: 'utf-8' } } });
  expect((await first('lists')).comment).toBe('x y b');
});
