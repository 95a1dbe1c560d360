// @module-tag slow
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Data, Float } from '../../../src/data/values/value.ts';
import { showError } from '../../../src/protocol/error.ts';
import { pack, unpack } from '../../../src/render/confined/wire.ts';
import { fromJs, toJs } from '../../../src/render/js-value.ts';
import { site } from '../../render/site.ts';

const limits = (milliseconds: number, megabytes = 32) => ({
  opts: { script_limits: { milliseconds, megabytes } },
});

const places = [
  ['the global object', 'Object.getOwnPropertyNames(globalThis).join(" ")'],
  ['Function', 'new Function("return Object.getOwnPropertyNames(this).join(\' \')")()'],
  [
    'a chain of constructors',
    '[].constructor.constructor("return typeof process + typeof require")()',
  ],
  ['what functions of the template are made of', 'capture.constructor("return typeof process")()'],
  ['salt', 'salt["a.b"].constructor.constructor("return typeof process + typeof require")()'],
  ['an answer of salt', '(await salt["a.b"]()).constructor.constructor("return typeof process")()'],
  ['a dict', 'pillar.d.get.constructor("return typeof process + typeof require")()'],
  [
    'an error',
    '(() => { try { null.x } catch (e) { return e.constructor.constructor("return typeof process")() + e.stack } })()',
  ],
  [
    'an error of a call',
    '(await (async () => { try { await salt["fail.now"]() } catch (e) { return e.constructor.constructor("return typeof process")() + e.stack } })())',
  ],
  ['eval', '(0, eval)("typeof process + typeof require + typeof fetch + typeof setTimeout")'],
  [
    'caller',
    '(() => { try { return String((function f() { return f.caller })()) } catch (e) { return e.message } })()',
  ],
] as const;

test.each(places)('a template reaches nothing of Node by %s', async (_, expression) => {
  const { text } = site({
    pillar: { d: { a: 1 } },
    call: async fun => {
      if (fun === 'fail.now') throw new Error('no');
      return 'answer';
    },
  });
  const shown = await text(`<% const x = ${expression} %>\${x}`, 'mako');
  expect(shown).not.toMatch(
    /\bprocess\b|\brequire\b|\bfetch\b|\bBuffer\b|setTimeout|WebAssembly|node:|worker|\/src\/|object(?!Type)\b|function[^ (]/,
  );
});

test('import() finds no module', async () => {
  const { text } = site();
  for (const name of ['node:fs', 'fs', './x.js', 'data:text/javascript,1', 'std', 'os'])
    await expect(text(`\${(await import('${name}')).default}`, 'mako'), name).rejects.toThrow();
});

const limited = [
  ['a loop', '<% for (;;); %>', 'computed for more than 0.3 s'],
  ['a loop in an expression', '${(() => { for (;;); })()}', 'computed for more than 0.3 s'],
  [
    'a loop that catches',
    '<% for (;;) try { for (;;); } catch {} %>',
    'computed for more than 0.3 s',
  ],
  [
    'a loop in an async function that catches',
    '<% const f = async () => { for (;;); }; for (;;) try { await f() } catch {} %>',
    'computed for more than 0.3 s',
  ],
  [
    'a loop of microtasks',
    '<% const f = () => Promise.resolve().then(f); await f() %>',
    'computed for more than 0.3 s',
  ],
  ['awaiting without end', '<% for (;;) await 1; %>', 'computed for more than 0.3 s'],
  ['a loop of the language', '% while true:\n% endwhile\n', 'computed for more than 0.3 s'],
  [
    'a regular expression',
    '<% /^(a+)+$/.test("a".repeat(60) + "b") %>',
    'computed for more than 0.3 s',
  ],
  [
    'a built-in function',
    '<% Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1) %>',
    'computed for more than 0.3 s',
  ],
  [
    'a generator',
    '% for x in (function* () { for (;;) yield 1 })():\n% endfor\n',
    // Fast machines reach the limit of memory first.
    /computed for more than 0\.3 s|used more than \d+ MB/,
  ],
  ['a getter of what it prints', '${{ get a() { for (;;); } }}', 'computed for more than 0.3 s'],
  [
    'a Proxy that it calls with',
    '<% await salt["a.b"](new Proxy([], { get: () => { for (;;); } })) %>',
    'computed for more than 0.3 s',
  ],
  [
    'a setter of prototypes',
    '<% Object.prototype.then = function () { for (;;); }; await {} %>',
    'computed for more than 0.3 s',
  ],
  [
    'a promise that never settles',
    '<% await new Promise(() => {}) %>',
    'waits for something that never happens',
  ],
  [
    'a thenable that never settles',
    '<% await { then() {} } %>',
    'waits for something that never happens',
  ],
  ['recursion', '<% (function f() { f(); })() %>', 'call stack'],
  [
    'deep data',
    '<% let a = []; for (let i = 0; i < 200000; i++) a = [a]; JSON.stringify(a) %>',
    /stack|computed/,
  ],
  ['deep JSON', '<% JSON.parse("[".repeat(200000)) %>', /stack|nests|computed/],
  ['deep code', '<% eval("(".repeat(200000)) %>', /stack|nests/],
  ['a large text', '<% "x".repeat(2 ** 29) %>', 'used more than 32 MB'],
  [
    'many texts',
    '<% const a = []; for (;;) a.push("x".repeat(1e6) + a.length) %>',
    /used more than 32 MB|computed/,
  ],
  ['a large array', '<% new Array(2 ** 25).fill(1) %>', /used more than 32 MB|computed/],
  ['a large buffer', '<% new ArrayBuffer(2 ** 30) %>', 'used more than 32 MB'],
  ['a loop of calls', '<% for (;;) salt["a.b"]() %>', 'computed for more than 0.3 s'],
] as const;

test.each(limited)(
  'a template is ended for %s, and the next one is rendered',
  async (what, source, expected) => {
    const { text } = site({ ...limits(300), call: async () => null });
    const other = text('${await salt["a.b"]()}|${1 + 1}', 'mako');
    const shown = await text(source, 'mako').then(String, showError);
    expect(shown).toMatch(expected);
    expect(shown).toContain('web/init.sls');
    // A built-in function does not notice the deadline: its thread is ended, so the line is
    // unknown.
    if (!['a built-in function', 'many texts', 'deep data'].includes(what))
      expect(shown).toContain('web/init.sls:1');
    expect(await other).toBe('|2');
    expect(await text('${1 + 1}', 'mako')).toBe('2');
  },
);

test('a template cannot flood its host with calls that it does not wait for', async () => {
  const { text, calls } = site(limits(10_000));
  const shown = text('<% await Promise.all([...Array(1100)].map(() => salt["a.b"]())) %>', 'mako');
  await expect(shown).rejects.toThrow('has begun 1000 calls without waiting for any');
  expect(calls).toHaveLength(1000);
});

test('the main thread computes while a template does not end', async () => {
  const { text } = site(limits(1000));
  let isOver = false;
  const endless = text('<% for (;;); %>', 'mako').catch(() => {
    isOver = true;
  });
  let turns = 0;
  while (!isOver && turns < 20) {
    await new Promise(resolve => setImmediate(resolve));
    turns += 1;
  }
  expect(turns).toBe(20);
  await endless;
});

test('waiting for hosts does not count as computing time of a template', async () => {
  const { text } = site({
    ...limits(300),
    call: () => new Promise(resolve => setTimeout(() => resolve('late'), 900)),
  });
  expect(await text("${salt['a.b']()}", 'mako')).toBe('late');
});

test('changes of one template to built-in objects are invisible to the next, and to our code', async () => {
  const { text, calls } = site();
  const evil = [
    'Object.prototype.evil = 1; globalThis.x = 1; await salt["a.b"]({ ["__proto__"]: { z: 1 } }, 1)',
    'Array.prototype.toJSON = () => "evil"; await salt["a.b"]([1])',
    'JSON.parse = () => "evil"; JSON.stringify = () => "{"; await salt["a.b"]([1])',
    'Promise.prototype.then = null; Map = Set = Date = null; await salt["a.b"]([1])',
    'globalThis.String = () => ({}); Object.entries = () => [[{}, {}]]; await salt["a.b"]({ a: 1 })',
  ];
  for (const code of evil) await text(`<% ${code} %>`, 'mako').catch(() => undefined);
  expect(await text('${typeof x} ${({}).evil === undefined} ${JSON.stringify([1])}', 'mako')).toBe(
    'undefined true [1]',
  );
  expect(({} as { evil?: unknown; z?: unknown }).evil).toBeUndefined();
  expect(({} as { evil?: unknown; z?: unknown }).z).toBeUndefined();
  expect(calls[0]).toMatchObject(['a.b', [{}, 1], {}]);
});

const data = (): fc.Arbitrary<Data> =>
  fc.letrec<{ data: Data }>(tie => ({
    data: fc.oneof(
      { depthSize: 'small' },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.string({ unit: 'binary' }),
      fc
        .double()
        .map(value =>
          Number.isInteger(value) || Number.isNaN(value) || !Number.isFinite(value)
            ? new Float(value)
            : value,
        ),
      fc.bigInt().map(value => (Number.isSafeInteger(Number(value)) ? Number(value) : value)),
      fc.array(tie('data')),
      fc
        .array(
          fc.tuple(
            fc.oneof(fc.string(), fc.constantFrom('__proto__', 'then', 'get', '10', 'd')),
            tie('data'),
          ),
        )
        .map(pairs => new Map(pairs) as Data),
    ),
  })).data;

test('packed data is unpacked unchanged', () => {
  fc.assert(
    fc.property(data(), value => {
      expect(unpack(pack(value))).toEqual(value);
    }),
    { numRuns: 500 },
  );
});

test('data crosses the border of the sandbox as it crossed into JavaScript before', async () => {
  await fc.assert(
    fc.asyncProperty(data(), async value => {
      const got: Data[] = [];
      const { text, context } = site({
        call: async (_, [first]) => {
          got.push(first ?? null);
          return first ?? null;
        },
      });
      context.pillar.set('x', value);
      await text(
        "<% const y = await salt['a.b']([pillar.x]); await salt['a.b']([y[0]]) %>",
        'mako',
      );
      const once = fromJs(toJs(value));
      expect(got).toEqual([[once], [fromJs(toJs(once))]]);
    }),
    { numRuns: 60 },
  );
});

test('no template hangs, whatever its text', { timeout: 240_000 }, async () => {
  const part = fc.oneof(
    fc.constantFrom(
      '${',
      '}',
      '<%',
      '%>',
      '<%!',
      '% for x in ',
      ':\n',
      '% endfor\n',
      '<%def name="a()">',
      '</%def>',
      '{{',
      '}}',
      'pass',
      'await ',
      'pillar',
      '`',
      '"',
      "'",
      '\\',
      '##',
      '|',
      'for(;;);',
      'new Promise(()=>{})',
      'throw ',
      'salt["a.b"]()',
    ),
    fc.string({ maxLength: 8 }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(part, { maxLength: 12 }),
      fc.constantFrom('mako', 'wempy'),
      async (parts, engine) => {
        const { text } = site(limits(50));
        await text(parts.join(''), engine).then(String, showError);
      },
    ),
    { numRuns: 300 },
  );
});

test('faults are shown at their own line, in blocks, functions and files', async () => {
  const { failure } = site({
    files: { 'web/part.mako': 'one\n<%\n  let a = 1;\n  a.b.c;\n%>\n' },
  });
  expect(await failure('#!mako|yaml\na: 1\n<%\n  let a;\n  a.b;\n%>\n')).toContain(
    '(web/init.sls:5)',
  );
  expect(await failure('#!mako|yaml\na: 1\n<%\n  let a = ;\n%>\n')).toContain('(web/init.sls:4)');
  expect(await failure('#!mako|yaml\n<%include file="part.mako"/>\n')).toContain('(part.mako:4)');
  expect(await failure('#!mako|yaml\n<% throw { code: 5 } %>\n')).toContain(
    'Mako error: {"code":5}',
  );
});
