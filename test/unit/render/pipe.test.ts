import { expect, test } from 'vitest';
import type { Renderer } from '../../../src/render/types.ts';
import { site } from '../../render/site.ts';

test.each([
  [
    '#!yaml|liquid\na: 1',
    "The pipe 'yaml|liquid' makes no sense: 'liquid' takes text, but 'yaml' before it returns data. (web/init.sls:1)\nPut 'liquid' first: 'liquid|yaml'.",
  ],
  [
    '#!liquid\na: 1',
    "The pipe 'liquid' makes no sense: 'liquid' at its end returns text, but data is needed. (web/init.sls:1)\nEnd it with a format, like 'liquid|yaml'.",
  ],
  [
    '#!liquid||yaml\na: 1',
    "The pipe 'liquid||yaml' makes no sense: a stage has no name. (web/init.sls:1)",
  ],
  [
    '#!yaml|json\na: 1',
    "'json' takes text, but 'yaml' before it returns data. (web/init.sls:1)\nA pipe has one format: leave out 'json' or 'yaml'.",
  ],
  [
    '#!liquid|json|yaml\n{}',
    "'yaml' takes text, but 'json' before it returns data. (web/init.sls:1)\nA pipe has one format: leave out 'yaml' or 'json'.",
  ],
  ['#!frob\na: 1', "there is no renderer 'frob'"],
])('%j is refused before anything is rendered', async (text, expected) => {
  const { failure } = site();
  expect(await failure(text)).toContain(expected);
});

test('a pipe is checked before its first stage runs', async () => {
  const { failure, calls } = site();
  expect(await failure("#!liquid|yaml|wempy\na: {{ 'cmd.run' | salt: 'x' }}")).toContain(
    'makes no sense',
  );
  expect(calls).toEqual([]);
});

test('a path is not a shebang, the default pipe is liquid|yaml, the shebang overrides the pipe', async () => {
  const { data } = site();
  expect(await data('#!/bin/sh\na: {{ grains.os }}')).toEqual({ a: 'Debian' });
  expect(await data('a: {{ 1 }}', { pipe: 'yaml_liquid' })).toEqual({ a: 1 });
  expect(await data('#!yaml\na: "{{ 1 }}"', { pipe: 'liquid|yaml' })).toEqual({ a: '{{ 1 }}' });
});

test('spaces around stages, arguments behind them, and a Windows line end are fine', async () => {
  const { data } = site();
  expect(await data('#! liquid --strict | yaml -o\r\na: {{ grains.os }}\r\n')).toEqual({
    a: 'Debian',
  });
});

test('old names are pipes', async () => {
  const { data } = site();
  expect(await data("#!yaml_mako\na: ${grains['os']}")).toEqual({ a: 'Debian' });
  expect(await data('#!json_mako\n{"a": "${grains.os}"}')).toEqual({ a: 'Debian' });
  expect(await data('#!yaml_wempy\na: {{=grains.os}}')).toEqual({ a: 'Debian' });
  expect(await data('#!json_wempy\n{"a": "{{=grains.os}}"}')).toEqual({ a: 'Debian' });
});

test('whitelist and blacklist decide', async () => {
  const { failure, data } = site();
  expect(await failure('#!ts\n', { blacklist: ['ts'] })).toContain(
    "the renderer 'ts' is disallowed by configuration",
  );
  expect(await failure('#!yaml\na: 1', { whitelist: ['liquid'] })).toContain(
    "the renderer 'yaml' is disallowed",
  );
  expect(await data('#!yaml\na: 1', { whitelist: ['yaml'] })).toEqual({ a: 1 });
});

test('nothing but white space is an empty dict, and so is nothing but a shebang', async () => {
  const { data } = site();
  expect(await data('  \n')).toEqual({});
  expect(await data('#!yaml\n')).toEqual({});
});

test("a user's renderer takes part in pipes and may replace a built-in one", async () => {
  const upper: Renderer = { kind: 'text', render: text => String(text).toUpperCase() };
  const lines: Renderer = { kind: 'any', render: text => String(text).trim().split('\n') };
  const renderers = new Map([
    ['upper', upper],
    ['yaml', lines],
  ]);
  const { data, failure } = site();
  expect(await data('a\nb', { pipe: 'upper|yaml', renderers })).toEqual(['A', 'B']);
  expect(await failure('#!nope', { renderers })).toContain('upper');
});

test('an error in a later stage says whose lines it counts', async () => {
  const { failure } = site();
  expect(await failure('#!mako|yaml\n% for i in [1, 2]:\na: 1\n% endfor\n')).toContain(
    "The stage 'yaml' of 'mako|yaml' failed; its lines are those that 'mako' returned.",
  );
});

test('template: of file states returns text and refuses formats', async () => {
  const { text } = site();
  expect(await text('os={{ grains.os }}\r\n{{ 1 }}\n')).toBe('os=Debian\r\n1\n');
  expect(await text('#!yaml\nos=${grains.os}\n', 'mako')).toBe('#!yaml\nos=Debian\n');
  await expect(text('a: 1', 'yaml')).rejects.toThrow("The pipe 'yaml' returned no text");
});

test('the same SLS for many hosts is parsed once, and each host gets its own data', async () => {
  const { raw } = site();
  const text = '#!yaml\na:\n  - 1\n';
  const [first, second, third] = [await raw(text), await raw(text), await raw(text)];
  expect(first).toEqual(second);
  (second as Map<string, number[]>).get('a')?.push(2);
  expect(third).toEqual(first);
});

test('letters of an icon font stay what they are in a pipe with one template engine', async () => {
  const { data } = site();
  expect(await data("#!jinja|yaml\na: '\uf8a0{{ 1 }}'")).toEqual({ a: '\uf8a01' });
});
