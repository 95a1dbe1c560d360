import fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyPosition, nodePosition } from '../../../src/data/values/position.ts';
import { type Data, type Dict, Float, toPlain } from '../../../src/data/values/value.ts';
import { showError, TsaltError } from '../../../src/protocol/error.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const value = (text: string): Data => loadYaml(text);
const failure = (text: string): string => {
  try {
    loadYaml(text, { file: 'a.sls' });
  } catch (error) {
    return showError(error);
  }
  throw new Error('it loaded');
};

test.each([
  ['yes', true],
  ['No', false],
  ['on', true],
  ['OFF', false],
  ['y', 'y'],
  ['tRue', 'tRue'],
  ['~', null],
  ['', null],
  ['0644', 644],
  ['000', 0],
  ['-010', -8],
  ['0899', '0899'],
  ['0o17', '0o17'],
  ['0x1F', 31],
  ['0b101', 5],
  ['1_000', 1000],
  ['190:20:30', 685230],
  ['12:30', 750],
  ['20:30.15', 1230.15],
  ['1e3', '1e3'],
  ['1.0', new Float(1)],
  ['1.0e+3', new Float(1000)],
  ['.5', 0.5],
  ['.inf', new Float(Number.POSITIVE_INFINITY)],
  ['685.230_15', 685.23015],
  ['12345678901234567890', 12345678901234567890n],
  ['2020-01-02', '2020-01-02'],
  ['2001-12-14t21:59:43.10-05:00', '2001-12-14t21:59:43.10-05:00'],
  ["'yes'", 'yes'],
  ['!!str 12', '12'],
  ['!!int "0644"', 644],
  ['! yes', true],
  ['!!str {=: 5}', '5'],
])('the scalar %s is %o', (text, expected) => {
  expect(value(text)).toEqual(expected);
});

test.each([
  [
    'a:\n  &b: x\n  c: 1\n',
    new Map([
      [
        'a',
        new Map<unknown, unknown>([
          [null, 'x'],
          ['c', 1],
        ]),
      ],
    ]),
  ],
  ['{&a: 1}', new Map([[null, 1]])],
  [
    '- &a:\n  b: 1\n',
    [
      new Map<unknown, unknown>([
        [null, null],
        ['b', 1],
      ]),
    ],
  ],
  [
    'k: &n v\nm:\n  *n: y\n',
    new Map<unknown, unknown>([
      ['k', 'v'],
      ['m', new Map([['v', 'y']])],
    ]),
  ],
  [
    '&x: 1\ny: *x\n',
    new Map<unknown, unknown>([
      [null, 1],
      ['y', null],
    ]),
  ],
  [
    'a: "&b: x"\n&c: "d"\ne: f',
    new Map<unknown, unknown>([
      ['a', '&b: x'],
      [null, 'd'],
      ['e', 'f'],
    ]),
  ],
  [
    'a: |\n  &b: x\nb: 1\n',
    new Map<unknown, unknown>([
      ['a', '&b: x\n'],
      ['b', 1],
    ]),
  ],
])('%j has a key that is an anchor or alias, as YAML 1.1 reads it', (text, expected) => {
  expect(value(text)).toEqual(expected);
});

test('keys keep their types', () => {
  expect([...(value('2: a\ntrue: b\n~: c\n2.5: d\n') as Dict).keys()]).toEqual([
    2,
    true,
    null,
    2.5,
  ]);
});

test('a key that Python takes for another one is a duplicate: 1, 1.0 and true', () => {
  expect(failure('1: a\ntrue: b\n')).toContain("found conflicting ID 'True'");
  expect(failure('1: a\n1.0: b\n')).toContain("found conflicting ID '1.0'");
});

test('a duplicate key names both places and shows the lines', () => {
  expect(failure('#!yaml\nx:\n  test.nop:\n    - a: 1\nx:\n  test.nop:\n    - a: 2\n')).toBe(
    [
      "found conflicting ID 'x': it is on line 2 and again on line 5 (a.sls:5:1)",
      '---',
      '#!yaml',
      'x:',
      '  test.nop:',
      '    - a: 1',
      'x:    <======================',
      '  test.nop:',
      '    - a: 2',
      '---',
      'A mapping holds each key once; rename one, or join the two.',
    ].join('\n'),
  );
});

test('merge keys: explicit keys win, merged ones come first, later mappings of a list before earlier', () => {
  const data = value(
    'd: &d {k: v, n: 1}\nf: {<<: *d, n: 2, z: 3}\ng: {<<: [*d, {q: 7}]}\n',
  ) as Dict;
  expect([...(data.get('f') as Dict)]).toEqual([
    ['k', 'v'],
    ['n', 2],
    ['z', 3],
  ]);
  expect([...(data.get('g') as Dict).keys()]).toEqual(['q', 'k', 'n']);
});

test('an alias is the very value it names', () => {
  const data = value('a: &x [1]\nb: *x\n') as Dict;
  expect(data.get('a')).toBe(data.get('b'));
});

test('keys and nodes know where they stand', () => {
  const data = value('a: 1\nb:\n  c:\n    - d\n') as Dict;
  const b = data.get('b') as Dict;
  expect(keyPosition(data, 'b')).toEqual({ line: 2, column: 1 });
  expect(nodePosition(b)).toEqual({ line: 3, column: 3 });
  expect(keyPosition(b.get('c') as Data[], 0)).toEqual({ line: 4, column: 7 });
});

test('lines count from the position of the text in its file', () => {
  expect(() => loadYaml('a: 1\na: 2', { file: 'b.sls', firstLine: 10 })).toThrow(
    /line 10 and again on line 11/,
  );
});

test.each([
  ['x:\n\ttest.nop\n', 'found character that cannot start any token (a.sls:2:'],
  ['x:\n  - name: "abc\n    y: 1\n', 'found unexpected end of stream (a.sls:'],
  ['x:\n  - name: foo: bar\n', 'mapping values are not allowed in this context (a.sls:2:14)'],
  [
    'a: 1\n---\nb: 2\n',
    'expected a single document in the stream, but found another document (a.sls:2:1)',
  ],
  ['g: !!omap [{z: 1}]\n', 'expected a mapping node, but found sequence (a.sls:1:4)'],
  ['a: !frob 1\n', "could not determine a constructor for the tag '!frob' (a.sls:1:4)"],
  ['a: {{ b }}\n', 'found unacceptable key: a mapping cannot be a key (a.sls:1:5)'],
  ['a: *b\n', "found undefined alias 'b' (a.sls:1:4)"],
  ['a: &b [*b]\n', "found unconstructable recursive node 'b' (a.sls:1:8)"],
  [
    'a: "\u0007"\n',
    'unacceptable character #x0007: control characters are not allowed (a.sls:1:5)',
  ],
  ['<<: 1\n', 'expected a mapping or list of mappings for merging, but found scalar (a.sls:1:5)'],
  ['a: !!int x\n', "'x' is no int (a.sls:1:4)"],
  ['a: %b\n', 'found character that cannot start any token (a.sls:1:4)'],
  [
    'a: &x 1\nb: &x 2\n',
    "found duplicate anchor 'x': its first occurrence is on line 1 (a.sls:2:4)",
  ],
  ['a:\n  b: 1\n c: 2\n', 'did not find expected key (a.sls:3:2)'],
  ['[{a: ?b}]', 'did not find expected node content (a.sls:1:6)'],
  ['a: [1\n', "did not find expected ',' or ']' (a.sls:2:1)"],
  [`${'['.repeat(502)}`, 'the document nests deeper than 500 levels (a.sls:1:501)'],
])('%j is refused: %s', (text, expected) => {
  expect(failure(text)).toContain(expected);
});

test('aliases that multiply end with an error at once', () => {
  const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
  for (let level = 1; level < 10; level += 1)
    lines.push(
      `a${level}: &a${level} [${Array(10)
        .fill(`*a${level - 1}`)
        .join(', ')}]`,
    );
  const start = cpuTime();
  expect(failure(lines.join('\n'))).toContain('the aliases of this document multiply');
  expect(cpuTime() - start).toBeLessThan(2000);
});

test.each(['[', '{a: ', '- ', '? ', '!x [', '&a [', "{'"])(
  '%j ten thousand times ends with an error at once',
  part => {
    const start = cpuTime();
    expect(failure(part.repeat(10_000))).toMatch(/a\.sls:\d+/);
    expect(cpuTime() - start).toBeLessThan(5000);
  },
);

test('a byte order mark is not part of the text, an empty text is null', () => {
  expect(value('\ufeffa: 1')).toEqual(new Map([['a', 1]]));
  expect(value('# nothing\n')).toBe(null);
});

test.each([
  ['a: |\n  x', 'x'],
  ['a: |\n  x\n', 'x\n'],
  ['a: |+\n  x', 'x'],
  ['a: |\n  x\n  ', 'x\n'],
  ['a: >\n  x\n  y', 'x y'],
  ['a: "x\ny"', 'x y'],
  ["a:\t'x'", 'x'],
])('%j holds %j', (text, expected) => {
  expect((value(text) as Dict).get('a')).toBe(expected);
});

test('quoted text and brackets may go on at any column, and errors keep the written place', () => {
  expect(value('a:\n  b: [1,\n2, {c:\n3}]\n  d: \t{x: 1}\n')).toEqual(
    new Map([
      [
        'a',
        new Map<string, unknown>([
          ['b', [1, 2, new Map([['c', 3]])]],
          ['d', new Map([['x', 1]])],
        ]),
      ],
    ]),
  );
  expect(failure('a:\n  b: [1,\n2, !x 3]\n')).toContain("tag '!x' (a.sls:3:4)");
});

test.each([
  ['a: {\n  b: [\n    1\n  ]\n}\n', { a: { b: [1] } }],
  ['a:\n  b: "x\ny \n\n z"\n  c: \'x\n\'\n', { a: { b: 'x y\nz', c: 'x ' } }],
  ['a:\t[1,\t2]\nb: [x\ty,\t"a\tb"\t]\n', { a: [1, 2], b: ['x\ty', 'a\tb'] }],
  ['a: [-, -]\nb: {c: -}\n', { a: ['-', '-'], b: { c: '-' } }],
  ['a: |\n  it: "x\n  y"\n z: [\nb: [1\n]\n', undefined],
  ['a: |\n  it: "x\n  y [\nb: [1\n]\n', { a: 'it: "x\ny [\n', b: [1] }],
  ["a: it's\nb: 'x\ny'\n", { a: "it's", b: 'x y' }],
  ['a: x [\n  y\nb: "1\n2"\n', { a: 'x [ y', b: '1 2' }],
  ['a: >\n \t- "x\nb: [1\n]\n', { a: '\t- "x\n', b: [1] }],
  ['a: "*b: c &d: e"\nf: [1,\n2]\n', { a: '*b: c &d: e', f: [1, 2] }],
])('%j is read as PyYAML reads it, though js-yaml alone does not', (text, expected) => {
  if (expected === undefined) expect(() => value(text)).toThrow();
  else expect(toPlain(value(text))).toEqual(expected);
});

test('many lines that are indented too little cost time in proportion', () => {
  const text = ['a: "x\nb"\n', 'c: [\n1\n]\n', "d: it's\n", 'e: |\n  "\n']
    .map((part, index) => part.replace(/^./, `k${index}_`))
    .join('');
  const many = Array.from({ length: 5000 }, (_, index) => text.replaceAll('_', `_${index}`));
  const start = cpuTime();
  expect((value(many.join('')) as Dict).size).toBe(20_000);
  expect(cpuTime() - start).toBeLessThan(5000);
});

test.each(['[-, ', 'a: "x\nb"\n- ', '&a: ', '[\t', '- "\n', '{a: [\n', ' "\n '])(
  '%j many times ends within bounded time',
  part => {
    const start = cpuTime();
    try {
      value(part.repeat(50_000));
    } catch (error) {
      expect(error).toBeInstanceOf(TsaltError);
    }
    expect(cpuTime() - start).toBeLessThan(8000);
  },
);

test('any text is data or one clear error, within bounded time', { tags: 'slow' }, () => {
  const piece = fc.constantFrom(
    ...'a: b\n|- |  |\n|# c|"|\'|[|]|{|}|,|&x |*x|!t |<<: |? |---\n|%|>-\n|~|0644|\t|\r\n|é|\ufeff|\\|@'.split(
      '|',
    ),
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(piece, { maxLength: 40 }).map(parts => parts.join('')),
        fc.string({ unit: 'binary' }),
      ),
      text => {
        const start = cpuTime();
        try {
          loadYaml(text, { file: 'a.sls' });
        } catch (error) {
          expect(error).toBeInstanceOf(TsaltError);
          expect((error as TsaltError).at?.line).toBeGreaterThan(0);
        }
        expect(cpuTime() - start).toBeLessThan(2000);
      },
    ),
    { numRuns: 1500 },
  );
});

test.each(
  [
    ...['- ', '? ', 'a: ', '[', '{', '&a ', '"', "'", '# \n', '\n', '- a\n', '\t', '|\n ', '[a, '],
    ...['"a😀": "b", ', '😀 ', '- - a\n', '{a: b}\n', '*a ', '%a\n', '...\n', "''", '"\\x41'],
  ].flatMap(piece => ['', '[', '"', '{😀: 1, '].map(start => [piece, start] as const)),
)('what repeats %j after %j costs no more the longer it gets', (piece, start) => {
  const text = start + piece.repeat(200_000 / piece.length);
  const before = process.cpuUsage();
  try {
    loadYaml(text, { file: 'a.sls' });
  } catch (error) {
    expect(error).toBeInstanceOf(TsaltError);
  }
  expect(process.cpuUsage(before).user).toBeLessThan(15_000_000);
});
