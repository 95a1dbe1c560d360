import { expect, test } from 'vitest';
import { site } from '../../render/site.ts';

const jinja = { pipe: 'jinja|yaml' };

test.each([
  [
    'jinja',
    '{% set x = 1 %}\n{%- if x %}\n\n{% for i in [1, 2] %}{% endfor %}\na:\n  test.nop: []\n b: 1\n{% endif %}\n',
  ],
  [
    'liquid',
    '{% assign x = 1 %}\n{%- if x %}\n\n{% for i in (1..2) %}{% endfor %}\na:\n  test.nop: []\n b: 1\n{% endif %}\n',
  ],
])('%s: a YAML fault carries line, column and excerpt of the template', async (engine, text) => {
  const failure = await site().failure(text, { pipe: `${engine}|yaml` });
  expect(failure).toContain('(web/init.sls:7:2)');
  expect(failure).toMatch(/^ b: 1 {4}<=+$/m);
  expect(failure).toContain('{% endif %}');
  expect(failure).toContain('that begins on line 5.');
  expect(failure).not.toContain('its lines are those that');
});

test.each([
  ['jinja', '{% for i in [1, 2] %}\na{{ i }}:\n  test.nop:\n   - x: "{{ i }}\n{% endfor %}\n'],
  ['liquid', '{% for i in (1..2) %}\na{{ i }}:\n  test.nop:\n   - x: "{{ i }}\n{% endfor %}\n'],
])('%s: a place out of a loop says the rendered line too', async (engine, text) => {
  const failure = await site().failure(text, { pipe: `${engine}|yaml` });
  expect(failure).toMatch(/\(web\/init\.sls:4:\d+, rendered line \d+\)/);
  expect(failure).toMatch(/- x: "\{\{ i \}\} {4}<=+$/m);
});

test.each([
  ['jinja', '{% for i in [1, 2] %}\na:\n  test.nop: []\n{% endfor %}\n'],
  ['liquid', '{% for i in (1..2) %}\na:\n  test.nop: []\n{% endfor %}\n'],
])('%s: an ID that a loop writes twice is told with both rendered lines', async (engine, text) => {
  const failure = await site().failure(text, { pipe: `${engine}|yaml` });
  expect(failure).toMatch(
    /it is on line 2 \(rendered line 2\) and again on line 2 \(rendered line \d\) \(web\/init\.sls:2:1, rendered line \d\)/,
  );
});

test.each([
  ['jinja', "{% include 'web/part.sls' %}\n"],
  ['liquid', "x: 1\n{% include 'web/part.sls' %}\n"],
])('%s: a YAML fault in an included file shows that file', async (engine, text) => {
  const made = site({ files: { 'web/part.sls': '{% if true %}\na: 1\n b: 2\n{% endif %}\n' } });
  const failure = await made.failure(text, { pipe: `${engine}|yaml` });
  expect(failure).toContain('(web/part.sls:3:3)');
  expect(failure).toMatch(/^ b: 2 {4}<=+$/m);
});

test('a YAML fault in what an imported macro prints shows the macro', async () => {
  const files = { 'web/m.jinja': '{% macro one(n) %}\n{{ n }}:\n  x: 1\n y: 2\n{% endmacro %}\n' };
  const text = "{% from 'web/m.jinja' import one %}\n\n{{ one('a') }}\n{{ one('b') }}\n";
  const failure = await site({ files }).failure(text, jinja);
  expect(failure).toContain('(web/m.jinja:4:2');
  expect(failure).toMatch(/^ y: 2 {4}<=+$/m);
});

test('a value of several lines stands where it is printed', async () => {
  const failure = await site({ pillar: { v: 'a: 1\nb: "' } }).failure(
    '\n\nx: 1\n{{ pillar.v }}\n',
    jinja,
  );
  expect(failure).toContain('(web/init.sls:4');
  expect(failure).toMatch(/^\{\{ pillar\.v \}\} {4}<=+$/m);
});

test('with two engines the place is that of the file', async () => {
  const text = '{% raw %}\n{% assign a = 1 %}\n{% endraw %}\n{{ "# x" }}\nb:\n  c: 1\n d: 2\n';
  const failure = await site().failure(text, { pipe: 'jinja|liquid|yaml' });
  expect(failure).toContain('(web/init.sls:7:2)');
  const own =
    '{# gone #}\n{% if true %}\n{% endif %}\n{{ "{{" }}{{ "nosuch" }}{{ "}}" }}\n{% raw %}{{ nosuch }}{% endraw %}\n';
  expect(await site().failure(own, { pipe: 'jinja|liquid|yaml' })).toContain('(web/init.sls:5:13)');
});

test('the same rendered text of another template has its own positions', async () => {
  const made = site();
  const places: unknown[] = [];
  for (const text of ['{{ 1 }}: x\n', '{# a #}{# b #}\n{{ 1 }}: x\n', '\n\n{{ 1 }}: x\n'])
    for (let time = 0; time < 3; time += 1)
      await made.data(text, {
        ...jinja,
        onTrace: trace =>
          places.push(
            trace({ line: text.startsWith('{{') ? 1 : text.indexOf('{{') === 2 ? 3 : 2, column: 1 })
              .line,
          ),
      });
  expect(places).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
});

test.each([
  [
    'jinja',
    '{% set a = 1 %}\n{% load_yaml as x %}\n{% if a %}\nb: 1\n c: 2\n{% endif %}\n{% endload %}\n',
  ],
  [
    'liquid',
    '{% assign a = 1 %}\n{% load_yaml as x %}\n{% if a %}\nb: 1\n c: 2\n{% endif %}\n{% endload %}\n',
  ],
])('%s: a fault in a block of data shows its line', async (engine, text) => {
  const failure = await site().failure(text, { pipe: `${engine}|yaml` });
  expect(failure).toContain('(web/init.sls:5');
  expect(failure).toMatch(/^ c: 2 {4}<=+$/m);
});

test.each([
  ['jinja', "\n\n{% import_yaml 'web/d.yaml' as x %}\n{{ x }}\n"],
  ['liquid', "\n\n{% import_yaml 'web/d.yaml' as x %}\n{{ x }}\n"],
])('%s: a fault in an imported file of data shows that file, once', async (engine, text) => {
  const made = site({ files: { 'web/d.yaml': 'a: 1\nb:\n  - c\n d: 1\n' } });
  const failure = await made.failure(text, { pipe: `${engine}|yaml` });
  expect(failure).toContain('(web/d.yaml:4');
  expect(failure.match(/<=+/g)).toHaveLength(1);
  expect(failure).toMatch(/^ d: 1 {4}<=+$/m);
});

test.each([
  ['jinja', "{% include 'web/part' %}\n"],
  ['liquid', "x: 1\n{% include 'web/part' %}\n"],
])('%s: an error in an included template shows that file', async (engine, text) => {
  const made = site({ files: { 'web/part': 'a\n\nb: {{ nope }}\n' } });
  expect(await made.failure(text, { pipe: `${engine}|yaml` })).toMatch(/\(web\/part:3(?::7)?\)/);
});

test('an engine that reports no origins has the lines of what it made, and says so', async () => {
  const text = '% for i in [1, 2]:\na${i}:\n  x: 1\n y: 2\n% endfor\n';
  const failure = await site().failure(text, { pipe: 'mako|yaml' });
  expect(failure).toContain('(web/init.sls, rendered line 3)');
  expect(failure).toContain("its lines are those that 'mako' returned");
  const places: unknown[] = [];
  await site().data('% for i in [1, 2]:\na${i}: 1\n% endfor\n', {
    pipe: 'mako|yaml',
    onTrace: trace => places.push(trace({ line: 2, column: 1 }).rendered),
  });
  expect(places).toEqual([2]);
});

test('stateconf: a fault in its YAML shows the line of the template', async () => {
  const text =
    '#!stateconf yaml . jinja\n{% set a = 1 %}\n{% if a %}\n{% endif %}\n.x:\n  test.nop: []\n b: 1\n';
  expect(await site().failure(text)).toContain('(web/init.sls:7:2)');
  const lines: unknown[] = [];
  await site().data(text.replace(' b: 1\n', ''), {
    onTrace: trace => lines.push(trace({ line: 5, column: 1 }).line),
  });
  expect(lines).toEqual([5]);
});

test.each(['jinja', 'liquid'])(
  '%s: a text that hosts share has its places for each',
  async engine => {
    const made = site();
    const text =
      '{% if grains.os %}\n{%- if true %}\n{% endif %}{% endif %}\na: 1\n b: {{ grains.os }}\n';
    for (let host = 0; host < 4; host += 1) {
      const context = { ...made.context, grains: new Map(made.context.grains) };
      const failure = await made.failure(text, { pipe: `${engine}|yaml`, context });
      expect(failure).toContain('(web/init.sls:5:3)');
    }
  },
);
