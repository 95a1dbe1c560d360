import { expect, test } from 'vitest';
import { renderText, renderValue } from '../../../src/render/render.ts';
import { site } from '../../render/site.ts';

const files = {
  '_renderers/shout.ts': 'export const render = (text: string) => text.toUpperCase();',
};

const engines: readonly (readonly [string, string])[] = [
  ['mako', '${1 + 1}'],
  ['wempy', '{{=1 + 1}}'],
  ['ts', 'export default {}'],
  ['js', 'export default {}'],
  ['shout', 'a'],
  ['liquid|mako', '${1 + 1}'],
];

test.each(engines)('%s renders no text that is not a file of the user', async (pipe, text) => {
  const { context, root } = site({ files });
  const request = { text, file: `${root}/x`, saltenv: 'base', context };
  const refused =
    'runs code, so it renders only files of file_roots, and this text is not one: put it';
  await expect(renderValue({ ...request, pipe })).rejects.toThrow(refused);
  await expect(renderValue({ ...request, text: `#!${pipe}\n${text}` })).rejects.toThrow(refused);
});

test('a renderer inside of stateconf is held to the same rules as a stage of the pipe', async () => {
  const { failure } = site();
  const text = '#!stateconf yaml . mako\na:\n  test.nop: []\n';
  expect(await failure(text, { origin: undefined })).toContain(
    "The renderer 'mako' runs code, so it renders only files of file_roots",
  );
  expect(await failure(text, { blacklist: ['mako'] })).toContain(
    "the renderer 'mako' is disallowed by configuration",
  );
  expect(await failure(text, { whitelist: ['stateconf', 'yaml'] })).toContain(
    "the renderer 'mako' is disallowed by configuration",
  );
});

test('template: is held to renderer_whitelist and renderer_blacklist, in the words used for an SLS', async () => {
  const { text } = site();
  const disallowed = "the renderer 'mako' is disallowed by configuration";
  await expect(text('${1}', 'mako', { blacklist: ['mako'] })).rejects.toThrow(disallowed);
  await expect(text('${1}', 'jinja|mako', { whitelist: ['jinja'] })).rejects.toThrow(disallowed);
});

test('a pipe that was allowed for one text is checked again for another text', async () => {
  const { context, root, text } = site();
  expect(await text('${1 + 1}', 'mako')).toBe('2');
  const request = { text: '${1 + 1}', file: `${root}/x`, saltenv: 'base', context, pipe: 'mako' };
  await expect(renderText(request)).rejects.toThrow('runs code, so it renders only files');
  expect(await text('${1 + 1}', 'mako')).toBe('2');
  for (const rule of [{ blacklist: ['mako'] }, { whitelist: ['jinja'] }])
    await expect(text('${1 + 1}', 'mako', rule)).rejects.toThrow('disallowed by configuration');
  expect(await text('{{ 1 + 1 }}', 'jinja')).toBe('2');
});

test('the output of another engine is not run as a program', async () => {
  const { failure } = site({ grains: { os: 'export default {}' } });
  expect(await failure('#!jinja|ts\n{{ grains.os }}\n')).toContain(
    "'ts' runs a file as it is written, but 'jinja' before it changes the text",
  );
});
