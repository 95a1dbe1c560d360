import { expect, test } from 'vitest';
import { taintedSite } from '../../../render/taint/site.ts';

const os = 'Debian\n    - template: mako\n    - user: root #';
const refused = expect.objectContaining({ code: 'render-tainted', kind: 'render' });

/** Templates into which what a host sends is printed as it is: each of them, in both engines. */
const jinja: readonly string[] = [
  'a: {{ grains.os }}',
  'a: {{ grains["os"] | string }}',
  'a: {{ "x" ~ grains.os }}',
  'a: {{ "x" + grains.os }}',
  'a: {{ grains.os * 2 }}',
  'a: {{ "%s!" % grains.os }}',
  'a: {{ "{}!".format(grains.os) }}',
  'a: {{ "{x}".format(x=grains.os) }}',
  'a: {{ "%s"|format(grains.os) }}',
  'a: {{ grains.os.upper() }}',
  'a: {{ grains.os | lower }}',
  'a: {{ grains.os | replace("D", "d") }}',
  'a: {{ "x" | replace("x", grains.os) }}',
  'a: {{ grains.os | indent }}',
  'a: {{ grains.os | trim | indent(width=2, first=true) }}',
  'a: {{ grains.os | regex_replace("D", "x") }}',
  'a: {{ grains.os | truncate(40) }}',
  'a: {{ grains.os[1:] }}',
  'a: {{ grains.os[:-1] }}',
  'a: {% for c in grains.os %}{{ c }}{% endfor %}',
  'a: {{ grains.os | list | join }}',
  'a: {{ [grains.os, "x"] | join(", ") }}',
  'a: {{ ", ".join([grains.os, "x"]) }}',
  'a: {{ [grains.os] | map("upper") | join }}',
  'a: {{ [grains.os] | first }}',
  'a: {{ grains.os.split("D") | join("D") }}',
  'a: {{ grains.os.splitlines() | join("\\n") }}',
  'a: {{ grains.os | base64_encode | base64_decode }}',
  'a: {{ grains.os.encode("utf8").decode("utf8") }}',
  'a: {{ grains.get("os") }}',
  'a: {{ grains.values() | list | first }}',
  '{% set x = grains.os %}a: {{ x }}',
  '{% set x %}{{ grains.os }}{% endset %}a: {{ x }}',
  '{% set ns = namespace(x=grains.os) %}a: {{ ns.x }}',
  '{% macro m(x) %}{{ x }}{% endmacro %}a: {{ m(grains.os) }}',
  '{% macro m() %}{{ caller() }}{% endmacro %}a: {% call m() %}{{ grains.os }}{% endcall %}',
  'a: {% filter upper %}{{ grains.os }}{% endfilter %}',
  'a: {% include "part" %}',
  '{% import "lib" as lib with context %}a: {{ lib.x }}',
  'a: {{ salt["cmd.run"]("x") }}',
  'a: {{ salt.cmd.run("x") | default("y") }}',
  'a: {{ salt["slsutil.copying"](grains.os) }}',
  '{% load_yaml as x %}\nb: {{ grains.os | yaml_dquote }}\n{% endload %}a: {{ x.b }}',
  '{% load_yaml as x %}\nb: {{ grains.os }}\n{% endload %}a: {{ x.b }}',
  '{{ {"a": grains.os}.a }}: 1',
  "a: '{{ grains.quote | yaml_dquote }}'",
];

test.for(jinja)('jinja: what the host sends does not change the structure of %s', async text => {
  const { data } = taintedSite({
    grains: { os, quote: "it's: '" },
    answer: `${os}\n`,
    files: { part: '{{ grains.os }}', lib: '{% set x = grains.os %}' },
  });
  await expect(data(`#!jinja|yaml\nx:\n  b: 1\n  ${text}\n`)).rejects.toThrow(refused);
});

const liquid: readonly string[] = [
  'a: {{ grains.os }}',
  'a: {{ grains.os | append: "x" }}',
  'a: {{ "x" | append: grains.os }}',
  'a: {{ grains.os | upcase }}',
  'a: {{ grains.os | replace: "D", "d" }}',
  'a: {{ grains.os | slice: 1, 100 }}',
  'a: {{ grains.os | split: "D" | join: "D" }}',
  'a: {{ grains.os | strip }}',
  'a: {{ grains.os | escape }}',
  'a: {{ grains.os | url_encode | url_decode }}',
  '{% assign x = grains.os %}a: {{ x }}',
  '{% capture x %}{{ grains.os }}{% endcapture %}a: {{ x }}',
  '{% capture x %}{{ grains.os }}{% endcapture %}a: {{ x | upcase }}',
  'a: {% echo grains.os %}',
  'a: {% cycle grains.os, "x" %}',
  'a: {% for g in grains %}{{ g[1] }}{% endfor %}',
  'a: {% include "part" %}',
  'a: {% render "own", x: grains.os %}',
  'a: {{ "cmd.run" | salt: "x" }}',
  '{% salt x = cmd.run "x" %}a: {{ x }}',
  'a: {{ "slsutil.copying" | salt: grains.os }}',
  '{% load_yaml as x %}\nb: {{ grains.os | yaml_dquote }}\n{% endload %}a: {{ x.b }}',
  '{% load_yaml as x %}\nb: {{ grains.os }}\n{% endload %}a: {{ x.b }}',
  "a: '{{ grains.quote | yaml_dquote }}'",
];

test.for(liquid)('liquid: what the host sends does not change the structure of %s', async text => {
  const { data } = taintedSite({
    grains: { os, quote: "it's: '" },
    answer: os,
    files: { part: '{{ grains.os }}', own: '{{ x }}' },
  });
  await expect(data(`x:\n  b: 1\n  ${text}\n`)).rejects.toThrow(refused);
});

const formats: readonly string[] = [
  '#!jinja|json\n{"a": "{{ grains.os }}"}',
  '#!jinja|json\n{"a": "{{ grains.json }}"}',
  '#!jinja|json\n{"a": {{ grains.word }}}',
  '#!jinja|json\n{"a": "{{ grains.os | tojson }}"}',
  '#!jinja|json5\n{a: "{{ grains.json }}"}',
  '#!jinja|json5\n{a: {{ grains.word }}}',
  '#!jinja|toml\na = "{{ grains.json }}"',
  '#!jinja|toml\na = {{ grains.word }}',
  '#!jinja|yamlex\na: {{ grains.os }}',
  '#!jinja|liquid|yaml\na: {{ grains.os }}',
  '#!liquid|jinja|yaml\na: {{ grains.os }}',
  '#!stateconf yaml . jinja\na:\n  test.nop:\n    - name: {{ grains.os }}',
];

test.for(formats)('%s: what the host sends does not change the structure', async text => {
  const { data } = taintedSite({ grains: { os, json: 'x", "b": "y', word: '[1]' } });
  await expect(data(text)).rejects.toThrow(refused);
});

test.for([
  ['#!jinja|yaml\na: {{ grains.os | yaml_dquote }}\n', { a: os }],
  ['#!jinja|yaml\na: {{ grains.os | json }}\n', { a: os }],
  ['#!jinja|yaml\na: {{ {"b": grains.os} | yaml(False) | indent(2) }}\n', undefined],
  [
    '#!jinja|yaml\na:\n  {{ {"b": grains.os, "c": [1]} | yaml(False) | indent(2) }}\nd: 1\n',
    { a: { b: os, c: [1] }, d: 1 },
  ],
  [
    '#!jinja|yaml\na: 1\n{{ {"b": grains.id2, "c": [1]} | yaml(False) }}\n',
    { a: 1, b: 'x', c: [1] },
  ],
  ['#!jinja|yaml\na: {{ grains.list }}\n', { a: ['x', 'y z'] }],
  ['#!jinja|yaml\na: {{ grains.id2 }} # {{ grains.quote }}\n', { a: 'x' }],
  ['#!jinja|yaml\n{{ grains.id2 }}: 1\n', { x: 1 }],
  ['#!jinja|yaml\na: |\n    {{ grains.os | indent(4) }}\n', { a: `${os}\n` }],
  ['#!jinja|json\n{"a": {{ grains.os | tojson }}, "b": "{{ grains.id2 }}"}', { a: os, b: 'x' }],
  ['#!jinja|toml\na = "is {{ grains.id2 }}"\n', { a: 'is x' }],
  ['#!liquid|jinja|yaml\na: {{ grains.id2 }}\n', { a: 'x' }],
  [
    'a: {{ grains.os | yaml_dquote }}\nb: {{ grains.list }}\nc: {{ grains.id2 }}\n',
    { a: os, b: ['x', 'y z'], c: 'x' },
  ],
  ['a: {{ grains.os | json }}\n', { a: os }],
] as const)('%s renders as it always did', async ([text, wanted]) => {
  const { data } = taintedSite({ grains: { os, list: ['x', 'y z'], id2: 'x', quote: "it's [" } });
  if (wanted === undefined) return void (await expect(data(text)).rejects.toThrow());
  expect(await data(text)).toEqual(wanted);
});

test.each(['#!jinja|yaml', '#!liquid|yaml'])(
  'a refusal in a template of %s shows the line of the template',
  async pipe => {
    const { data } = taintedSite({ grains: { os } });
    const text = `${pipe}\n{% if true %}\n{%- if true %}\n\na: {{ grains.os }}\n{% endif %}{% endif %}\n`;
    await expect(data(text)).rejects.toMatchObject({
      message: expect.stringMatching(/structure of .*web\/init\.sls:5:4; quote/),
      at: { line: 5, column: 4 },
      excerpt: expect.stringContaining('\na: {{ grains.os }}    <===='),
    });
  },
);

test('the message names the host, what it sent, the file and the line', async () => {
  const { data } = taintedSite({ grains: { os } });
  await expect(data('#!jinja|yaml\n\na: {{ grains.os }}\n')).rejects.toThrow(
    /^web1's grain "os" would change the structure of .*web\/init\.sls:3:4; quote it with \| yaml_dquote$/,
  );
});

test.for([
  '#!jinja|yaml\na: {{ salt[grains.fun]("x") }}\n',
  '#!jinja|yaml\na: {{ salt["pillar"][grains.part]("x") }}\n',
  'a: {{ grains.fun | salt: "x" }}\n',
  '#!jinja|yaml\n{% include grains.path %}\n',
  '#!jinja|yaml\n{% import_yaml "a/" ~ grains.path as x %}\n',
  '{% import_yaml grains.path as x %}\n',
  '{% include grains.path %}\n',
  '{% render grains.path %}\n',
  '{% layout grains.path %}\n',
  '{% include "a/{{ grains.path }}" %}\n',
  '{% assign x = grains.path | append: ".liquid" %}{% include x %}\n',
])('%s: the host chooses neither function nor file', async text => {
  const { data } = taintedSite({
    grains: { fun: 'pillar.get', part: 'pillar.get', path: '../secret' },
    files: { secret: 'a: 1' },
  });
  await expect(data(text)).rejects.toThrow(/would choose|chose the function/);
});
