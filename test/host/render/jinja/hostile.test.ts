import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messageOf } from '../../../../src/protocol/error.ts';
import { cpuTime } from '../../../helpers/cpu-time.ts';
import { site } from '../../../render/site.ts';

const limits = { jinja_limits: { milliseconds: 400 } };

const hostile = [
  "{{ 'x' * 10 ** 12 }}",
  '{{ [0] * 10 ** 9 }}',
  '{{ 9 ** (9 ** 9) }}',
  '{% set x = 2 ** 60000 %}{% set x = x * x %}{{ x * x }}',
  "{{ '%1000000000d' % 1 }}",
  "{{ '{:>1000000000}'.format(1) }}",
  "{{ 'x'.ljust(10 ** 10) }}",
  "{{ 'a' | indent(10 ** 10) }}",
  "{{ 'a' | center(10 ** 10) }}",
  '{% set l = [1] %}{% for i in range(100) %}{% do l.extend(l) %}{% endfor %}',
  "{% set ns = namespace(s='x') %}{% for i in range(100) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
  "{% set ns = namespace(s='x') %}{% for i in range(100) %}{% set ns.s = ns.s + ns.s %}{% endfor %}",
  "{% set ns = namespace(s='xx') %}{% for i in range(100) %}{% set ns.s = ns.s | replace('x', ns.s) %}{% endfor %}",
  '{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}',
  '{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}',
  '{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}',
  '{% set l = [1] %}{% for x in l %}{% do l.append(x) %}{% endfor %}',
  "{% set l = [] %}{% set ns = namespace(l=['x']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
  "{% set ns = namespace(l=['x']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l | json }}",
  "{% set ns = namespace(l=['x'], m=['x']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% set ns.m = [ns.m, ns.m] %}{% endfor %}{{ ns.l == ns.m }}",
  "{{ [1] | json_query('[@,@][]' ~ ' | [@,@][]' * 60) }}",
  "{{ [1] | json_query('[@,@]' ~ ' | [@,@]' * 60 ~ ' | to_string(@)') }}",
  "{{ 'ab' | json_query('@' ~ ' | join(`a`, [@,@])' * 60) }}",
  "{{ [1] | json_query('(' * 100000) }}",
  "{{ ['10.0.0.0/13'] * 500 | network_hosts }}{{ (['10.0.0.0/13'] * 500) | network_hosts }}",
  "{% set ns = namespace(l=['x']) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l | json_encode_list }}",
  "{{ ('a' * 40 ~ '!') | regex_search('^(a+)+(?!!)$') }}",
  "{{ ('a' * 40 ~ '!') is match('(a|a)*(?!!)$') }}",
  "{{ ('a' * 40 ~ '!') | regex_replace('^(a|aa)+(?!!)$', '') }}",
  '{{ range(30) | permutations | list }}',
  '{{ range(1000) | product(repeat=5) | list }}',
  '{% set l = [] %}{% do l.append(l) %}{{ l | json }}',
  "{{ salt['test.echo'](salt) }}",
  '{{ lipsum(n=10 ** 9) }}',
  "{% include 'loop.jinja' %}",
  `{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`,
  `{{ ${'not '.repeat(50000)} 1 }}`,
  `{{ ${'-'.repeat(50000)}1 }}`,
  `${'{% if 1 %}'.repeat(5000)}`,
];

// Some are 200 KB long: a name shows how each begins.
test.each(hostile.map(template => [template.slice(0, 80), template] as const))(
  'a hostile template ends with an error: %s',
  { tags: 'slow', timeout: 240_000 },
  async (_, template) => {
    const { text } = site({ opts: limits, files: { 'loop.jinja': "{% include 'loop.jinja' %}" } });
    await expect(text(template, 'jinja')).rejects.toThrow(/^Jinja (error|syntax error)/);
  },
);

test.each([
  ...[
    'constructor',
    '__proto__',
    'prototype',
    'toString',
    'valueOf',
    'hasOwnProperty',
    '__class__',
  ],
  ...['length', 'push', 'map', 'size', 'call', 'apply', 'bind', 'then', 'typeName', 'items_'],
])('no value has an attribute %s', async name => {
  const { text } = site({ pillar: { p: [1] } });
  const values = [
    "'a'",
    '1',
    '1.0',
    '[1]',
    '(1,)',
    '{}',
    'none',
    'true',
    'range',
    'range(2)',
    'salt.a.b',
    'pillar',
    'grains',
    "''.upper",
    'cycler(1)',
    'namespace()',
    'm',
  ];
  for (const value of values) {
    const template = `{% macro m() %}{% endmacro %}{{ ${value}.${name} is defined }}{{ ${value}['${name}'] is defined }}{{ (${value} | attr('${name}')) is defined }}`;
    expect(`${value}: ${await text(template, 'jinja')}`).toBe(`${value}: FalseFalseFalse`);
  }
});

test('names of JavaScript are neither variables nor keys', async () => {
  const { text } = site();
  for (const name of ['process', 'globalThis', 'constructor', '__proto__', 'require', 'Object'])
    expect(await text(`{{ ${name} is defined }}{{ {}.get('${name}') }}`, 'jinja')).toBe(
      'FalseNone',
    );
  expect(
    await text(
      "{% set d = dict(__proto__=1) %}{{ d }}{{ {}.get('polluted') }}{% do d.update({'constructor': 2}) %}{{ d.constructor }}",
      'jinja',
    ),
  ).toBe("{'__proto__': 1}None2");
});

test('any text renders or fails with one of our errors', async () => {
  const { text } = site({ opts: limits });
  const part = fc.oneof(
    fc.constantFrom(
      '{{',
      '}}',
      '{%',
      '%}',
      '{#',
      '#}',
      '-',
      ' if ',
      ' for ',
      ' in ',
      'endif',
      'endfor',
      'else',
      'x',
      '1',
      "'a'",
      '[',
      ']',
      '(',
      ')',
      '|',
      '.',
      '~',
      'upper',
      ' is ',
      ' raw ',
      'endraw',
      'set ',
      '=',
      '\n',
      '*',
      '**',
      ',',
    ),
    fc.string({ maxLength: 4 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 30 }), async parts => {
      const result = await text(parts.join(''), 'jinja').catch(messageOf);
      expect(typeof result).toBe('string');
      expect(result).not.toMatch(
        /undefined is not|Cannot read prop|is not a function|is not iterable \(/,
      );
    }),
    { numRuns: 500 },
  );
});

test('long input is not slow: each of these takes a moment', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const { text } = site();
  const start = cpuTime();
  for (const [template, expected] of [
    [`{{ [${'1,'.repeat(100_000)}]|length }}`, '100000'],
    [`{% if 0 %}${'{% elif 0 %}'.repeat(20_000)}{% else %}end{% endif %}`, 'end'],
    ["{{ ('<' * 300000)|striptags|length }}", '300000'],
    ["{{ ('<!--' * 100000)|striptags|length }}", '400000'],
    ["{{ ('1' * 1000000 ~ 'x')|float }}", '0.0'],
    ['{{ range(50000)|list|difference(range(50000)|list) }}', '[]'],
    ['{{ range(50000)|list|symmetric_difference(range(1, 50001)|list) }}', '[0, 50000]'],
    [
      '{% set d = {} %}{% for i in range(30000) %}{% do d.update({(0, i): i}) %}{% endfor %}{{ d|length }}',
      '30000',
    ],
    [
      "{% set x = 'a' * 60000000 %}{{ x[1:]|length }}{{ x|trim|truncate(10) }}",
      '59999999aaaaaaa...',
    ],
  ] as const)
    expect(await text(template, 'jinja')).toBe(expected);
  expect(cpuTime() - start).toBeLessThan(40_000);
});

test.each([
  "{{ ('a' * 60000000)|list|length }}",
  "{{ ('a' * 60000000)[::2]|length }}",
  `{% set n = namespace(a=[1], b=[1]) %}{% for i in range(18) %}{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ ([n.a, n.b] * 500)|sort|length }}`,
])(
  '%s ends before it has used up memory or time',
  { tags: 'slow', timeout: 60_000 },
  async template => {
    await expect(site().text(template, 'jinja')).rejects.toThrow(
      /^Jinja error: A (list grew too long|comparison took too long)/,
    );
  },
);

test('lines are counted in long lines and short ones', async () => {
  const { text } = site();
  await expect(
    text(`{{ 1 }}{{ 1 }}\n\n{% raw %}\n\n{% endraw %}{# \n #}{{ [1,\n2,\n3] }}{{ nope }}`, 'jinja'),
  ).rejects.toMatchObject({ at: { line: 8 } });
});
