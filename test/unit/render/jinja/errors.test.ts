import { expect, test } from 'vitest';
import { TsaltError } from '../../../../src/protocol/error.ts';
import { site } from '../../../render/site.ts';

test('an undefined variable is named with its file, line and the lines around', async () => {
  const { failure } = site();
  expect(await failure('a:\n  b: 1\n  c: {{ nosuch.attr }}\n', { pipe: 'jinja|yaml' })).toBe(
    "Jinja variable 'nosuch' is undefined (web/init.sls:3)\n---\na:\n  b: 1\n  c: {{ nosuch.attr }}    <======================\n---",
  );
});

test('the line is that of the part that failed', async () => {
  const { failure } = site();
  expect(
    await failure("{% set d = {\n  'a': 1,\n  'b': {}.x.y,\n} %}\n", { pipe: 'jinja|yaml' }),
  ).toContain("Jinja variable 'dict object' has no attribute 'x' (web/init.sls:3)");
});

test('a fault in an imported template names that file and how it came there', async () => {
  const { failure } = site({
    files: {
      'lib/map.jinja': '{% macro m(x) %}\n{{ x.nope.more }}\n{% endmacro %}',
      'lib/mid.jinja':
        "{% import 'lib/map.jinja' as map %}\n{% macro go() %}{{ map.m({}) }}{% endmacro %}",
    },
  });
  expect(
    await failure("{% from 'lib/mid.jinja' import go %}\n\nx: {{ go() }}\n", {
      pipe: 'jinja|yaml',
    }),
  ).toBe(
    [
      "Jinja variable 'dict object' has no attribute 'nope' (lib/map.jinja:2)",
      '---',
      '{% macro m(x) %}',
      '{{ x.nope.more }}    <======================',
      '{% endmacro %}',
      '---',
      'called from lib/mid.jinja:2',
      'called from web/init.sls:3',
    ].join('\n'),
  );
});

test('wrong syntax in an imported template names that file', async () => {
  const { failure } = site({ files: { 'bad.jinja': 'x\n{% if %}' } });
  expect(await failure("{% import 'bad.jinja' as b %}", { pipe: 'jinja|yaml' })).toContain(
    "Jinja syntax error: Expected an expression, got 'end of statement block' (bad.jinja:2)",
  );
});

test('a missing template is reported with where it was looked for', async () => {
  const { failure } = site();
  expect(await failure("a: 1\n{% include 'no/such.jinja' %}", { pipe: 'jinja|yaml' })).toContain(
    "Jinja error: there is no template 'no/such.jinja' in saltenv 'base' (web/init.sls:2)",
  );
  expect(await failure("{% import '../../etc/passwd' as p %}", { pipe: 'jinja|yaml' })).toContain(
    'there is no template',
  );
});

test('a function that fails stops rendering; its error keeps its kind', async () => {
  const { failure, raw } = site({
    call: async fun => {
      throw fun === 'gone.host'
        ? new TsaltError('ssh-closed', 'The connection closed.', {
            kind: 'unreachable',
            hint: 'Try again.',
          })
        : new Error(`boom in ${fun}`);
    },
  });
  expect(await failure("\n{{ salt['a.b']() | default('x') }}", { pipe: 'jinja|yaml' })).toContain(
    'Problem running salt function in Jinja template: boom in a.b (web/init.sls:2)',
  );
  const lost = raw("{{ salt['gone.host']() }}", { pipe: 'jinja|yaml' });
  await expect(lost).rejects.toMatchObject({ code: 'ssh-closed', kind: 'unreachable' });
  await expect(lost).rejects.toThrow('The connection closed.');
});

test('raise stops with its own words', async () => {
  const { failure } = site();
  expect(await failure("{{ raise('no ' ~ 1) }}", { pipe: 'jinja|yaml' })).toContain(
    'Jinja error: no 1 (web/init.sls:1)',
  );
});

test('bad YAML inside of load_yaml is shown', async () => {
  const { failure } = site();
  const shown = await failure('{% load_yaml as x %}\na: [\n{% endload %}', { pipe: 'jinja|yaml' });
  expect(shown).toContain('Jinja syntax error: Encountered error loading yaml: ');
});
