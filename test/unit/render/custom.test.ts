import { expect, test } from 'vitest';
import { customRenderers } from '../../../src/render/custom.ts';
import { site } from '../../render/site.ts';

const lines = `import { sep } from './_lib/sep.ts';
export const kind = 'data';
export const render = async (text: string, { grains, argline }: any) =>
  Object.fromEntries(text.trim().split('\\n').slice(1).map(line => [grains.os + argline + line, sep]));
`;

test('a renderer of the project takes part in pipes by its file name', async () => {
  const { data, context, failure } = site({
    files: { '_renderers/lines.ts': lines, '_renderers/_lib/sep.ts': 'export const sep = 1;' },
  });
  const renderers = customRenderers(context.files);
  expect([...renderers.keys()]).toEqual(['lines']);
  expect(await data('#!liquid|lines -\na\n{{ grains.os }}')).toEqual({
    'Debian-a': 1,
    'Debian-Debian': 1,
  });
  expect(await failure('#!lines|liquid\n', { renderers })).toContain(
    "'liquid' takes text, but 'lines' before it returns data",
  );
});

test('it may replace a built-in one', async () => {
  const { data, context } = site({
    files: { '_renderers/yaml.js': 'export const render = text => ({ text });' },
  });
  expect(await data('#!yaml\na: 1', { renderers: customRenderers(context.files) })).toEqual({
    text: '#!yaml\na: 1',
  });
});

test('an error of the renderer is shown at its own line', async () => {
  const { context, failure } = site({
    files: {
      '_renderers/bad.ts': 'export const render = () => {\n  throw new Error("no");\n};\n',
      '_renderers/none.ts': 'export const x = 1;',
    },
  });
  const renderers = customRenderers(context.files);
  expect(await failure('#!bad\n', { renderers })).toContain('Error: no (_renderers/bad.ts:2:');
  expect(await failure('#!none\n', { renderers })).toContain('exports no function `render`');
});
