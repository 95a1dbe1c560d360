import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HostileProject, startHostileProject } from '../../../helpers/hostile-host.ts';

let hostile: HostileProject;

beforeAll(async () => {
  hostile = await startHostileProject({
    yaml: 'file_roots: {base: [states], prod: [prod]}\nsecrets: {driver: file, dir: secrets}\n',
    files: {
      'states/top.sls': "base:\n  '*':\n    - app\n",
      'states/app.sls': [
        '#!jinja|yaml',
        '/etc/app.conf:',
        '  file.managed:',
        '    - source: salt://app.conf.j2',
        '    - template: jinja',
        '    - context: {part: app-part.txt}',
        '',
      ].join('\n'),
      'states/app.conf.j2':
        "id={{ grains['id'] }}\nrole={{ pillar.get('role', '') }}\n{% include part %}\n",
      'states/app-part.txt': 'part',
      'states/two.sls': ['one', 'two']
        .map(name =>
          [
            `/etc/${name}:`,
            '  file.managed:',
            `    - source: salt://${name}.j2`,
            '    - template: jinja',
            `    - context: {part: ${name === 'one' ? 'app-part.txt' : 'files/Debian/motd'}}`,
            '',
          ].join('\n'),
        )
        .join(''),
      'states/one.j2': 'one: {% include part %}\n',
      'states/two.j2': 'two: {% include part %}\n',
      'states/motd.sls':
        "#!jinja|yaml\n/etc/motd:\n  file.managed:\n    - contents: {{ ('runs ' ~ grains['os']) | yaml_dquote }}\n",
      'states/own.sls':
        '/etc/own:\n  file.managed:\n    - source: /etc/own.j2\n    - template: jinja\n',
      'states/store.sls':
        '/etc/store:\n  file.managed:\n    - source: salt://store.j2\n    - template: jinja\n',
      'states/store.j2': "{{ salt['sdb.get']('sdb://secrets/web1') }}",
      'states/by-grain.sls': [
        '#!jinja|yaml',
        '/etc/by-grain:',
        '  file.managed:',
        "    - source: {{ ('salt://files/' ~ grains['os'] ~ '/motd') | yaml_dquote }}",
        '',
      ].join('\n'),
      'states/files/Debian/motd': 'motd of Debian',
      'states/db/master-key.txt': 'CANARY-FILE',
      'states/certs/web1.key': 'CANARY-KEY',
      'prod/db.key': 'CANARY-PROD',
      'secrets/web1': 'CANARY-SECRET',
      'secrets/bad': 'secret of bad',
    },
  });
  const secrets = join(hostile.project.dir, 'secrets');
  chmodSync(secrets, 0o700);
  for (const name of ['web1', 'bad']) chmodSync(join(secrets, name), 0o600);
});
afterAll(() => hostile.close());

/** Test mode shows what an honest host receives: it changes nothing here. */
const attacked = async (sls: string) => {
  const { stdout } = await hostile.run(
    '--static',
    '--out',
    'json',
    '*',
    'state.apply',
    sls,
    'test=True',
  );
  const { web1, bad } = JSON.parse(stdout) as {
    web1: Record<string, { result: boolean | null }>;
    bad: unknown;
  };
  expect(Object.values(web1).map(({ result }) => result)).not.toContain(undefined);
  expect(JSON.stringify(hostile.told())).not.toContain('CANARY');
  return { told: hostile.told(), bad: JSON.stringify(bad) };
};

test('file.render: a host refers to a template, and has no say in its variables', async () => {
  hostile.attack({
    script: async ({ method, ask, reply, tell, renderKey }) => {
      if (method !== 'run') return;
      const render = async (context: object, more: object = {}): Promise<unknown> => {
        const key = renderKey('/etc/app.conf', 'salt://app.conf.j2', 'jinja', context);
        const { content, error } = await ask('file.render', { key, ...more });
        return content ?? error?.code;
      };
      tell(await render({ part: 'app-part.txt' }));
      tell(
        await render(
          { part: 'app-part.txt' },
          {
            context: { part: 'db/master-key.txt', grains: { id: 'web1' } },
            chunk: { grains: { id: 'web1' } },
            source: 'salt://db/master-key.txt',
          },
        ),
      );
      for (const context of [
        { part: 'db/master-key.txt' },
        { grains: { id: 'web1' }, part: 'app-part.txt' },
      ])
        tell(await render(context));
      tell(await render({ part: 'app-part.txt' }, { text: '{% include "db/master-key.txt" %}' }));
      const accumulator = { grains: ['web1'] };
      tell(await render({ part: 'app-part.txt' }, { accumulator }));
      const { content, error } = await ask('file.renderComputed', {
        source: 'salt://app.conf.j2',
        saltenv: 'base',
        template: 'jinja',
        chunk: { name: '/etc/app.conf' },
        context: { part: 'db/master-key.txt', grains: { id: 'web1' } },
      });
      tell(content ?? error?.code);
      reply({ retcode: 0 });
    },
  });
  const honest = 'id=bad\nrole=\npart\n';
  const unknown = 'template-unknown';
  expect((await attacked('app')).told).toEqual([
    honest,
    honest,
    ...[unknown, unknown, unknown, unknown, 'template-refused'],
  ]);
});

test('a host renders no template of one state with the variables of another', async () => {
  hostile.attack({
    script: async ({ method, ask, reply, tell, renderKey }) => {
      if (method !== 'run') return;
      for (const [state, part] of [
        ['/etc/one', 'app-part.txt'],
        ['/etc/two', 'files/Debian/motd'],
        ['/etc/one', 'files/Debian/motd'],
        ['/etc/two', 'app-part.txt'],
      ] as const) {
        const source = `salt://${state.slice(5)}.j2`;
        const key = renderKey(state, source, 'jinja', { part });
        const { content, error } = await ask('file.render', { key });
        tell(content ?? error?.code);
      }
      reply({ retcode: 0 });
    },
  });
  expect((await attacked('two')).told).toEqual([
    'one: part\n',
    'two: motd of Debian\n',
    'template-unknown',
    'template-unknown',
  ]);
});

test('paths inside of a grain name no files, whole or quoted', async () => {
  hostile.attack({
    grains: { os: 'Debian salt://. salt://x?saltenv=prod salt://certs/web1.key' },
    script: async ({ method, ask, reply, tell }) => {
      if (method !== 'run') return;
      for (const [path, saltenv] of [
        ['salt://certs/web1.key', 'base'],
        ['salt://app.sls', 'base'],
        ['salt://db.key', 'prod'],
      ])
        tell((await ask('file.get', { path, saltenv })).error?.code ?? 'served');
      tell((await ask('file.list', { path: 'salt://', saltenv: 'base' })).error?.code ?? 'served');
      reply({ retcode: 0 });
    },
  });
  // The first refusal ends the run of this host.
  expect((await attacked('motd')).bad).toContain('asked for salt://certs/web1.key');
});

test('a grain within a source chooses a name in that folder, and no other folder', {
  tags: 'slow',
}, async () => {
  for (const [os, path, found] of [
    ['Debian', 'salt://files/Debian/motd', undefined],
    ['../certs/web1.key?', 'salt://certs/web1.key', 'file-refused'],
    ['../../db/master-key.txt?saltenv=base#', 'salt://db/master-key.txt', 'file-refused'],
  ] as const) {
    hostile.attack({
      grains: { os },
      given: path,
      script: async ({ method, given, ask, reply, tell }) => {
        if (method !== 'run') return;
        tell({ code: (await ask('file.get', { path: given, saltenv: 'base' })).error?.code });
        reply({ retcode: 0 });
      },
    });
    const { told, bad } = await attacked('by-grain');
    if (found === undefined) expect(told).toEqual([{}]);
    else expect(bad).toMatch(/asked for salt:|would change the structure|must not choose/);
  }
});

test('a template of the host does not widen what the host may fetch', async () => {
  hostile.attack({
    script: async ({ method, params, ask, reply, tell, renderKey }) => {
      if (method === 'call') return reply({ retcode: 0, value: params.args[0] });
      if (method !== 'run') return;
      tell(
        (
          await ask('file.render', {
            key: renderKey('/etc/own', '/etc/own.j2', 'jinja'),
            text: "{{ salt['test.echo']('salt://.') }}{{ salt['test.echo']('salt://certs/web1.key') }}",
          })
        ).content,
      );
      tell((await ask('file.get', { path: 'salt://certs/web1.key', saltenv: 'base' })).error?.code);
      reply({ retcode: 0 });
    },
  });
  const { told, bad } = await attacked('own');
  expect(told).toEqual(['salt://.salt://certs/web1.key']);
  expect(bad).toContain('asked for salt://certs/web1.key');
});

test('a template of the host reads no file of the roots and calls nothing that the host could not ask for', async () => {
  hostile.attack({
    script: async ({ method, ask, reply, tell, renderKey }) => {
      if (method === 'call') return reply({ retcode: 0, value: 'called on the host' });
      if (method !== 'run') return;
      const key = renderKey('/etc/own', '/etc/own.j2', 'jinja');
      for (const text of [
        '{% include "app-part.txt" %}',
        '{% include "db/master-key.txt" ignore missing %}',
        '{% import "db/master-key.txt" as key %}{{ key }}',
        '{% extends "db/master-key.txt" %}',
        "{{ salt['sdb.get']('sdb://secrets/web1') }}",
        "{{ salt['slsutil.renderer'](string='a', default_renderer='jinja') }}",
        "{{ salt['pillar.ext']({'cmd_yaml': 'echo a'}) }}",
        "{{ salt['pillar.items'](pillarenv='prod') }}",
        "{{ salt['state.show_sls']('store') }}",
        "{{ salt['jinja.load_map']('db/master-key.txt', 'a') }}",
        "{{ salt['file.read']('/etc/passwd') }}",
      ]) {
        const { content, error } = await ask('file.render', { key, text });
        tell(error?.message ?? content ?? '');
      }
      reply({ retcode: 0 });
    },
  });
  const { told } = await attacked('own');
  const noFile = (path: string) => expect.stringContaining(`there is no template '${path}'`);
  const refused = (sentence: string) => expect.stringContaining(sentence);
  expect(told).toEqual([
    noFile('app-part.txt'),
    '',
    noFile('db/master-key.txt'),
    noFile('db/master-key.txt'),
    refused("'sdb.get' is not available to templates of file states"),
    refused("'slsutil.renderer' is not available to templates of file states"),
    refused("'pillar.ext' is not available to templates of file states"),
    refused("'pillar.items' does not take this pillarenv from a host"),
    refused("'state.show_sls' is not available to a template of the host"),
    refused("'jinja.load_map' is not available to a template of the host"),
    'called on the host',
  ]);
});

test('a template of the host is rendered with its variables, and sees what a function changed', async () => {
  hostile.attack({
    script: async ({ method, params, ask, reply, tell, renderKey }) => {
      if (method === 'call') return reply({ retcode: 0, value: params.args[0] });
      if (method !== 'run') return;
      const text = [
        "{% set a = {'x': 1} %}{% do salt['defaults.merge'](a, {'y': [1.0, 2]}) %}{{ a }}",
        "{{ grains['os'] }} {{ opts.id }} {{ name }} {{ salt['test.echo']({'b': 1.5}) }}",
        "{{ pillar.get('no', 'none') }} {{ salt['pillar.get']('no', 'none') }}",
      ].join('|');
      tell(
        (await ask('file.render', { key: renderKey('/etc/own', '/etc/own.j2', 'jinja'), text }))
          .content,
      );
      const fault = {
        key: renderKey('/etc/own', '/etc/own.j2', 'jinja'),
        text: 'a\n{{ nothing }}',
      };
      tell((await ask('file.render', fault)).error);
      reply({ retcode: 0 });
    },
  });
  const { told } = await attacked('own');
  expect(told).toEqual([
    "{'x': 1, 'y': [1.0, 2]}|Debian bad /etc/own {'b': 1.5}|none none",
    expect.objectContaining({
      code: 'jinja-undefined',
      message: "Jinja variable 'nothing' is undefined (/etc/own:2)",
    }),
  ]);
});

test('a template of the host is ended after few steps, one of the user’s is not', {
  tags: 'slow',
}, async () => {
  const long =
    '{% for a in range(700) %}{% for b in range(700) %}{% set c = a %}{% endfor %}{% endfor %}';
  hostile.attack({
    given: long,
    script: async ({ method, given, ask, reply, tell, renderKey }) => {
      if (method !== 'run') return;
      const key = renderKey('/etc/own', '/etc/own.j2', 'jinja');
      tell((await ask('file.render', { key, text: given })).error?.message);
      reply({ retcode: 0 });
    },
  });
  expect((await attacked('own')).told[0]).toMatch(/took more than 200000 steps/);
  hostile.project.write({ 'states/long.sls': `#!jinja|yaml\n${long}\nx: test.nop\n` });
  expect((await hostile.run('web1', 'state.apply', 'long')).code).toBe(0);
});

test('templates of file states have no function of stores', async () => {
  hostile.attack({
    script: async ({ method, ask, reply, tell, renderKey }) => {
      if (method !== 'run') return;
      const { error, content } = await ask('file.render', {
        key: renderKey('/etc/store', 'salt://store.j2', 'jinja'),
      });
      tell(content ?? error?.message);
      reply({ retcode: 0 });
    },
  });
  expect((await attacked('store')).told[0]).toMatch(
    /'sdb.get' is not available to templates of file states/,
  );
});
