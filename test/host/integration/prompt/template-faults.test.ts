// @module-tag slow
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject();
});
afterAll(() => project.close());

const hint = /This looks like Jinja: write `#!jinja\|yaml` as its first line/g;

const apply = async (text: string, mode = 'test=True') => {
  project.write({ 'states/one.sls': text });
  return project.run('web1', 'state.apply', 'one', mode);
};

test.each([
  '{% set port = 80 %}\na: test.nop\n',
  "{%- from 'x/map.jinja' import y %}\na: test.nop\n",
  "a:\n  test.nop:\n    - name: {{ pillar.get('port', 80) }}\n",
  "a:\n  test.nop:\n    - name: {{ salt['cmd.run']('id') }}\n",
  '{% if grains.a and (grains.b or grains.c) is defined %}\na: test.nop\n{% endif %}\n',
  "{% for u, d in pillar.get('users', {}).items() %}\n{{ u }}: test.nop\n{% endfor %}\n",
  "{% for u in ['a', 'b'] %}\n{{ u }}: test.nop\n{% endfor %}\n",
  '{# comment #}\na: test.nop\n',
  "a:\n  test.nop:\n    - name: {{ grains.os | lower ~ 'x' }}\n",
  '{% if pillar.foo is not defined %}\na: test.nop\n{% else %}\nb: test.nop\n{% endif %}\n',
])('Jinja in a Liquid SLS is an error that says so: %s', async text => {
  const { code, stdout } = await apply(text);
  expect(code).not.toBe(0);
  expect(stdout.match(hint), stdout).toHaveLength(1);
  expect(stdout).toMatch(/states\/one\.sls:\d/);
});

test.each([
  "{% assign all = grains.os | append: '~' %}{% for i in (1..2) %}\na{{ i }}:\n  test.nop:\n    - name: {{ all }}\n{% endfor %}\n",
  "{% if grains.os == 'none' or grains.id contains 'web' %}\na: test.nop\n{% endif %}\n",
  "{% case grains.os %}{% when 'Debian', 'Ubuntu' or 'x' %}\na: test.nop\n{% else %}\na: test.nop\n{% endcase %}\n",
  '{% unless grains.nosuch %}\na: test.nop\n{% endunless %}\n',
])('what Liquid has stays as it was: %s', async text => {
  const { code, stdout } = await apply(text);
  expect(code, stdout).toBe(0);
});

test('text after an expression of Liquid is an error with its position', async () => {
  const { stdout } = await apply('{% if grains.os garbage %}\na: test.nop\n{% endif %}\n');
  expect(stdout).toMatch(
    /"garbage" is more than the expression before it can have \(states\/one\.sls:1:\d+\)/,
  );
  expect(stdout).not.toMatch(hint);
});

test('a tree written for Jinja is reported once, not once for each SLS', async () => {
  project.write({
    'states/top.sls': "base:\n  '*': [t1, t2, t3]\n",
    'states/t1.sls': '{% set a = 1 %}\na: test.nop\n',
    'states/t2.sls': '{% macro b() %}{% endmacro %}\nb: test.nop\n',
    'states/t3.sls': '{% if x is defined %}\nc: test.nop\n{% endif %}\n',
  });
  const { stdout } = await project.run('web1', 'state.apply', 'test=True');
  for (const name of ['t1', 't2', 't3']) expect(stdout).toContain(`states/${name}.sls:1`);
  expect(stdout.match(hint)).toHaveLength(1);
  expect(stdout).toContain('`renderer: jinja|yaml` into tsalt.yaml for all SLS');
});

test('Jinja in a template of a file names the argument to write', async () => {
  project.write({ 'states/t.conf': '{% set a = 1 %}{{ a }}\n' });
  const { stdout } = await apply(
    `conf:\n  file.managed:\n    - name: ${project.hosts.web1?.root}/t.conf\n    - source: salt://t.conf\n    - template: liquid\n`,
  );
  expect(stdout).toContain('This looks like Jinja: write `- template: jinja` into the state.');
});

test.each(['json', 'nested', 'yaml'])(
  'a fault in the template of a file has file, line and excerpt in %s',
  async out => {
    project.write({
      'states/t.conf': 'one\n{{ nope }}\n',
      'states/one.sls': `conf:\n  file.managed:\n    - name: ${project.hosts.web1?.root}/t.conf\n    - source: salt://t.conf\n    - template: jinja\n`,
    });
    const { stdout } = await project.run('--out', out, 'web1', 'state.apply', 'one');
    // YAML breaks long lines and doubles quotes.
    const text = stdout.replace(/\\?\s+\\?/g, ' ');
    expect(text).toMatch(/nope'+ is undefined \(states\/t\.conf:2/);
    expect(text).toMatch(/\{\{ nope \}\} <=====/);
  },
);

const loops = {
  jinja: "#!jinja|yaml\n{% set all = ['a', 'b'] %}\n{% if true %}\n{% endif %}\n",
  liquid: "{% assign all = 'a,b' | split: ',' %}\n\n{% if true %}\n{% endif %}\n",
};

test.each(['jinja', 'liquid'] as const)(
  '%s: what is wrong with a templated state is shown where its template writes it',
  async engine => {
    const head = loops[engine];
    const argument = await apply(
      `${head}{% for i in all %}\n{{ i }}:\n  file.managed:\n    - name: /tmp/{{ i }}\n    - requires: []\n{% endfor %}\n`,
    );
    expect(argument.code).not.toBe(0);
    expect(argument.stdout).toMatch(/ID 'b' \(states\/one\.sls:9:7, rendered line \d+\)/);
    const fun = await apply(`${head}a:\n  file.managd:\n    - name: /tmp/a\n`);
    expect(fun.stdout + fun.stderr).toMatch(/states\/one\.sls:6:3\)/);
    const requisite = await apply(`${head}a:\n  test.nop:\n    - require: 5\n`);
    expect(requisite.stdout).toContain('states/one.sls:7:7');
    const form = await apply(`${head}a:\n  test.nop: 5\n`);
    expect(form.stdout).toMatch(/states\/one\.sls:6:3/);
    expect(form.stdout).toMatch(/test\.nop: 5 {4}<====/);
    const single = await apply(`${head}a:\n  file.managed:\n    - requires: []\n`);
    expect(single.stdout).toMatch(/- requires: \[\] {4}<====/);
    project.write({ 'states/two.sls': `${head}{% if true %}\na: test.nop\n{% endif %}\n` });
    const twice = await apply(`${head}include: [two]\na: test.nop\n`);
    expect(twice.stdout).toMatch(/states\/(one|two)\.sls:6:1\)/);
    expect(twice.stdout).not.toMatch(/sls:[123]:/);
  },
);

test('a warning about a templated state shows its place in the template', async () => {
  const { stdout, stderr } = await apply(
    '{% assign x = 1 %}\n{%- if x %}\na:\n  file.managed:\n    - name: /tmp/a\n    - quux_option: 1\n{% endif %}\n',
  );
  expect(stdout + stderr).toMatch(/quux_option.*states\/one\.sls:6:7/);
});

test.each([
  ['an undefined variable', '{{ nope }}\n', /'nope'+ is undefined/],
  ['an error', '{{ 1 / 0 }}\n', /division by zero/],
  ['a missing template', "{% include 'nosuch' %}\n", /there is no template '+nosuch/],
  ['a limit', "{{ 'x' * 999999999 }}\n", /more than a template may do/],
])('%s has its place and the lines around it in data too', async (_, fault, reason) => {
  project.write({ 'states/one.sls': `#!jinja|yaml\n\n${fault}` });
  for (const out of ['json', 'yaml', 'ndjson', 'raw', 'highstate']) {
    const { code, stdout } = await project.run('--out', out, 'web1', 'state.apply', 'one');
    expect(code).toBe(65);
    // YAML breaks long lines and doubles quotes.
    const text = stdout.replace(/\\?\s+\\?/g, ' ');
    expect(text, out).toMatch(reason);
    expect(text, out).toContain('(states/one.sls:3)');
    expect(text, out).toContain('<=====');
  }
});

test('an error in an imported macro shows the imported file in data too', async () => {
  project.write({
    'states/one.sls': "#!jinja|yaml\n\n{% from 'm.jinja' import x %}\n{{ x() }}\n",
    'states/m.jinja': '{% macro x() %}\n{{ nope }}\n{% endmacro %}\n',
  });
  const { stdout } = await project.run('--out', 'json', 'web1', 'state.apply', 'one');
  const [text] = JSON.parse(stdout).web1 as string[];
  expect(text).toContain("'nope' is undefined (states/m.jinja:2)");
  expect(text).toContain('{{ nope }}    <====');
  expect(text).not.toContain("{% from 'm.jinja' import x %}");
});

test('a pillar that does not render says why, wherever it is asked for', async () => {
  project.write({
    'states/one.sls': 'a: test.nop\n',
    'pillar/top.sls': "base:\n  '*': [a]\n",
    'pillar/a.sls': '#!jinja|yaml\n{% if true %}\nx: {{ nope }}\n{% endif %}\n',
  });
  try {
    for (const call of [
      ['state.apply', 'one'],
      ['state.show_sls', 'one'],
      ['state.single', 'test.nop', 'name=x'],
      ['pillar.items'],
      ['pillar.get', 'x'],
      ['pillar.raw'],
    ])
      for (const out of [
        'nested',
        'json',
        'ndjson',
        ...(call[0]?.startsWith('state') ? ['highstate'] : []),
      ]) {
        const { stdout } = await project.run('--out', out, 'web1', ...call);
        expect(stdout, `${call} ${out}`).toContain(
          "Rendering SLS 'a' failed: Jinja variable 'nope' is undefined (pillar/a.sls:3)",
        );
        expect(stdout, `${call} ${out}`).toContain('x: {{ nope }}    <====');
        expect(stdout).not.toContain('master log');
      }
  } finally {
    project.write({ 'pillar/top.sls': '', 'pillar/a.sls': '' });
  }
});

test('a top file that assigns nothing is reported with the reason', async () => {
  const comment = async (top: string) => {
    project.write({ 'states/top.sls': top });
    const shown = await project.run('web1', 'state.highstate');
    const { stdout } = await project.run('--out', 'json', 'web1', 'state.highstate');
    const [state] = Object.values(JSON.parse(stdout).web1) as { comment: string }[];
    expect(shown.stdout + stdout).not.toContain('master log');
    for (const line of state?.comment.split('\n') ?? []) expect(shown.stdout).toContain(line);
    return state?.comment;
  };
  expect(await comment("base:\n  'db*': [one]\n")).toMatch(
    /No target of top\.sls in \/.*\/states matches web1\./,
  );
  expect(await comment('')).toMatch(/No top\.sls with targets exists in \/.*\/states\./);
  expect(await comment('#!jinja|yaml\nbase:\n  {{ nope }}\n')).toContain(
    "Jinja variable 'nope' is undefined (states/top.sls:3)",
  );
});

test('a pillar that a run breaks is reported to the user with its cause, to the host without', async () => {
  project.write({
    'pillar/top.sls': "base:\n  '*': [a]\n",
    'pillar/a.sls': 'x: 1\n',
  });
  const broken = '#!jinja|yaml\n# top secret\nx: {{ nope }}\n';
  try {
    const { code, stdout, stderr } = await apply(
      `#!yaml\nbreak:\n  file.managed:\n    - name: ${project.dir}/pillar/a.sls\n    - contents: ${JSON.stringify(broken)}\n    - show_changes: false\nagain:\n  module.run:\n    - name: saltutil.refresh_pillar\n    - require:\n      - file: break\n`,
      'test=False',
    );
    expect(code).not.toBe(0);
    expect(stdout).toContain("Rendering SLS 'a' failed (pillar/a.sls:3)");
    expect(stdout).not.toContain('top secret');
    expect(stderr).toContain("Jinja variable 'nope' is undefined (pillar/a.sls:3)");
  } finally {
    project.write({ 'pillar/top.sls': '', 'pillar/a.sls': '' });
  }
});
