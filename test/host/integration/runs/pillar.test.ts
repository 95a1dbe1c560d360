import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let server: Server;
type Asked = { url: string; token: string | undefined; authorization: string | undefined };
let asked: Asked[] = [];
let answer: { status: number; body: string; location?: string } = { status: 200, body: '{}' };

const base = 'known_hosts_file: known_hosts\ncachedir: cache\n';

beforeAll(async () => {
  server = createServer((request, response) => {
    const { authorization } = request.headers;
    const token = request.headers['x-token'] as string | undefined;
    asked.push({ url: request.url ?? '', token, authorization });
    const { status, body, location } = answer;
    response.writeHead(status, location === undefined ? {} : { location }).end(body);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  project = await startProject({
    hosts: ['web1', 'db1'],
    files: {
      'pillar/top.sls': "base:\n  '*':\n    - app\n",
      'pillar/app.sls': 'from: sls\napp: {name: shop, port: 80}\nlist: [1]\n',
      'states/see.sls':
        '{{ grains.root }}/seen:\n  file.managed:\n    - contents: {{ pillar.app.name }}\n',
    },
  });
});
afterAll(async () => {
  await project.close();
  server.close();
});

const url = (path: string): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;

const items = async (options: string, ...args: string[]) => {
  asked = [];
  project.write({ 'tsalt.yaml': base + options });
  const { code, stdout, stderr } = await project.run(
    'web1',
    'pillar.items',
    ...args,
    '--static',
    '--out',
    'json',
  );
  const pillar = stdout.startsWith('{')
    ? (JSON.parse(stdout) as { web1: Record<string, unknown> }).web1
    : {};
  return { code, pillar, text: stdout + stderr };
};

/** The result of a run whose pillar does not compile. */
const refusal = async (options: string): Promise<string> => {
  asked = [];
  project.write({ 'tsalt.yaml': base + options });
  const { code, stdout, stderr } = await project.run('web1', 'state.apply', 'see');
  expect(code, stdout + stderr).toBe(65);
  return stdout + stderr;
};

test('external sources are merged in their order over the SLS, command line over all', {
  tags: 'slow',
}, async () => {
  project.write({
    'ext.sh': 'printf "from: cmd_yaml\\nhost: %s\\napp: {port: 81}\\n" "$1"',
    'ext.js': 'console.log(JSON.stringify({from: "cmd_json", app: {tls: true}, n: 1.5}))',
    'tree/hosts/web1/from': 'file_tree\n',
    'tree/hosts/web1/certs/key.pem': 'line 1\nline 2\n',
    'tree/hosts/db1/only': 'db',
    'tree/nodegroups/fronts/role': 'front\n',
    'tree/nodegroups/fronts/from': 'nodegroup\n',
    'tree/nodegroups/backs/role': 'back\n',
  });
  answer = { status: 200, body: '{"from": "http", "deep": {"list": [1, {"a": null}]}}' };
  const { code, pillar, text } = await items(
    `nodegroups:
  fronts: 'web*'
  backs: 'db*'
ext_pillar:
  - cmd_yaml: sh ext.sh %s
  - cmd_json: [${process.execPath}, ext.js]
  - file_tree: {root_dir: tree}
  - http_json: {url: '${url('/p/%s?os=<kernel>')}', with_grains: true, header_dict: {x-token: t0p}}
`,
    'pillar={over: cli, from: cli}',
  );
  expect(code, text).toBe(0);
  expect(pillar).toEqual({
    from: 'cli',
    over: 'cli',
    host: 'web1',
    app: { name: 'shop', port: 81, tls: true },
    list: [1],
    n: 1.5,
    certs: { 'key.pem': 'line 1\nline 2' },
    role: 'front',
    deep: { list: [1, { a: null }] },
  });
  expect(asked).toMatchObject([{ url: '/p/web1?os=Linux', token: 't0p' }]);
});

test('%s of an external command is the id wherever it stands, inside quotes too', async () => {
  const command = (text: string) => `  - cmd_yaml: ${JSON.stringify(text)}\n`;
  const { pillar, text } = await items(
    `ext_pillar:\n${[
      command("echo 'one: {single: %s}'"),
      command('echo "two: {double: %s}"'),
      command(`sh -c 'echo "three: {nested: %s}"'`),
      command('echo a: %s; echo b: %s'),
    ].join('')}`,
  );
  expect(pillar, text).toMatchObject({
    one: { single: 'web1' },
    two: { double: 'web1' },
    three: { nested: 'web1' },
    a: 'web1',
    b: 'web1',
  });
});

test('the last external source wins; with ext_pillar_first the SLS win', async () => {
  const sources =
    'ext_pillar:\n  - cmd_yaml: "echo \'from: one\'"\n  - cmd_json: "echo \'{\\"from\\": \\"two\\"}\'"\n';
  expect((await items(sources)).pillar.from).toBe('two');
  expect((await items(`${sources}ext_pillar_first: true\n`)).pillar.from).toBe('sls');
});

test('pillar SLS see the results of external sources if these come first', async () => {
  project.write({
    'pillar/app.sls': 'from: sls\nheard: {{ pillar.n }}\napp: {name: shop}\n',
  });
  const sources = 'ext_pillar_first: true\next_pillar:\n  - cmd_yaml: "echo \'n: 7\'"\n';
  const { pillar, text } = await items(sources);
  project.write({ 'pillar/app.sls': 'from: sls\napp: {name: shop, port: 80}\nlist: [1]\n' });
  expect(pillar, text).toMatchObject({ n: 7, heard: 7, from: 'sls' });
});

const broken: [string, string, RegExp][] = [
  ['a command that fails', "cmd_yaml: 'echo ext-s3cret; exit 3'", /cmd_yaml.*ended with 3/],
  ['a command that is not there', 'cmd_json: [/no/such/program, ext-s3cret]', /cmd_json.*ENOENT/],
  ['JSON that is none', "cmd_json: 'echo ext-s3cret'", /cmd_json.*not JSON/],
  ['YAML that is not a dictionary', "cmd_yaml: 'echo ext-s3cret'", /cmd_yaml.*no dictionary/],
  ['a tree that is not there', 'file_tree: {root_dir: nowhere}', /file_tree.*nowhere/],
  ['a source nobody knows', 'consul: ext-s3cret', /Unknown ext_pillar "consul"/],
  ['Vault without a path', 'vault: ext-s3cret', /vault.*needs 'path='/],
  ['a URL that is none', "http_json: {url: 'ext-s3cret'}", /http_json.*not a URL/],
  [
    'a header that cannot be sent',
    'http_json: {url: "http://127.0.0.1:1", header_dict: {x-token: "ext-s3cret\\nx"}}',
    /http_json.*header 'x-token'/,
  ],
  [
    'an authentication that no YAML can hold',
    'http_json: {url: "http://127.0.0.1:1", auth: [me, ext-s3cret]}',
    /http_json.*'auth' cannot be written/,
  ],
  [
    'an option that a source does not have',
    'file_tree: {root_dir: tree, keep_newlines: ext-s3cret}',
    /file_tree.*no option 'keep_newlines'/,
  ],
  [
    'newlines kept where nobody knows',
    'file_tree: {root_dir: tree, keep_newline: ext-s3cret}',
    /file_tree.*keep_newline must be/,
  ],
  [
    'a server that is not there',
    "http_json: {url: 'http://user:ext-s3cret@127.0.0.1:1/ext-s3cret'}",
    /http_json.*http:\/\/127\.0\.0\.1:1 could not be asked/,
  ],
];

test.each(broken)(
  '%s stops the run and shows no secret',
  { tags: 'slow' },
  async (_, source, message) => {
    project.write({ 'tsalt.yaml': `${base}ext_pillar:\n  - ${source}\n` });
    const { code, stdout, stderr } = await project.run('web1', 'state.apply', 'see');
    expect(code, stdout + stderr).toBe(65);
    expect(stdout + stderr).toMatch(message);
    expect(stdout + stderr).not.toContain('ext-s3cret');
  },
);

test('http_json asks with a password and puts the answer below its namespace', async () => {
  answer = { status: 200, body: '{"a": 1}' };
  const { pillar, text } = await items(
    `ext_pillar:\n  - http_json: {url: '${url('/p/%s')}', username: me, password: 'pä:ss€', namespace: sub}\n`,
  );
  expect(pillar, text).toMatchObject({ from: 'sls', sub: { a: 1 } });
  const basic = Buffer.from('me:pä:ss€', 'utf8').toString('base64');
  expect(asked).toMatchObject([{ url: '/p/web1', authorization: `Basic ${basic}` }]);
});

test('settings may be the URL alone, or a list in the order of Salt', async () => {
  answer = { status: 200, body: 'b: 2' };
  const { pillar, text } = await items(
    `ext_pillar:\n  - http_yaml: '${url('/one')}'\n  - http_yaml: ['${url('/<kernel>')}', true]\n`,
  );
  expect(pillar, text).toMatchObject({ b: 2 });
  expect(asked.map(one => one.url)).toEqual(['/one', '/Linux']);
});

test('a redirect is followed; headers do not go to another server', { tags: 'slow' }, async () => {
  const other = createServer((request, response) => {
    asked.push({ url: request.url ?? '', token: undefined, authorization: undefined });
    response.end('{"moved": true}');
  });
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
  const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}/there`;
  answer = { status: 302, body: '', location: there };
  const open = await items(`ext_pillar:\n  - http_json: '${url('/here')}'\n`);
  expect(open.pillar, open.text).toMatchObject({ moved: true });
  expect(asked.map(one => one.url)).toEqual(['/here', '/there']);
  const text = await refusal(
    `ext_pillar:\n  - http_json: {url: '${url('/here')}', header_dict: {x-token: ext-s3cret}}\n`,
  );
  expect(text).toContain('must not get the headers');
  expect(text).not.toContain('ext-s3cret');
  expect(asked.map(one => one.url)).toEqual(['/here']);
  other.close();
});

test('a grain that would lead the URL elsewhere is refused', async () => {
  const text = await refusal(
    `grains: {role: '..'}\next_pillar:\n  - http_json: {url: '${url('/a/<role>/b')}', with_grains: true}\n`,
  );
  expect(text).toContain("names the grain 'role', which is '..'");
  expect(asked).toEqual([]);
});

test('file_tree renders the files that its options select', { tags: 'slow' }, async () => {
  project.write({
    'trees/hosts/web1/plain': '{{ grains.id }}\n',
    'trees/hosts/web1/data': '#!jinja|yaml\nport: {{ 80 + 1 }}\nid: {{ grains.id }}\n',
    'trees/nodegroups/fronts/data': '#!yaml\nport: 1\nbelow: group\n',
  });
  const groups = "nodegroups: {fronts: 'web*'}\n";
  const tree = '{root_dir: trees, template: true, render_default: jinja}';
  const { pillar, text } = await items(`${groups}ext_pillar:\n  - file_tree: ${tree}\n`);
  expect(pillar, text).toMatchObject({
    plain: 'web1',
    data: { port: 81, id: 'web1', below: 'group' },
  });
  const refused = await refusal(
    `${groups}ext_pillar:\n  - file_tree: {root_dir: trees, template: true, renderer_blacklist: [yaml]}\n`,
  );
  expect(refused).toMatch(/'yaml' is disallowed.*trees\/nodegroups\/fronts\/data:1/);
  const allowed = await refusal(
    `${groups}ext_pillar:\n  - file_tree: {root_dir: trees, template: true, renderer_whitelist: [yaml]}\n`,
  );
  expect(allowed).toMatch(/'(jinja|liquid)' is disallowed.*trees\/hosts\/web1/);
});

test('file_tree: links to folders, ends of files, environments, binary files', {
  tags: 'slow',
}, async () => {
  project.write({
    'more/hosts/web1/kept/a.conf': 'a\n',
    'more/hosts/web1/kept/b.txt': 'b\n',
    'more/hosts/web1/top.conf': 'c\n',
    'elsewhere/inside': 'seen\n',
    'dev/more/hosts/web1/env': 'dev\n',
  });
  symlinkSync(join(project.dir, 'elsewhere'), join(project.dir, 'more/hosts/web1/link'));
  const take = (more: string, head = '', ...args: string[]) =>
    items(`${head}ext_pillar:\n  - file_tree: {root_dir: more, ${more}}\n`, ...args);
  expect((await take("keep_newline: ['*.conf']")).pillar).toMatchObject({
    kept: { 'a.conf': 'a\n', 'b.txt': 'b' },
    'top.conf': 'c\n',
    link: {},
  });
  expect((await take('keep_newline: [top.conf], follow_dir_links: true')).pillar).toMatchObject({
    kept: { 'a.conf': 'a' },
    'top.conf': 'c\n',
    link: { inside: 'seen' },
  });
  const roots = 'pillar_roots: {base: [pillar], dev: [dev]}\n';
  expect((await take('debug: false', roots, 'pillarenv=dev')).pillar).toMatchObject({ env: 'dev' });
  const log = ['-l', 'debug'];
  const other = 'ext_pillar:\n  - file_tree: {root_dir: more, debug: true}\n';
  expect((await items(`nodegroups: {lost: 'web*'}\n${other}`, ...log)).text).toMatch(
    /file_tree: there is no .*more\/nodegroups\/lost/,
  );
  writeFileSync(join(project.dir, 'more/hosts/web1/blob'), Buffer.from([0xff, 0xfe, 0]));
  const binary = await refusal('ext_pillar:\n  - file_tree: more\n');
  expect(binary).toMatch(/file_tree.*more\/hosts\/web1\/blob is not UTF-8 text/);
});

test('a server that says no stops the run', async () => {
  answer = { status: 403, body: 'ext-s3cret' };
  project.write({
    'tsalt.yaml': `${base}ext_pillar:\n  - http_json: {url: '${url('/x?t=ext-s3cret')}'}\n`,
  });
  const { code, stdout, stderr } = await project.run('web1', 'state.apply', 'see');
  expect(code).toBe(65);
  expect(stdout + stderr).toContain('answered 403');
  expect(stdout + stderr).not.toContain('ext-s3cret');
});

test('pillar.ext lays one source over the pillar', async () => {
  project.write({ 'tsalt.yaml': base });
  const { code, stdout } = await project.run(
    'web1',
    'pillar.ext',
    `{cmd_json: "echo '{\\"a\\": 1}'"}`,
    '--out',
    'json',
    '--static',
  );
  expect({ code, data: JSON.parse(stdout) }).toMatchObject({
    code: 0,
    data: { web1: { a: 1, from: 'sls' } },
  });
  const wrong = await project.run('web1', 'pillar.ext', 'cmd_json');
  expect(wrong.code).toBe(64);
  expect(wrong.stdout + wrong.stderr).toContain('takes a dictionary');
});

test("pillar SLS may use the user's renderers", async () => {
  project.write({
    'tsalt.yaml': base,
    'states/_renderers/pairs.ts':
      "export const render = (text: string) => Object.fromEntries(text.trim().split('\\n').filter(line => !line.startsWith('#')).map(line => line.split('=')));\n",
    'pillar/app.sls': '#!pairs\nname=pair\n',
  });
  const { pillar, text } = await items('');
  project.write({ 'pillar/app.sls': 'from: sls\napp: {name: shop, port: 80}\nlist: [1]\n' });
  expect(pillar, text).toEqual({ name: 'pair' });
});

test('pillar_opts shows tsalt.yaml under master', async () => {
  const { pillar } = await items('pillar_opts: true\nour_own: {key: 1}\n');
  expect(pillar.master).toMatchObject({ our_own: { key: 1 }, pillar_opts: true });
});

test('pillarenv_from_saltenv takes the pillar of the environment of the states', {
  tags: 'slow',
}, async () => {
  project.write({
    'dev-pillar/top.sls': "dev:\n  '*':\n    - app\n",
    'dev-pillar/app.sls': 'app: {name: dev}\n',
  });
  const roots =
    'pillar_roots: {base: [pillar], dev: [dev-pillar]}\nfile_roots: {base: [states], dev: [states]}\n';
  const seen = async (options: string): Promise<string> => {
    project.write({ 'tsalt.yaml': base + roots + options });
    const { stdout } = await project.run(
      'web1',
      'state.show_sls',
      'see',
      'saltenv=dev',
      '--out',
      'json',
      '--static',
    );
    return stdout;
  };
  expect(await seen('')).toMatch(/"contents": "(shop|dev)"/);
  const followed = await seen('pillarenv_from_saltenv: true\n');
  expect(followed).toContain('"contents": "dev"');
  project.write({ 'tsalt.yaml': `${base}${roots}lock_saltenv: true\n` });
  const locked = await project.run('web1', 'state.apply', 'see', 'saltenv=dev');
  expect(locked.code).toBe(64);
  expect(locked.stdout + locked.stderr).toContain(
    'lock_saltenv is enabled, saltenv cannot be changed',
  );
});

test('reload_pillar renews what later states and templates see', async () => {
  const root = project.hosts.web1?.root ?? '';
  project.write({
    'tsalt.yaml': `${base}ext_pillar:\n  - cmd_json: [/bin/cat, ${root}/live.json]\n`,
    'hosts/web1/live.json': '{"live": "old"}',
    'states/live.j2': 'live={{ pillar.live }}\n',
    'states/reload.sls': `change:
  cmd.run:
    - name: echo '{"live":"new"}' > ${root}/live.json
    - reload_pillar: true
module:
  module.run:
    - pillar.get: [{key: live}]
    - require: [{cmd: change}]
${root}/live:
  file.managed:
    - source: salt://live.j2
    - template: liquid
    - require: [{cmd: change}]
`,
  });
  const { code, stdout, stderr } = await project.run(
    'web1',
    'state.apply',
    'reload',
    '--out',
    'json',
    '--static',
  );
  expect(code, stdout + stderr).toBe(0);
  const states = Object.values(
    (
      JSON.parse(stdout) as {
        web1: Record<string, { __id__: string; changes: Record<string, unknown>; comment: string }>;
      }
    ).web1,
  );
  const byId = (id: string) => states.find(state => state.__id__ === id);
  expect(readFileSync(`${root}/live`, 'utf8')).toBe('live=new\n');
  expect(JSON.stringify(byId('module'))).toContain('new');
});

test('a state.* call in a template is not part of the run', async () => {
  project.write({
    'tsalt.yaml': base,
    'states/inner.sls': 'inside:\n  test.fail_without_changes: []\n',
    'states/outer.sls':
      "{% assign shown = 'state.show_sls' | salt: 'inner' %}{% assign ran = 'state.apply' | salt: 'inner' %}\noutside:\n  test.nop:\n    - name: {{ shown | size }}-{{ ran | size }}\n",
  });
  const { code, stdout, stderr } = await project.run(
    'web1',
    'state.apply',
    'outer',
    '--out',
    'json',
    '--static',
  );
  expect(code, stdout + stderr).toBe(0);
  expect(Object.keys((JSON.parse(stdout) as { web1: object }).web1)).toEqual([
    'test_|-outside_|-1-1_|-nop',
  ]);
});

test('localconfig sets options for one run', async () => {
  project.write({
    'tsalt.yaml': base,
    'one-run.yaml': 'failhard: true\nssh_user: nobody\n',
    'states/two.sls': 'a:\n  test.fail_without_changes: []\nb:\n  test.nop: []\n',
  });
  const run = async (...args: string[]) =>
    Object.keys(
      (
        JSON.parse(
          (await project.run('web1', 'state.apply', 'two', ...args, '--out', 'json', '--static'))
            .stdout,
        ) as {
          web1: object;
        }
      ).web1,
    ).length;
  expect(await run()).toBe(2);
  expect(await run('localconfig=one-run.yaml')).toBe(1);
  const missing = await project.run('web1', 'state.apply', 'two', 'localconfig=none.yaml');
  expect(missing.code).toBe(64);
  expect(missing.stdout + missing.stderr).toContain('none.yaml cannot be read');
});
