import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtinMetadata } from '../../../src/bundle/metadata.ts';
import { isDict, toDict, toPlain } from '../../../src/data/values/value.ts';
import { FileRoots } from '../../../src/fileserver/file-roots.ts';
import type { FunctionSignature, ModuleMeta } from '../../../src/protocol/meta.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { render } from '../../../src/render/render.ts';
import {
  configSchema,
  rosterSchema,
  topSchema,
} from '../../../src/validate/schemas/project-schemas.ts';
import { slsSchema } from '../../../src/validate/schemas/sls-schema.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import tree from '../../formulas/tree.json' with { type: 'json' };
import { type Expectation, type Files, readBaseGrains, readCases } from '../../golden/case.ts';

const modules = builtinMetadata();
const compiled = (schema: object): ValidateFunction =>
  new Ajv2020({ strict: false, allErrors: false }).compile(schema);
const plain = (text: string): Plain => toPlain(loadYaml(text));
/** Whether a schema accepts a YAML text; what it refuses otherwise. */
const check = (validate: ValidateFunction, text: string): string =>
  validate(plain(text)) ? '' : JSON.stringify(validate.errors);

/** Salt compiles this, and the state fails on the host. */
const wrongName = 'highdata/name_not_string';

const isError = ({ exception, retcode = 0, return: value }: Expectation): boolean =>
  exception !== undefined || retcode !== 0 || isTexts(value);

const isTop = (path: string, data: Plain): boolean =>
  path.endsWith('top.sls') || Object.keys(data ?? {}).includes('base');

/** Calls that only show return a list of errors. */
const isTexts = (value: Plain | undefined): boolean =>
  Array.isArray(value) && typeof value[0] === 'string';

let dir = '';
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'tsalt-schema-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

/** Writes the files and returns what each SLS renders to. */
const renderAll = async (
  files: Files,
  name: string,
  grains: object,
): Promise<[string, Plain][]> => {
  const root = join(dir, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const roots = new FileRoots({ base: [root] });
  const rendered: [string, Plain][] = [];
  for (const [path, text] of Object.entries(files)) {
    if (!path.endsWith('.sls')) continue;
    const data = await render({
      text,
      file: join(root, path),
      pipe: 'jinja|yaml',
      saltenv: 'base',
      sls: path.replace(/(\/init)?\.sls$/, '').replaceAll('/', '.'),
      origin: 'user-file',
      context: {
        grains: toDict(grains as never),
        pillar: new Map(),
        opts: new Map(),
        files: roots,
        call: async () => {
          throw new Error('needs the host');
        },
      },
    }).catch(() => undefined);
    if (isDict(data ?? null)) rendered.push([path, toPlain(data ?? null)]);
  }
  return rendered;
};

describe('schema sls', () => {
  const sls = compiled(slsSchema(modules));

  test('accepts what the recorded runs of Salt compile', async () => {
    const folder = join(import.meta.dirname, '../../golden/cases');
    const grains = readBaseGrains(folder);
    const refused: string[] = [];
    let count = 0;
    for (const one of readCases(folder)) {
      if (Object.keys(one.twins).length > 0 || one.saltBug) continue;
      if (one.expected.some(isError) || one.id === wrongName) continue;
      for (const [path, data] of await renderAll(one.files, one.id, { ...grains, ...one.grains })) {
        if (isTop(path, data)) continue;
        count += 1;
        if (!sls(data)) refused.push(`${one.id} ${path}: ${JSON.stringify(sls.errors)}`);
      }
    }
    expect(refused).toEqual([]);
    expect(count).toBeGreaterThan(120);
  }, 60_000);

  test('accepts a rendered formula with a map and macros', async () => {
    const files = {
      'plain.sls': 'shop-pkg:\n  pkg.installed:\n    - name: shop\n    - version: 1.2\n',
      ...tree.files,
    };
    const found = await renderAll(files, 'formula', { os_family: 'Debian' });
    expect(found.length).toBeGreaterThan(0);
    for (const [, data] of found) expect(sls(data) ? '' : sls.errors).toBe('');
  });

  test.each([
    ['short', 'web: pkg.installed'],
    ['dotted', '/etc/x:\n  file.managed:\n    - mode: "0644"\n    - require: [web]'],
    ['long', '/etc/x:\n  file:\n    - managed\n    - contents: a\n    - user: root'],
    ['numbers as text', '/x:\n  file.managed: [{backup: "minion"}, {makedirs: "yes"}, {user: 0}]'],
    ['one value for a list', 'x:\n  pkg.installed:\n    - pkgs: vim'],
    ['a slot', 'x:\n  file.managed:\n    - makedirs: __slot__:salt:test.echo(True)'],
    ['several arguments in one item', 'x:\n  file.managed:\n    - {user: root, order: 1}'],
    [
      'extend, include, exclude',
      'include: [.a]\nexclude: [{id: b}]\nextend: {x: {file: [{user: a}]}}',
    ],
    ['tags of an SLS', 'tags: [web, 2]\nx: test.nop'],
    ['an ID called tags', 'tags: test.nop'],
    ['variables of a template', 'x:\n  file.managed: [{template: jinja}, {my_variable: 1}]'],
  ])('accepts %s', (_, text) => {
    expect(check(sls, text)).toBe('');
  });

  test.each([
    ['an unknown function', 'web: pkg.instaled', 'enum'],
    ['an unknown function with arguments', 'web:\n  pkg.instaled: []', 'additionalProperties'],
    ['an unknown argument', 'x:\n  user.present:\n    - nmae: a', 'propertyNames'],
    ['an unknown argument in the long form', 'x:\n  user: [present, {nmae: a}]', 'propertyNames'],
    ['a mapping instead of a list', 'x:\n  file.managed: {mode: "0644"}', 'type'],
    ['a wrong type', 'x:\n  file.managed:\n    - makedirs: perhaps', 'pattern'],
    ['tags that are not words', 'tags: [{a: b}]', 'type'],
    ['a requisite that is not a list', 'x:\n  test.nop:\n    - require: {pkg: a}', 'type'],
    ['a requisite with a dot', 'x:\n  test.nop:\n    - require: [{pkg.installed: a}]', 'pattern'],
  ])('refuses %s', (_, text, word) => {
    expect(check(sls, text)).toContain(word);
  });

  test('has documentation, defaults and the alternatives of arguments', () => {
    const { $defs } = slsSchema(modules) as { $defs: Record<string, { properties: object }> };
    expect($defs['file.managed']?.properties).toMatchObject({
      makedirs: { description: expect.stringMatching(/\w/) },
    });
    expect(JSON.stringify($defs['file.managed'])).toMatch(/"default":/);
  });

  const own = (name: string, signature: FunctionSignature, more: object = {}): ModuleMeta => ({
    kind: 'state',
    file: 'acme',
    path: 'acme.ts',
    builtin: false,
    functions: [{ name, exportName: name, line: 1, signature }],
    ...more,
  });

  test("knows the user's modules", () => {
    const signature = { positional: [{ name: 'name' }, { name: 'size', type: "'s' | 'm'" }] };
    const found = compiled(slsSchema([own('made', signature)]));
    expect(check(found, 'x:\n  acme.made: [{size: m}]')).toBe('');
    expect(check(found, 'x:\n  acme.made: [{size: xl}]')).toContain('enum');
    expect(check(found, 'x:\n  acme.lost: []')).toContain('additionalProperties');
  });

  test('accepts functions whose modules choose their names on the host', () => {
    const found = compiled(slsSchema([own('made', { positional: [] }, { anyName: true })]));
    expect(check(found, 'x:\n  other.made: [{size: 1}]')).toBe('');
  });
});

describe('schema roster', () => {
  const roster = compiled(rosterSchema());

  test('accepts hosts in both forms', () => {
    const text =
      'web1: 192.0.2.1\nweb2: {host: a, port: "2222", sudo: true, passwd: {env: P}, timeout: 0.5}';
    expect(check(roster, text)).toBe('');
  });

  test('accepts values that a template makes', () => {
    const text =
      'web{{ n }}: {host: "192.0.2.{{ n }}", port: "{{ port }}", sudo: "{% if a %}true{% endif %}"}';
    expect(check(roster, text)).toBe('');
  });

  test.each([
    ['text for a port', 'web1: {port: "{ssh}"}', 'pattern'],
    ['an unknown key', 'web1: {hots: a}', 'additionalProperties'],
    ['a port that is none', 'web1: {port: 70000}', 'maximum'],
    ['another way to become', 'web1: {become: please}', 'enum'],
    ['two sources of a secret', 'web1: {passwd: {env: a, file: b}}', 'maxProperties'],
  ])('refuses %s', (_, text, word) => {
    expect(check(roster, text)).toContain(word);
  });
});

describe('schema config', () => {
  const config = compiled(configSchema());

  test('accepts options of tsalt-ssh and of modules', () => {
    const text =
      'renderer: jinja|yaml\nfile_roots: {base: [states]}\nmysql.host: a\nssh_port: 22\nstate_aggregate: [pkg]\nnodegroups: {web: "L@a"}';
    expect(check(config, text)).toBe('');
  });

  test.each([
    ['an unknown strategy', 'top_file_merging_strategy: some', 'enum'],
    ['text for a flag', 'failhard: "yes"', 'boolean'],
    ['a number out of range', 'ssh_max_procs: 0', 'minimum'],
  ])('refuses %s', (_, text, word) => {
    expect(check(config, text)).toContain(word);
  });

  test('describes every option', () => {
    const { properties } = configSchema() as {
      properties: Record<string, { description?: string }>;
    };
    expect(properties.ssh_max_procs).toMatchObject({ default: 25, maximum: 10_000 });
    expect(properties.ssh_user?.description).toContain('Default of `user`');
  });
});

describe('schema top', () => {
  const top = compiled(topSchema());

  test('accepts targets with lists of SLS', () => {
    expect(check(top, 'base:\n  "*": [web]\n  "G@os:x":\n    - match: compound\n    - web')).toBe(
      '',
    );
  });

  test.each([
    ['a target without a list', 'base:\n  "*": web', 'type'],
    ['an unknown matcher', 'base:\n  "*":\n    - match: grian', 'enum'],
  ])('refuses %s', (_, text, word) => {
    expect(check(top, text)).toContain(word);
  });
});
