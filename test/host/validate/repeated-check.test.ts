import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { openGiven } from '../../../src/cli/open-given.ts';
import { parseArguments } from '../../../src/cli/parse.ts';
import { checkRequest, rostersToCheck } from '../../../src/cli/validate.ts';
import { checkProject } from '../../../src/validate/hosts/check-project.ts';
import { CompileCache } from '../../../src/validate/hosts/compile-cache.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

type Files = Readonly<Record<string, string>>;

const base: Files = {
  'tsalt.yaml': 'cachedir: cache\nrenderer: jinja|yaml\n',
  'roster.yaml': 'web1: 192.0.2.1\nweb2: 192.0.2.2\ndb1: 192.0.2.3\n',
  'pillar/top.sls': "base: {'*': [p], 'web*': [w]}\n",
  'pillar/p.sls': 'port: 80\nname: a\n',
  'pillar/w.sls': 'web: true\n',
  'states/m.jinja': '{% macro m(x) %}{{ x }}: test.nop{% endmacro %}\n',
  'states/d.yaml': 'k: 1\n',
  'states/l.liquid': 'from-liquid: test.nop\n',
};

const project = () => {
  const dir = mkdtempSync(join(tmpdir(), 'repeated-'));
  onTestFinished(() => removeFolder(dir));
  const write = (path: string, text: string): string => {
    const full = join(dir, path);
    mkdirSync(dirname(full), { recursive: true });
    rmSync(full, { force: true });
    writeFileSync(full, text);
    return full;
  };
  for (const [path, text] of Object.entries(base)) write(path, text);
  return { dir, write };
};

/** Checks all hosts: the findings, the states of each host, and the data of each SLS. */
const check = async (dir: string, cache?: CompileCache) => {
  const given = parseArguments(['validate', '*', '-c', join(dir, 'tsalt.yaml')]);
  const opened = await openGiven(given, {});
  const { roster } = await rostersToCheck(opened);
  const states: unknown[] = [];
  const data = new Set<unknown>();
  const { findings } = await checkProject({
    request: checkRequest('*', roster, opened),
    roster: roster.hosts,
    sls: undefined,
    grains: { kind: 'profiles', names: ['debian-12'] },
    answers: [],
    ...(cache ? { cache, isRepeated: true } : {}),
    inspect: ({ groups, trees, pillar }, { label }) => {
      states.push([label, groups, pillar]);
      for (const { loaded } of trees.flat()) if ('data' in loaded) data.add(loaded.data);
      return [];
    },
  });
  return { found: { findings: findings.all(), states }, data };
};

/** Checks a project again after files were saved. */
const repeated = async (dir: string) => {
  const cache = new CompileCache();
  let { data } = await check(dir, cache);
  return async (...saved: readonly string[]) => {
    cache.unchanged.forget(saved, [join(dir, 'states')]);
    const next = await check(dir, cache);
    const rendered = [...next.data].filter(one => !data.has(one)).length;
    data = next.data;
    return { rendered, found: next.found };
  };
};

test('a repeated check renders only the SLS that a save can change', async () => {
  const { dir, write } = project();
  const names = Array.from({ length: 30 }, (_, at) => `s${at}`);
  write('states/top.sls', `base: {'*': [${names}]}\n`);
  for (const [at, name] of names.entries()) {
    const import_ = at % 3 === 0 ? "{% from 'm.jinja' import m %}{{ m('x') }}" : 'x: test.nop';
    const port = at % 10 === 1 ? ' {{ pillar.port }}' : '';
    write(`states/${name}.sls`, `${import_.replace('x', `x${at}`)}\n# ${at}${port}\n`);
  }
  const again = await repeated(dir);
  const renderings = async (path: string, text: string): Promise<number> =>
    (await again(write(path, text))).rendered;
  expect(await renderings('states/s4.sls', 'y: test.nop\n')).toBe(1);
  expect(await renderings('states/s5.sls', 'z: test.nop\n')).toBe(1);
  const macro = '{% macro m(x) %}{{ x }}: {test.nop: []}{% endmacro %}\n';
  expect(await renderings('states/m.jinja', macro)).toBe(10);
  expect(await renderings('pillar/p.sls', 'port: 81\nname: a\n')).toBe(3);
  expect(await renderings('pillar/p.sls', 'port: 81\nname: b\n')).toBe(0);
  expect(await renderings('states/new.sls', 'new: test.nop\n')).toBe(0);
  const top = `base: {'*': [${names}, new]}\n`;
  expect(await renderings('states/top.sls', top)).toBe(1);
  expect(await renderings('roster.yaml', 'web1: 192.0.2.1\ndb1: 192.0.2.3\n')).toBe(0);
});

test('a saved Liquid partial is seen, also after another save', async () => {
  const { dir, write } = project();
  write('states/top.sls', "base: {'*': [a]}\n");
  write('states/a.sls', 'a: test.nop\n');
  const again = await repeated(dir);
  const save = async (path: string, text: string): Promise<void> => {
    const { found } = await again(write(path, text));
    expect(found).toEqual((await check(dir)).found);
  };
  await save('states/a.sls', "#!liquid|yaml\n{% render 'l.liquid' %}\n");
  await save('states/m.jinja', 'm\n');
  await save('states/l.liquid', '\nfrom-liquid: test.nope\n');
});

const sls = ['a', 'b', 'c', 'd/init', 'd', 'e'];

const contents = fc.oneof(
  fc.constantFrom(
    'x: test.nop\n',
    'y: test.nope\n',
    'x: [test.nop\n',
    '{{ undefined_name }}\n',
    "{% from 'm.jinja' import m %}\n{{ m('of-macro') }}\n",
    "{% include 'm.jinja' %}\n{% include 'n.jinja' ignore missing %}\nk: test.nop\n",
    "{% import_yaml 'd.yaml' as d %}\ny{{ d.k }}: test.nop\n",
    "#!liquid|yaml\n{% render 'l.liquid' %}\n",
    'port-{{ pillar.port }}: test.nop\n',
    'web-{{ pillar.get("web") }}: test.nop\n',
    '{{ grains.id }}: test.nop\n',
    '{{ salt["grains.get"]("os") }}-{{ salt["pillar.get"]("name") }}: test.nop\n',
    '{{ salt["cp.get_file_str"]("salt://d.yaml") | length }}: test.nop\n',
  ),
  fc
    .tuple(fc.constantFrom('b', 'c', 'd', 'e'), fc.constantFrom('x', 'y'))
    .map(([name, id]) => `include: [${name}]\ni: {test.nop: [{require: [{test: ${id}}]}]}\n`),
);

const save = fc.oneof(
  { weight: 5, arbitrary: fc.tuple(fc.constantFrom(...sls), contents) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...sls), fc.constant('remove' as const)) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom('b', 'c'), fc.constant('link' as const)) },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      ['m.jinja', '{% macro m(x) %}\n\n{{ x }}: test.nope{% endmacro %}\n'] as const,
      ['m.jinja', base['states/m.jinja'] ?? ''] as const,
      ['n.jinja', 'n: test.nop\n'] as const,
      ['d.yaml', 'k: 22\n'] as const,
      ['l.liquid', '\nfrom-liquid: test.nope\n'] as const,
      ['../pillar/p.sls', 'port: 81\nname: b\n'] as const,
      ['../pillar/p.sls', 'port: [\n'] as const,
      ['../pillar/w.sls', 'port: 82\n'] as const,
      ['../roster.yaml', 'web1: {host: 192.0.2.1, minion_opts: {grains: {os: X}}}\n'] as const,
      ['top.sls', "base: {'*': [a, b, d]}\n"] as const,
      ['top.sls', "base: {'*': [a, c], 'web*': [e]}\n"] as const,
      ['top.sls', 'base: {\n'] as const,
    ),
  },
);

test('a repeated check finds what a first one does, whatever was saved', {
  tags: 'slow',
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(save, { minLength: 5, maxLength: 12 }), async saves => {
      const { dir, write } = project();
      for (const name of sls.slice(0, 4)) write(`states/${name}.sls`, `${name}: test.nop\n`);
      write('states/top.sls', "base: {'*': [a, b, d]}\n");
      const again = await repeated(dir);
      for (const [name, text] of saves) {
        const path = name.includes('.') ? `states/${name}` : `states/${name}.sls`;
        const full = join(dir, path);
        if (text === 'remove') rmSync(full, { force: true });
        else if (text === 'link') {
          rmSync(full, { force: true });
          symlinkSync('a.sls', full);
        } else write(path, text);
        const { found } = await again(full);
        expect(found).toEqual((await check(dir)).found);
      }
      removeFolder(dir);
    }),
    { numRuns: process.env.CI ? 12 : 4 },
  );
});
