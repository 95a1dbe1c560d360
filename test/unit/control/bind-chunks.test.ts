import { expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { bindChunks } from '../../../src/control/prepare/bind-chunks.ts';
import { type Data, Float, toPlainDict } from '../../../src/data/values/value.ts';
import type { LowChunk } from '../../../src/protocol/low.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { mergeWholeFloats } from '../../../src/protocol/whole-floats.ts';

const modules = builtinMetadata();

const chunk = (fun: string, args: PlainDict): LowChunk => {
  const [state = '', name = ''] = fun.split('.');
  const own = { state, fun: name, name: '/a', order: 1 };
  return mergeWholeFloats(own, args, { __id__: 'a', __sls__: 's', __env__: 'base' }) as LowChunk;
};

const bind = (fun: string, args: PlainDict) => {
  const { chunks, warnings } = bindChunks([chunk(fun, args)], modules);
  return { bound: chunks[0], warnings };
};

test('an argument that the function has goes through as it is', () => {
  const given = chunk('file.managed', { contents: 'x', require: [{ file: '/b' }] });
  expect(bindChunks([given], modules)).toEqual({ chunks: [given], warnings: [] });
});

test('arguments that Salt ignores are left out, with a warning', () => {
  expect(bind('file.absent', { mode: 644, make_dirs: true })).toEqual({
    bound: chunk('file.absent', {}),
    warnings: [
      "'mode' is not an argument of 'file.absent' and is ignored, in SLS 's', ID 'a'.",
      "'make_dirs' is not an argument of 'file.absent' and is ignored, in SLS 's', ID 'a'.",
    ],
  });
});

test('arguments that Salt refuses are refused, all in one sentence', () => {
  expect(() => bind('host.present', { ipp: '10.0.0.1', zzzzzz: 1 })).toThrow(
    "'ipp' and 'zzzzzz' are invalid keyword arguments for 'host.present' (did you mean 'ip'?), in SLS 's', ID 'a'",
  );
});

test('further arguments of a template are its variables, below defaults and context', () => {
  expect(
    bind('file.managed', { template: 'jinja', config: { a: 1 }, port: 1, defaults: { port: 2 } }),
  ).toEqual({
    bound: chunk('file.managed', { template: 'jinja', defaults: { config: { a: 1 }, port: 2 } }),
    warnings: [],
  });
});

test.each([
  ['file.managed', 'content', 'contents'],
  ['file.managed', 'file_mode', 'mode'],
  ['file.managed', 'group_name', 'group'],
  ['file.managed', 'requires', 'require'],
  ['file.managed', 'watches', 'watch'],
  ['file.managed', 'on_changes', 'onchanges'],
  ['file.managed', 'onchange', 'onchanges'],
  ['file.absent', 'unles', 'unless'],
  ['file.absent', 'require-in', 'require_in'],
  ['file.recurse', 'fil_mode', 'file_mode'],
])('%s: refuses %s, which resembles %s, and accepts it with lax', (fun, argument, meant) => {
  const plain = { source: 'salt://x', [argument]: 'x' };
  expect(() => bind(fun, plain)).toThrow(
    `'${argument}' is not an argument of '${fun}' (did you mean '${meant}'?`,
  );
  expect(() => bind(fun, { ...plain, template: 'jinja' })).toThrow(`did you mean '${meant}'?`);
  expect(bind(fun, { ...plain, lax: true }).warnings.join()).toContain(`did you mean '${meant}'?`);
});

test('strict: refuses what a function would ignore, unless the state is lax', () => {
  const odd = chunk('file.managed', { contents: 'x', config: 1 });
  expect(() => bindChunks([odd], modules, true)).toThrow(
    "'config' is not an argument of 'file.managed', in SLS 's', ID 'a'",
  );
  expect(bindChunks([{ ...odd, lax: true }], modules, true).warnings).toHaveLength(1);
  expect(bindChunks([{ ...odd, template: 'jinja' }], modules, true).warnings).toEqual([]);
});

test('a value of a wrong type is refused, but for a slot', () => {
  expect(() => bind('file.managed', { makedirs: 'maybe' })).toThrow(
    "'file.managed': 'makedirs' must be true or false, not \"maybe\", in SLS 's', ID 'a'",
  );
  expect(bind('file.managed', { makedirs: '__slot__:salt:test.echo(true)' }).warnings).toEqual([]);
});

test('without a template, variables do not exist', () => {
  expect(bind('file.managed', { contents: 'x', config: 1 })).toEqual({
    bound: chunk('file.managed', { contents: 'x' }),
    warnings: ["'config' is not an argument of 'file.managed' and is ignored, in SLS 's', ID 'a'."],
  });
});

test('a module of the user that takes the place of a built-in one says for itself what it ignores', () => {
  const own = modules.flatMap(module => {
    if (module.kind !== 'state' || module.file !== 'file') return [];
    const functions = module.functions.map(({ unknown: _, ...fun }) => fun);
    return [{ ...module, builtin: false, functions }];
  });
  expect(() => bindChunks([chunk('file.absent', { mode: 644 })], own)).toThrow(
    "'mode' is an invalid keyword argument for 'file.absent'",
  );
});

test('a state function with almost the name of another is reported before anything runs', () => {
  const misspelt = chunk('file.manged', { mode: 644 });
  expect(bindChunks([misspelt], modules)).toEqual({
    chunks: [misspelt],
    warnings: [
      "The state function 'file.manged' does not exist (did you mean 'file.managed'?), in SLS 's', ID 'a'.",
    ],
  });
  expect(bind('boto3_sns.topic_present', {}).warnings).toEqual([]);
});

test('a function of an own execution module, of which states come, is not called misspelt', () => {
  const own = {
    ...modules[0],
    kind: 'exec',
    builtin: false,
    file: 'fil',
  } as (typeof modules)[number];
  expect(bindChunks([chunk('fil.managed', {})], [...modules, own]).warnings).toEqual([]);
});

test('a float without a fraction is text where text is made of it, and stays a number elsewhere', () => {
  const args = new Map<string, Data>([
    ['version', new Float(2)],
    ['cache_valid_time', new Float(3)],
    ['pkgs', [new Map([['a', new Float(1)]]), new Map([['b', new Float(1.5)]]), 2]],
  ]);
  expect(bind('pkg.installed', toPlainDict(args)).bound).toMatchObject({
    version: '2.0',
    cache_valid_time: 3,
    pkgs: [{ a: '1.0' }, { b: 1.5 }, 2],
  });
  const replace = new Map<string, Data>([
    ['pattern', 'x'],
    ['repl', new Float(4)],
  ]);
  expect(bind('file.replace', toPlainDict(replace)).bound).toMatchObject({ repl: '4.0' });
});

test.each(['constructor', 'toString', '__proto__'])(
  'an argument %s resembles nothing and is ignored with a warning',
  name => {
    const { bound, warnings } = bind('file.absent', { [name]: 1 });
    expect(bound).toEqual(chunk('file.absent', {}));
    expect(warnings.join()).toContain(`'${name}' is not an argument of 'file.absent'`);
  },
);

test('bindChunks reports values of wrong types in the order of the parameters', () => {
  expect(() => bind('file.managed', { makedirs: 'maybe', replace: 'perhaps' })).toThrow(
    /'makedirs' must be[\s\S]*'replace' must be/,
  );
  expect(() => bind('file.managed', { replace: 'perhaps', makedirs: 'maybe' })).toThrow(
    /'makedirs' must be[\s\S]*'replace' must be/,
  );
});

test('a state function that takes any argument: refuses a misspelt requisite, and accepts it with lax', () => {
  const requires = [{ test: 'b' }];
  expect(() => bind('test.nop', { requires })).toThrow(
    "'requires' of 'test.nop' is not a requisite (did you mean 'require'?)",
  );
  expect(() => bind('test.nop', { notify: [{ service: 'x' }] })).toThrow(
    "did you mean 'watch_in'?",
  );
  expect(() => bind('test.nop', { requires, lax: true })).not.toThrow();
  for (const other of ['text', ['b'], [{ a: 1 }], [], [{ a: 'x', b: 'y' }]])
    expect(() => bind('test.nop', { requires: other })).not.toThrow();
});
