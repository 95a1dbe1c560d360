import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile, plan, type StateOptions } from '../../../src/library/index.ts';
import { type Project, startProject } from '../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/top.sls': "base:\n  '*':\n    - motd\n",
      'states/motd.sls': `#!jinja|yaml
kept:
  file.managed:
    - name: {{ grains.root }}/kept
    - contents: as it is
motd:
  file.managed:
    - name: {{ grains.root }}/motd
    - contents: {{ pillar.get('word', 'hello') }}
    - require:
      - file: kept
`,
      'states/fails.sls': 'never:\n  test.fail_without_changes: []\n',
      'states/broken.sls': 'one:\n  file.managed:\n    - require: {file: two}\n',
    },
  });
  for (const { root } of Object.values(project.hosts))
    writeFileSync(join(root, 'kept'), 'as it is\n');
});
afterAll(() => project.close());

const options = (given: Partial<StateOptions> = {}): StateOptions => ({
  config: project.dir,
  env: { PATH: process.env.PATH },
  target: 'web1',
  ...given,
});

const motdOf = (id: string): string => join(project.hosts[id]?.root ?? '', 'motd');

const refusal = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('compile', () => {
  test('returns the low state of each host, and changes nothing', { tags: 'slow' }, async () => {
    const hosts = await compile(options({ target: '*' }));
    expect(hosts.map(({ id }) => id).toSorted()).toEqual(['web1', 'web2']);
    for (const { id, states, errors } of hosts) {
      expect(errors).toEqual([]);
      expect(
        states.map(({ state, fun, __id__, __sls__, name }) => [state, fun, __id__, __sls__, name]),
      ).toEqual([
        ['file', 'managed', 'kept', 'motd', join(project.hosts[id]?.root ?? '', 'kept')],
        ['file', 'managed', 'motd', 'motd', motdOf(id)],
      ]);
      expect(states[1]).toMatchObject({ contents: 'hello', require: [{ file: 'kept' }] });
      expect(existsSync(motdOf(id))).toBe(false);
    }
  });

  test('compiles the SLS named, with the pillar given', { tags: 'slow' }, async () => {
    const [host] = await compile(options({ mods: ['motd', 'fails'], pillar: { word: 'given' } }));
    expect(host?.states.map(({ __id__ }) => __id__)).toEqual(['kept', 'motd', 'never']);
    expect(host?.states[1]?.contents).toBe('given');
  });

  test('returns why the states do not compile', async () => {
    const [host] = await compile(options({ mods: 'broken' }));
    expect(host).toMatchObject({ id: 'web1', states: [] });
    expect(host?.errors.join()).toContain('as a list');
    const [absent] = await compile(options({ mods: 'absent' }));
    expect(absent?.errors.join()).toContain("'absent'");
  });
});

describe('plan', () => {
  test('predicts by state and host, and changes nothing', async () => {
    const [host] = await plan(options());
    expect(host).toMatchObject({ id: 'web1', hasChanges: true, errors: [] });
    expect(host?.states).toMatchObject([
      { id: 'kept', fun: 'file.managed', prediction: 'unchanged', changes: {}, sls: 'motd' },
      { id: 'motd', fun: 'file.managed', prediction: 'changes', name: motdOf('web1') },
    ]);
    expect(host?.states[1]?.changes).not.toEqual({});
    expect(existsSync(motdOf('web1'))).toBe(false);
  });

  test('reports a state that would fail, and a host without changes', async () => {
    const [failing] = await plan(options({ mods: 'fails' }));
    expect(failing?.hasChanges).toBe(false);
    expect(failing?.states).toMatchObject([{ id: 'never', prediction: 'fails' }]);
    writeFileSync(motdOf('web2'), 'hello\n');
    const [same] = await plan(options({ target: 'web2' }));
    expect(same).toMatchObject({ id: 'web2', hasChanges: false });
    expect(readFileSync(motdOf('web2'), 'utf8')).toBe('hello\n');
  });

  test('returns compile errors, and hosts that cannot be reached', async () => {
    const [broken] = await plan(options({ mods: 'broken' }));
    expect(broken).toMatchObject({ states: [], hasChanges: false });
    expect(broken?.errors.join()).toContain('as a list');
    const [lost] = await plan(
      options({ roster: { gone: { host: '127.0.0.1', port: 1 } }, target: 'gone' }),
    );
    expect(lost).toMatchObject({ id: 'gone', states: [], errors: [] });
    expect(lost?.failure?.code).toEqual(expect.any(String));
  });

  test('refuses options that would make it a run', async () => {
    const given = { ...options(), test: false } as StateOptions;
    expect(await refusal(plan(given))).toMatchObject({ code: 'usage-option' });
    const other = { ...options(), fun: 'cmd.run' } as StateOptions;
    expect(await refusal(compile(other))).toMatchObject({ code: 'usage-option' });
    expect(await refusal(plan(options({ mods: '' })))).toMatchObject({ code: 'usage-value' });
  });
});
