import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bindArguments } from '../../../src/data/signatures/bind.ts';
import { checkType } from '../../../src/data/signatures/check-type.ts';
import type { FunctionSignature } from '../../../src/protocol/meta.ts';

const signature: FunctionSignature = {
  positional: [
    { name: 'cmd', type: 'string' },
    { name: 'cwd', type: 'string', optional: true },
  ],
  keywords: [
    { name: 'runas', type: 'string', optional: true },
    { name: 'timeout', type: 'number', optional: true },
    { name: 'env', type: 'Record<string, string>', optional: true },
  ],
};

const values = (args: unknown[], kwargs: Record<string, unknown> = {}): unknown => {
  const bound = bindArguments('cmd.run', signature, args, kwargs);
  return bound.ok ? bound.values : bound.message;
};

test('positional and keyword arguments fill parameters as in Python', () => {
  expect(values(['id'])).toEqual(['id', undefined, {}]);
  expect(values([], { cmd: 'id', runas: 'www' })).toEqual(['id', undefined, { runas: 'www' }]);
  expect(values(['id', '/tmp', 'www', '5'])).toEqual(['id', '/tmp', { runas: 'www', timeout: 5 }]);
});

test('wrong arguments are reported by name', () => {
  expect(values([])).toBe("'cmd.run' is missing the argument 'cmd'");
  expect(values(['id'], { runsa: 'x' })).toBe(
    "'runsa' is an invalid keyword argument for 'cmd.run' (did you mean 'runas'?)",
  );
  expect(values(['id'], { bogus: 1, zzz: 2 })).toBe(
    "'bogus' and 'zzz' are invalid keyword arguments for 'cmd.run'",
  );
  expect(values(['id'], { cmd: 'x' })).toBe("'cmd.run' got 'cmd' twice");
  expect(values(['a', 'b', 'c', 1, {}, 'f'])).toBe(
    "'cmd.run' takes at most 5 arguments, 6 were given",
  );
  expect(values(['id'], { timeout: 'soon' })).toBe(
    "'cmd.run': 'timeout' must be a number, not \"soon\"",
  );
});

test('null means "not given" for an optional parameter', () => {
  expect(values(['id'], { runas: null })).toEqual(['id', undefined, {}]);
  expect(values([null])).toBe("'cmd.run': 'cmd' must be a text, not null");
});

test('so does an empty list or mapping, where no other value would take its place', () => {
  expect(values(['id', []])).toEqual(['id', undefined, {}]);
  expect(values(['id'], { runas: {}, timeout: [] })).toEqual(['id', undefined, {}]);
  expect(values(['id', [0]])).toBe("'cmd.run': 'cwd' must be a text, not [0]");
  expect(values([[]])).toBe("'cmd.run': 'cmd' must be a text, not []");
});

test('a keyword with the name of a positional parameter gives both', () => {
  const signature = {
    positional: [{ name: 'name' }, { name: 'ret' }],
    keywords: [{ name: 'ret' }],
  };
  const values = ['a', 1, { ret: 1 }];
  expect(bindArguments('st.go', signature, [], { name: 'a', ret: 1 })).toEqual({
    ok: true,
    values,
  });
  expect(bindArguments('st.go', signature, ['a', 1], {})).toEqual({ ok: true, values });
  const twice = bindArguments('st.go', signature, ['a', 1], { ret: 2 });
  expect(twice).toMatchObject({ ok: false, problems: { twice: ['ret'], missing: [] } });
});

test('rest parameters take what is left, any keyword goes to the options', () => {
  const open: FunctionSignature = {
    positional: [{ name: 'a' }],
    rest: { name: 'more' },
    keywords: [{ name: 'k', optional: true }],
    anyKeyword: true,
  };
  const bound = bindArguments('f', open, [1, 2, 3], { k: 4, x: 5 });
  expect(bound.ok && bound.values).toEqual([1, { k: 4, x: 5 }, 2, 3]);
});

test('no argument name reaches a prototype', () => {
  const open: FunctionSignature = { positional: [], keywords: [], anyKeyword: true };
  const bound = bindArguments('f', open, [], JSON.parse('{"__proto__": {"polluted": true}}'));
  const [options] = bound.ok ? bound.values : [];
  expect(Object.getPrototypeOf(options)).toBe(Object.prototype);
  expect(Object.hasOwn(options as object, '__proto__')).toBe(true);
});

test.each<[string, unknown, unknown]>([
  ['number', '80', 80],
  ['number', 1.5, 1.5],
  ['string', 80, '80'],
  ['string', true, 'True'],
  ['boolean', 'yes', true],
  ['boolean', 'False', false],
  ['boolean', 0, false],
  ['string[]', 'vim', ['vim']],
  ['string[]', ['a', 1], ['a', '1']],
  ['readonly string[]', ['a'], ['a']],
  ['Array<number>', '1', [1]],
  ['string | string[]', 'vim', 'vim'],
  ['string | number', 644, 644],
  ['number | boolean', 'no', false],
  ["'a' | 'b'", 'b', 'b'],
  ['1 | 2', '2', 2],
  ['Record<string, string>', [{ A: '1' }, { B: '2' }], { A: '1', B: '2' }],
  ['{ a?: number }', { a: 1 }, { a: 1 }],
  ['(string | { name: string })[]', ['a', { name: 'b' }], ['a', { name: 'b' }]],
  ['SomeClass', 'x', 'x'],
  ['(a: string) => void', 'x', 'x'],
  ['unknown', null, null],
])('as %s, %j is taken as %j', (type, given, taken) => {
  expect(checkType(type, given)).toEqual({ ok: true, value: taken });
});

test.each<[string, unknown, string]>([
  ['number', 'x', 'a number'],
  ['number', true, 'a number'],
  ['number', '', 'a number'],
  ['string', ['a'], 'a text'],
  ['string', { a: 1 }, 'a text'],
  ['boolean', 'maybe', 'true or false'],
  ["'a' | 'b' | null", 'c', "'a' or 'b'"],
  ['string[]', { a: 1 }, 'a list (a text each)'],
  ['string[]', null, 'a list (a text each)'],
  ['{ a: number }', 'x', 'a mapping'],
])('as %s, %j is refused: must be %s', (type, given, wanted) => {
  expect(checkType(type, given)).toEqual({ ok: false, wanted });
});

test('an accepted value has the declared type, and is accepted again unchanged', () => {
  const types = [
    'string',
    'number',
    'boolean',
    'string[]',
    'number | string',
    'Record<string, number>',
    "'a' | 1 | true",
  ];
  fc.assert(
    fc.property(fc.constantFrom(...types), fc.jsonValue(), (type, value) => {
      const first = checkType(type, value);
      if (first.ok) expect(checkType(type, first.value)).toEqual(first);
    }),
  );
});

test('any type text and any value are answered', () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), (type, value) => {
      expect(typeof checkType(type, value).ok).toBe('boolean');
    }),
  );
});

test('a list under the name of the rest goes there, beside others by name', () => {
  const write: FunctionSignature = { positional: [{ name: 'path' }], rest: { name: 'args' } };
  const given = (args: unknown[], kwargs: Record<string, unknown>) => {
    const bound = bindArguments('file.write', write, args, kwargs);
    return bound.ok ? bound.values : bound.message;
  };
  expect(given([], { path: '/f', args: ['a', 'b'] })).toEqual(['/f', 'a', 'b']);
  expect(given(['/f', 'a'], { args: ['b'] })).toEqual(['/f', 'a', 'b']);
  expect(given(['/f'], { args: 'a' })).toContain("'args' is an invalid keyword argument");
});
