import { afterAll, expect, test } from 'vitest';
import { makeSite } from '../../wrapper/site.ts';

const one = await makeSite(
  {
    'tsalt.yaml': "nodegroups:\n  web: 'web*'\n  db: 'db*'\nour_key: {deep: 1}\n",
    'states/top.sls': "base:\n  '*': [a]\n",
    'states/a.sls': 'x:\n  test.nop: []\n',
    'states/b/init.sls': 'y:\n  test.nop: []\n',
    'states/files/motd': 'hello\n',
    'pillar/top.sls': "base:\n  '*': [p]\n",
    'pillar/p.sls': 'role: front\nnet: {port: 80, name: shop}\nlist: [1, 2]\n',
  },
  { grains: { roles: ['front', 'cache'] } },
);
afterAll(one.close);

test('match functions return whether this host is meant', async () => {
  expect(await one.call('match.glob', ['web*'])).toBe(true);
  expect(await one.call('match.pcre', ['web[2-9]'])).toBe(false);
  expect(await one.call('match.list', ['db1,web1'])).toBe(true);
  expect(await one.call('match.grain', ['os:Deb*'])).toBe(true);
  expect(await one.call('match.grain', ['os|Deb*'], { delimiter: '|' })).toBe(true);
  expect(await one.call('match.pillar', ['net:name:sh?p'])).toBe(true);
  expect(await one.call('match.pillar_pcre', ['role:^back'])).toBe(false);
  expect(await one.call('match.compound', ['N@web and I@role:front and not G@os:Arch'])).toBe(true);
  expect(await one.call('match.compound', ['N@db'])).toBe(false);
});

test('match.filter_by picks by the first target that matches, with merge over it', async () => {
  const lookup = { 'db*': { a: 1 }, 'G@os:Debian': { a: 2, b: { c: 3 } }, default: { a: 4 } };
  expect(await one.call('match.filter_by', [lookup])).toEqual({ a: 2, b: { c: 3 } });
  expect(await one.call('match.filter_by', [lookup], { merge: { b: { d: 5 } } })).toEqual({
    a: 2,
    b: { c: 3, d: 5 },
  });
  expect(await one.call('match.filter_by', [{ 'db*': 1, default: 7 }])).toBe(7);
  expect(await one.call('match.filter_by', [{ 'db*': 1 }])).toBeNull();
  await expect(one.call('match.filter_by', [lookup], { merge: 'text' })).rejects.toThrow(
    'must be a dictionary',
  );
});

test('match.search_by returns every key that has a target for this host', async () => {
  const lookup = { web: ['web1', 'web2'], db: ['db1'], debian: ['G@os:Debian'] };
  expect(await one.call('match.search_by', [lookup])).toEqual(['web', 'debian']);
  expect(await one.call('match.search_by', [{ db: ['db1'] }])).toBeNull();
});

test('cp functions list and read the roots', async () => {
  expect(await one.call('cp.list_states')).toEqual(['a', 'b', 'top']);
  expect(await one.call('cp.list_master', [], { prefix: 'files' })).toEqual(['files/motd']);
  expect(await one.call('cp.list_master_dirs')).toEqual(['b', 'files']);
  expect(await one.call('cp.envs')).toEqual(['base']);
  expect(await one.call('cp.get_file_str', ['salt://files/motd'])).toBe('hello\n');
  expect(await one.call('cp.get_file_str', ['salt://files/none'])).toBe(false);
});

test('a refreshed pillar is seen by every later look, a broken one keeps the old', async () => {
  expect(await one.call('pillar.get', ['role'])).toBe('front');
  one.write({ 'pillar/p.sls': 'role: back\n', 'pillar/more.sls': 'x: 1\n' });
  expect(await one.call('pillar.get', ['role'])).toBe('front');
  expect(await one.call('saltutil.refresh_pillar')).toBe(true);
  expect(await one.call('pillar.get', ['role'])).toBe('back');
  one.write({ 'pillar/p.sls': 'role: [\n' });
  await expect(one.call('saltutil.refresh_pillar')).rejects.toThrow('Pillar failed to render');
  expect(await one.call('pillar.get', ['role'])).toBe('back');
});

test("a call's own pillar wins over the roots and survives a refresh", async () => {
  const site = await makeSite(
    { 'pillar/top.sls': "base:\n  '*': [p]\n", 'pillar/p.sls': 'a: sls\nb: sls\n' },
    { kwargs: { pillar: { a: 'cli' } } },
  );
  expect(await site.call('pillar.items')).toEqual({ a: 'cli', b: 'sls' });
  site.write({ 'pillar/p.sls': 'a: sls\nb: new\n' });
  await site.call('saltutil.refresh_pillar');
  expect(await site.call('pillar.items')).toEqual({ a: 'cli', b: 'new' });
  site.close();
});

test('pillar_opts shows the configuration under master; without it nothing is there', async () => {
  expect(await one.call('pillar.get', ['master'])).toBe('');
  const site = await makeSite({ 'tsalt.yaml': 'pillar_opts: true\nour_key: 1\n' });
  expect(await site.call('pillar.get', ['master:our_key'])).toBe(1);
  site.close();
});

test('match.ifelse returns the value of the first target that matches', async () => {
  const pick = (...args: unknown[]) => one.call('match.ifelse', args as never);
  expect(await pick('db*', 1, 'G@os:Debian', 2, 3)).toBe(2);
  expect(await pick('db*', 1, 3)).toBe(3);
  expect(await pick(true, 1, 3)).toBe(1);
  expect(await pick('only')).toBe('only');
  expect(await one.call('match.ifelse', ['web*', { a: 1 }, {}], { merge: { b: 2 } })).toEqual({
    a: 1,
    b: 2,
  });
  await expect(pick('db*', 1)).rejects.toThrow('must have an odd number of arguments');
  await expect(one.call('match.ifelse', [1], { tgt: 'x' })).rejects.toThrow("'tgt'");
  await expect(one.call('match.data', ['a:b'])).rejects.toThrow('match.data is not supported');
});

test('functions that need a master exist and say so, or return nothing', async () => {
  expect(await one.call('sys.list_runners', [])).toEqual([]);
  expect(await one.call('sys.returner_doc', ['x'])).toEqual({});
  expect(await one.call('sys.reload_modules', [])).toBe(true);
  expect(await one.call('state.clear_cache', [])).toEqual([]);
  for (const name of ['state.pause', 'state.request', 'saltutil.mmodule', 'mine.send'])
    await expect(one.call(name, ['x'])).rejects.toThrow(`${name} is not supported: `);
});

test('a template finds the folder of the configuration in opts', async () => {
  const site = await makeSite({
    'states/c.sls': '#!jinja|yaml\n{{ opts.config_dir }}/roster: file.absent\n',
  });
  expect(await site.call('state.show_sls', ['c'])).toHaveProperty([`${site.dir}/roster`]);
  site.close();
});

test('slsutil.renderer returns text if the pipe ends with a template engine, and reads files of the host', async () => {
  const answers: Readonly<Record<string, unknown>> = {
    'file.file_exists': true,
    'file.read': 'n: {{ 2 * 3 }}\n',
  };
  const read = {
    request: async (_: string, { fun }: { fun: string }) => ({ value: answers[fun], retcode: 0 }),
  };
  const site = await makeSite(
    { 'states/map.jinja': 'a: {{ grains.os }}\n' },
    { peer: read as never },
  );
  try {
    const render = (kwargs: object): Promise<unknown> =>
      site.call('slsutil.renderer', [], kwargs as never);
    expect(await render({ path: 'salt://map.jinja', default_renderer: 'jinja' })).toBe(
      'a: Debian\n',
    );
    expect(await render({ path: '/etc/here.yaml', default_renderer: 'jinja|yaml' })).toEqual({
      n: 6,
    });
    expect(await render({ string: 'x: 1', default_renderer: 'yaml' })).toEqual({ x: 1 });
    await expect(render({})).rejects.toThrow('either a path or a string');
    await expect(render({ path: 'a', string: 'b' })).rejects.toThrow('either a path or a string');
  } finally {
    site.close();
  }
});

test('slsutil.findup refuses a path that is too long to exist', async () => {
  await expect(one.call('slsutil.findup', ['a/'.repeat(20_000), 'x'])).rejects.toThrow(
    'longer than 4096 characters',
  );
});

test('slsutil.findup finds folders too', async () => {
  expect(await one.call('slsutil.findup', ['b', 'files'])).toBe('files');
  expect(await one.call('slsutil.findup', ['files', ['none', 'motd']])).toBe('files/motd');
});

test('config.get and config.option take their flags in the order of Salt', async () => {
  expect(await one.call('config.get', ['role', 'x', ':', null, false, true])).toBe('x');
  expect(await one.call('config.option', ['role', 'x', false, false, true])).toBe('x');
  expect(await one.call('config.manage_mode', ['0o644'])).toBe('0644');
  expect(await one.call('config.manage_mode', ['00644'])).toBe('0644');
  expect(await one.call('config.manage_mode', [12755])).toBe('12755');
  expect(await one.call('config.valid_fileproto', ['HTTPS://x'])).toBe(true);
});

test('pillar.raw of an empty key is the whole pillar', async () => {
  expect(await one.call('pillar.raw', [''])).toEqual(await one.call('pillar.raw'));
});

test('cp.get_file_str reads an absolute path on the host', async () => {
  const read = {
    request: async (_: string, call: { args: string[] }) => ({ value: call.args[0], retcode: 0 }),
  };
  const site = await makeSite({}, { peer: read as never });
  try {
    expect(await site.call('cp.get_file_str', ['/etc/motd'])).toBe('/etc/motd');
    expect(await site.call('cp.get_file_str', ['file:///etc/motd'])).toBe('/etc/motd');
  } finally {
    site.close();
  }
});

test('salt_version compares code names of releases with 3006', async () => {
  const answers = async (name: string): Promise<unknown[]> => [
    await one.call('salt_version.less_than', [name]),
    await one.call('salt_version.equal', [name]),
    await one.call('salt_version.greater_than', [name]),
    await one.call('salt_version.get_release_number', [name]),
  ];
  expect(await answers('Oxygen')).toEqual([false, false, true, '2018.3']);
  expect(await answers('sulfur')).toEqual([false, true, false, '3006']);
  expect(await answers('Argon')).toEqual([true, false, false, '3008']);
  expect(await answers('Kryptonite')).toEqual([false, false, false, null]);
});

test('jinja returns a map and files of data for this host', async () => {
  const site = await makeSite({
    'states/f/map.jinja': "{% set f = {'os': grains.os, 'b': [1, none]} %}",
    'states/f/a.yaml': 'z: 1\na: {b: yes}\n',
    'states/f/a.json': '{"x": [1.5]}',
  });
  try {
    expect(await site.call('jinja.load_map', ['f/map.jinja', 'f'])).toEqual({
      os: 'Debian',
      b: [1, null],
    });
    expect(await site.call('jinja.import_yaml', ['f/a.yaml'])).toEqual({ z: 1, a: { b: true } });
    expect(await site.call('jinja.import_json', ['f/a.json'])).toEqual({ x: [1.5] });
    await expect(site.call('jinja.load_map', ['f/map.jinja', 'f %}'])).rejects.toThrow(
      "'f %}' is not the name of a variable",
    );
    await expect(site.call('jinja.import_yaml', ['a" %}'])).rejects.toThrow('a" %}');
  } finally {
    site.close();
  }
});

test('grains.items and grains.item hide names and serial numbers on request', async () => {
  const site = await makeSite(
    {},
    { grains: { id: 'web1', host: 'web1', fqdn: 'web1.example.com', serialnumber: 'ABCDEFGH' } },
  );
  try {
    const hidden = {
      host: 'MINION',
      fqdn: 'MINION.DOMAINNAME',
      serialnumber: 'ABCDEFXX',
      os: 'Debian',
    };
    expect(await site.call('grains.items', [], { sanitize: true })).toMatchObject(hidden);
    expect(await site.call('grains.item', Object.keys(hidden), { sanitize: true })).toEqual(hidden);
    expect(await site.call('grains.item', ['host'])).toEqual({ host: 'web1' });
    expect(await site.call('grains.items')).toMatchObject({ serialnumber: 'ABCDEFGH' });
  } finally {
    site.close();
  }
});

test('a grain that is not there equals an empty text, as in Salt', async () => {
  expect(await one.call('grains.equals', ['nope', ''])).toBe(true);
  expect(await one.call('grains.equals', ['nope', 'x'])).toBe(false);
  expect(await one.call('grains.equals', ['roles', ['front', 'cache']])).toBe(true);
  expect(await one.call('grains.equals', ['roles:0', 'front'])).toBe(true);
  expect(await one.call('grains.item', ['roles.1'], { delimiter: '.' })).toEqual({
    'roles.1': 'cache',
  });
  expect(await one.call('config.get', ['grains:roles:1'])).toBe('cache');
  expect(await one.call('config.get', ['grains:roles:1', 'd'], { omit_opts: true })).toBe('d');
});

test('an empty saltenv is base for lists of files', async () => {
  for (const fun of ['cp.list_master', 'cp.list_master_dirs', 'cp.list_states'])
    for (const saltenv of ['', null])
      expect(await one.call(fun, [saltenv])).toEqual(await one.call(fun));
  expect(await one.call('cp.list_states', [''])).toContain('b');
});

test('slsutil.banner wraps as Python does', async () => {
  // The results of Salt 3006.9.
  expect(
    await one.call('slsutil.banner', [], {
      width: 14,
      title: 'unbreakable title-text',
      text: 'a\nb\n\nc extraordinary',
    }),
  ).toBe(
    [
      '##############',
      '#            #',
      '# unbreakabl #',
      '#  e title-  #',
      '#    text    #',
      '#            #',
      '# a b  c ext #',
      '# raordinary #',
      '##############',
    ].join('\n'),
  );
  expect(await one.call('slsutil.banner', [], { width: 9, title: '', text: '' })).toBe(
    '#########\n#       #\n#       #\n#########',
  );
});

test('renderers are listed by glob, too', async () => {
  expect(await one.call('sys.list_renderers', ['yaml*'])).toEqual(['yaml', 'yamlex']);
  expect(Object.keys((await one.call('sys.renderer_doc', ['j*', 'age'])) as object)).toEqual([
    'age',
    'jinja',
    'js',
    'json',
    'json5',
  ]);
});
