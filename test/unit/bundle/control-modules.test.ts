import { expect, test } from 'vitest';
import { loadControlModules } from '../../../src/bundle/control-modules.ts';
import { workshop } from '../../bundle/workshop.ts';

const options = (dir: string) => ({
  fileRoots: { base: [`${dir}/salt`] },
  cacheDir: `${dir}/cache`,
});

test("the user's renderers, outputters and matchers are loaded on the control node", async () => {
  const { dir } = workshop({
    'salt/_renderers/upper.ts': `import { shout } from './lib/shout.ts';
      export const render = (data: unknown): string => shout(String(data));`,
    'salt/_renderers/lib/shout.ts': 'export const shout = (text: string) => text.toUpperCase();',
    'salt/_outputters/dots.cjs': `exports.output = data => '.'.repeat(Object.keys(data).length);`,
    'salt/_renderers/bad.ts': 'export const render = (;',
    'salt/_modules/mine.ts': 'export const x = () => 1;',
  });
  const modules = await loadControlModules(options(dir));
  expect(modules.map(({ kind, name, broken }) => [kind, name, broken !== undefined])).toEqual([
    ['renderers', 'bad', true],
    ['renderers', 'upper', false],
    ['outputters', 'dots', false],
  ]);
  const upper = modules.find(({ name }) => name === 'upper')?.load().render as (
    t: string,
  ) => string;
  expect(upper('a')).toBe('A');
  const dots = modules.find(({ name }) => name === 'dots')?.load().output as (d: object) => string;
  expect(dots({ a: 1, b: 2 })).toBe('..');
});

test('without any nothing is built', async () => {
  const { dir } = workshop({ 'salt/_modules/mine.ts': 'export const x = () => 1;' });
  expect(await loadControlModules(options(dir))).toEqual([]);
});
