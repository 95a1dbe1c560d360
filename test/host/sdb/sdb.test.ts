import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Host } from '../../../src/protocol/host.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { openSdb } from '../../../src/request/open-sdb.ts';
import { makeRequest } from '../../../src/request/request.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { appRole, rootToken, startVault } from '../../helpers/vault-server.ts';
import { makeSite } from '../../wrapper/site.ts';

const vault = await startVault();
afterAll(vault.close);

const siteWith = async (
  config: string,
  files: Readonly<Record<string, string>> = {},
  more: { env?: Record<string, string>; grains?: PlainDict } = {},
) => {
  const site = await makeSite({ 'tsalt.yaml': config, ...files }, more);
  onTestFinished(site.close);
  return site;
};

const message = (work: Promise<unknown>): Promise<string> =>
  work.then(
    value => `no error but ${JSON.stringify(value)}`,
    (error: Error) => error.message,
  );

describe('env', () => {
  test('reads the environment of the control node and never overwrites it', async () => {
    const { call } = await siteWith('osenv: {driver: env}\n', {}, { env: { PW: 'one' } });
    expect(await call('sdb.get', ['sdb://osenv/PW'])).toBe('one');
    expect(await call('sdb.set', ['sdb://osenv/PW', 'two'])).toBe(true);
    expect(await call('sdb.get', ['sdb://osenv/PW'])).toBe('one');
    expect(await call('sdb.get', ['sdb://osenv/NOT'])).toBe(null);
    expect(await message(call('sdb.delete', ['sdb://osenv/PW']))).toBe(
      'sdb://osenv/PW cannot be used: the driver env cannot delete.',
    );
  });

  test('an address without a profile is returned unchanged, or refused', async () => {
    const { call } = await siteWith('osenv: {driver: env}\n');
    for (const uri of ['plain', 'sdb://osenv', 'sdb://osenv/', 'sdb://other/x'])
      expect(await call('sdb.get', [uri])).toBe(uri);
    expect(await call('sdb.set', ['sdb://other/x', 1])).toBe(false);
    expect(await message(call('sdb.get', ['plain'], { strict: true }))).toBe(
      'An address of sdb must start with "sdb://".',
    );
    expect(await message(call('sdb.get', ['sdb://osenv'], { strict: true }))).toBe(
      "The sdb address 'sdb://osenv' must have a profile and a key: sdb://PROFILE/KEY.",
    );
    expect(await message(call('sdb.get', ['sdb://other/x'], { strict: true }))).toMatch(
      /^The configuration has no sdb profile 'other'/,
    );
  });
});

describe('file', () => {
  test('keeps one private file a key; a hash is made once', async () => {
    const { call, dir } = await siteWith('secrets: {driver: file, dir: secrets}\n');
    const uri = 'sdb://secrets/web/db';
    expect(await call('sdb.get', [uri])).toBe(null);
    const made = await call('sdb.get_or_set_hash', [uri], { length: 20, chars: 'ab' });
    expect(made).toMatch(/^[ab]{20}$/);
    expect(await call('sdb.get_or_set_hash', [uri])).toBe(made);
    const file = join(dir, 'secrets/web/db');
    expect(readFileSync(file, 'utf8')).toBe(made);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await call('sdb.delete', [uri])).toBe(true);
    expect(await call('sdb.delete', [uri])).toBe(false);
    expect(existsSync(file)).toBe(false);
  });

  test('a key leads nowhere else, and a file that others may read is not used for secrets', async () => {
    const { call, dir } = await siteWith('secrets: {driver: file, dir: secrets}\n', {
      outside: 'x',
      'secrets/open': 'x',
    });
    chmodSync(join(dir, 'secrets/open'), 0o644);
    symlinkSync('../outside', join(dir, 'secrets/link'));
    const refused = (key: string) => message(call('sdb.get', [`sdb://secrets/${key}`]));
    expect(await refused('../outside')).toMatch(/the key leads out of the folder\.$/);
    expect(await refused('link')).toMatch(/the key leads out of the folder\.$/);
    expect(await refused('open')).toMatch(/others may read .*open: chmod 600 .*open\.$/);
  });

  test('hosts that ask at once for a hash that nobody has made get the same one', async () => {
    const { call, dir } = await siteWith('secrets: {driver: file, dir: secrets}\n');
    const asked = Array.from({ length: 5 }, () =>
      call('sdb.get_or_set_hash', ['sdb://secrets/db']),
    );
    const stored = new Set([...(await Promise.all(asked))]);
    expect([...stored]).toEqual([readFileSync(join(dir, 'secrets/db'), 'utf8')]);
    expect(await call('sdb.get', ['sdb://secrets/db'])).toBe([...stored][0]);
  });

  test('test mode stores nothing', async () => {
    const { call, dir, site } = await siteWith(
      'test: true\nsecrets: {driver: file, dir: secrets}\n',
    );
    expect(site.facts.opts.test).toBe(true);
    const made = await call('sdb.get_or_set_hash', ['sdb://secrets/x']);
    expect(await call('sdb.get_or_set_hash', ['sdb://secrets/x'])).toBe(made);
    expect(existsSync(join(dir, 'secrets/x'))).toBe(false);
  });
});

describe('cmd', () => {
  const profile =
    'store:\n  driver: cmd\n  get: [./store, get, "%s"]\n  set: [./store, set, "%s"]\n';
  const store =
    '#!/bin/sh\ncase "$1" in get) cat "db-$2";; set) cat > "db-$2"; echo "$@" > argv;; esac\n';

  test('passes the key as one argument and the value on standard input', async () => {
    const { call, dir } = await siteWith(profile, { store });
    chmodSync(join(dir, 'store'), 0o755);
    expect(await call('sdb.set', ['sdb://store/a b;$(c)', 's3cret'])).toBe(true);
    expect(await call('sdb.get', ['sdb://store/a b;$(c)'])).toBe('s3cret');
    expect(readFileSync(join(dir, 'argv'), 'utf8')).toBe('set a b;$(c)\n');
  });

  test('a key that begins with a dash never becomes an option of the program', async () => {
    const { call, dir } = await siteWith(
      `${profile}plain: {driver: cmd, get: [./store, '%s']}\nended: {driver: cmd, get: [./store, get, --, '%s']}\n`,
      { store: '#!/bin/sh\necho "$@" | tee -a argv\n' },
    );
    chmodSync(join(dir, 'store'), 0o755);
    for (const name of ['store', 'plain'])
      expect(await message(call('sdb.get', [`sdb://${name}/--help`]))).toBe(
        `sdb://${name}/--help cannot be used: a key must not begin with '-' (unless its profile has '--' before %s).`,
      );
    expect(existsSync(join(dir, 'argv'))).toBe(false);
    expect(await call('sdb.get', ['sdb://ended/--help'])).toBe('get -- --help');
  });

  test('a fault names the address, never what was printed', async () => {
    // Its standard error must not reach the terminal either.
    const { call, dir } = await siteWith(profile, {
      store:
        '#!/bin/sh\necho s3cret; echo s3cret >&2; [ /dev/fd/2 -ef /dev/null ] && exit 3; exit 4\n',
    });
    chmodSync(join(dir, 'store'), 0o755);
    expect(await message(call('sdb.get', ['sdb://store/x']))).toBe(
      "sdb://store/x cannot be used: './store' ended with 3.",
    );
    expect(await message(call('sdb.delete', ['sdb://store/x']))).toBe(
      "sdb://store/x cannot be used: its profile has no 'delete'.",
    );
  });
});

describe('yaml', () => {
  test('merges files and finds values by path', async () => {
    const { call } = await siteWith('my: {driver: yaml, files: [a.yaml, b.yaml]}\n', {
      'a.yaml': 'db: {user: app, port: 1}\n',
      'b.yaml': 'db: {port: 2}\n',
    });
    expect(await call('sdb.get', ['sdb://my/db:user'])).toBe('app');
    expect(await call('sdb.get', ['sdb://my/db:port'])).toBe(2);
    expect(await call('sdb.get', ['sdb://my/db:none'])).toBe(null);
  });

  test('an error does not quote the file', async () => {
    const { call } = await siteWith('my: {driver: yaml, files: [a.yaml]}\n', {
      'a.yaml': 'pw: s3cret: {\n',
    });
    expect(await message(call('sdb.get', ['sdb://my/pw']))).toMatch(/a\.yaml is no YAML\.$/);
  });

  test('decrypts with gpg', { tags: 'slow' }, async () => {
    const home = mkdtempSync(join(tmpdir(), 'gpg-'));
    const gpg = (args: string[], input = ''): string =>
      execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...args], {
        input,
        encoding: 'utf8',
        stdio: ['pipe', 'pipe', 'ignore'],
      });
    onTestFinished(() => {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    });
    gpg(['--passphrase', '', '--quick-gen-key', 'a@example.org', 'default', 'default', 'never']);
    const secret = gpg(['-ea', '--trust-model', 'always', '-r', 'a@example.org'], 's3cret');
    const { call } = await siteWith(
      `gpg_keydir: ${home}\nmy: {driver: yaml, files: [a.yaml], gpg: true}\n`,
      { 'a.yaml': `pw: |\n${secret.replace(/^/gm, '  ')}` },
    );
    expect(await call('sdb.get', ['sdb://my/pw'])).toBe('s3cret');
  });
});

describe('vault', () => {
  const settings = `vault:\n  url: ${vault.url}\n  auth: {token: sdb://osenv/TOKEN}\nosenv: {driver: env}\nmyvault: {driver: vault}\n`;
  const env = { TOKEN: rootToken };

  test.each(['secret', 'kv1'])('%s: writes, reads and deletes one key of a secret', async mount => {
    const { call } = await siteWith(settings, {}, { env });
    const uri = `sdb://myvault/${mount}/web/password`;
    expect(await call('sdb.get', [uri])).toBe(null);
    expect(await call('sdb.set', [uri, 's3cret'])).toBe(true);
    expect(await call('sdb.set', [`sdb://myvault/${mount}/web?user`, 'app'])).toBe(true);
    expect(await call('sdb.get', [uri])).toBe('s3cret');
    expect(await call('vault.read_secret', [`${mount}/web`])).toEqual({
      password: 's3cret',
      user: 'app',
    });
    expect(await call('vault.list_secrets', [`${mount}/`])).toEqual({ keys: ['web'] });
    expect(await call('sdb.delete', [uri])).toBe(true);
    expect(await call('sdb.get', [uri])).toEqual(mount === 'secret' ? { user: 'app' } : null);
    await call('vault.delete_secret', [`${mount}/web`]);
    expect(await call('vault.read_secret', [`${mount}/web`], { default: 'none' })).toBe('none');
  });

  test('the module reads keys and metadata, and says what is wrong', async () => {
    const { call } = await siteWith(settings, {}, { env });
    await call('vault.write_secret', ['secret/app'], { user: 'a', password: 'b' });
    expect(await call('vault.read_secret', ['secret/app', 'user'])).toBe('a');
    expect(await call('vault.read_secret', ['secret/app'], { metadata: true })).toMatchObject({
      data: { user: 'a' },
      metadata: { version: 1 },
    });
    expect(await call('vault.destroy_secret', ['secret/app', 1])).toBe(true);
    expect(await message(call('vault.read_secret', ['secret/app']))).toBe(
      'Failed to read secret/app: the secret does not exist.',
    );
    expect(await message(call('vault.destroy_secret', ['kv1/app', 1]))).toBe(
      'Failed to destroy kv1/app: only KV version 2 keeps versions.',
    );
  });

  test('logs in once by AppRole; a wrong one is refused in its own words', async () => {
    const auth = (secret: string) =>
      `vault: {url: '${vault.url}', auth: {method: approle, role_id: ${appRole.role_id}, secret_id: ${secret}}}\nv: {driver: vault}\n`;
    const before = vault.requests.length;
    const { call } = await siteWith(auth(appRole.secret_id));
    await call('sdb.set', ['sdb://v/kv1/r/k', 1]);
    expect(await call('sdb.get', ['sdb://v/kv1/r/k'])).toBe(1);
    const logins = vault.requests.slice(before).filter(line => line.includes('approle'));
    expect(logins).toEqual(['POST auth/approle/login']);
    const wrong = await siteWith(auth('wr0ng'));
    expect(await message(wrong.call('sdb.get', ['sdb://v/kv1/r/k']))).toBe(
      'sdb://v/kv1/r/k cannot be used: vault did not take approle (400: invalid role or secret ID).',
    );
  });

  test('a path never leads up: part of it may be what a host says of itself', async () => {
    const { call } = await siteWith(settings, {}, { env });
    await call('vault.write_secret', ['secret/others'], { password: 'b' });
    const before = vault.requests.length;
    for (const path of ['secret/web1/../others', 'secret/web1/./x', 'kv1/../../sys/mounts'])
      expect(await message(call('vault.read_secret', [path]))).toBe(
        `Failed to read ${path}: a path has no '.' or '..' in it.`,
      );
    expect(await message(call('sdb.get', ['sdb://myvault/secret/web1/../others/password']))).toBe(
      "sdb://myvault/secret/web1/../others/password cannot be used: a path has no '.' or '..' in it.",
    );
    expect(vault.requests.length).toBe(before);
  });

  test('errors show neither token nor value', async () => {
    const { call } = await siteWith(settings, {}, { env: { TOKEN: 'hvs.stale' } });
    const refused = await message(call('sdb.set', ['sdb://myvault/secret/a/b', 's3cret']));
    expect(refused).toBe(
      'sdb://myvault/secret/a/b cannot be used: vault answered 403: permission denied.',
    );
    const nowhere = await siteWith(
      'vault: {url: "http://127.0.0.1:1", auth: {token: t0ken}}\nv: {driver: vault}\n',
    );
    expect(await message(nowhere.call('sdb.get', ['sdb://v/secret/a/b']))).toBe(
      'sdb://v/secret/a/b cannot be used: vault at http://127.0.0.1:1 could not be asked (ECONNREFUSED).',
    );
  });

  test('ext_pillar takes the secrets of a path', async () => {
    const { call, site } = await siteWith(
      `${settings}ext_pillar: [{vault: {conf: 'path=secret/hosts/{minion}', nesting_key: mine}}]\n`,
      {},
      { env },
    );
    await call('vault.write_secret', ['secret/hosts/web1'], { pw: 'x' });
    expect(await call('pillar.get', ['mine:pw'])).toBe('x');
    expect(site.facts.grains.get('id')).toBe('web1');
  });
});

describe('addresses in configuration and pillar', () => {
  test('no escape makes an address of what a host said', async () => {
    const { call } = await siteWith(
      'osenv: {driver: env}\n',
      {
        'pillar/top.sls': "base: {'*': [a]}\n",
        'pillar/a.sls': `# sdb://osenv/OTHER
flow: [sdb://osenv/KEY, {x: sdb://osenv/KEY}]
text: as in sdb://osenv/OTHER
motd: "{{ grains.motd }}"
{% if grains.id == 'db' %}
pw: sdb://osenv/OTHER
{% endif %}
`,
      },
      {
        env: { KEY: 'one', OTHER: 'two' },
        grains: { motd: 'sdb:\\x2f\\x2fosenv/OTHER' },
      },
    );
    expect(await call('pillar.items')).toEqual({
      flow: ['one', { x: 'one' }],
      text: 'as in sdb://osenv/OTHER',
      motd: 'sdb://osenv/OTHER',
    });
  });

  test('a tag of the host makes no address: the pillar file is refused', async () => {
    const { call } = await siteWith(
      'osenv: {driver: env}\n',
      {
        'pillar/top.sls': "base: {'*': [a]}\n",
        'pillar/a.sls': '# sdb://osenv/OTHER\njoined: {{ grains.one }}\n',
      },
      { env: { OTHER: 'two' }, grains: { one: '!!str "sdb:\\x2f/osenv/OTHER"' } },
    );
    expect(await call('pillar.items')).toEqual({
      _errors: ["Rendering SLS 'a' failed. Please see master log for details."],
    });
  });

  const profiles = 'osenv: {driver: env}\n';

  test('options are resolved; profiles and vault are known to nobody', async () => {
    const { call, site } = await siteWith(
      `${profiles}vault: {url: 'http://127.0.0.1:1', auth: {token: t0ken}}\nour: {key: sdb://osenv/KEY}\nother: sdb://nothing/KEY\n`,
      {},
      { env: { KEY: 'value' } },
    );
    expect(await call('config.get', ['our:key'])).toBe('value');
    expect(await call('config.get', ['other'])).toBe('sdb://nothing/KEY');
    expect(await call('config.get', ['vault'])).toBe('');
    expect(JSON.stringify(site.facts.opts)).not.toMatch(/t0ken|driver/);
  });

  test('pillar files are resolved, an address that the host said is not', async () => {
    const { call } = await siteWith(
      profiles,
      {
        'pillar/top.sls': "base: {'*': [a]}\n",
        'pillar/a.sls':
          "pw: sdb://osenv/KEY\nlist: [{x: 'sdb://osenv/KEY'}]\nmotd: '{{ grains.motd }}'\nnote: '{{ grains.note }}'\n# sdb://osenv/OTHER\n",
      },
      {
        env: { KEY: 'value', OTHER: 'not yours', THIRD: 'not yours' },
        grains: { motd: 'sdb://osenv/OTHER', note: 'sdb://osenv/THIRD' },
      },
    );
    expect(await call('pillar.items')).toMatchObject({
      pw: 'value',
      list: [{ x: 'value' }],
      motd: 'sdb://osenv/OTHER',
      note: 'sdb://osenv/THIRD',
    });
  });

  test('nor is one that a template has put together of what the host said', async () => {
    const others = 'sdb://osenv/OTHER';
    const { call } = await siteWith(
      profiles,
      {
        'pillar/top.sls': "base: {'*': [a, b]}\n",
        'pillar/a.sls': `{% if grains.id == 'another' %}\nnever: ${others}\n{% endif %}\njoined: '{{ grains.a }}{{ grains.b }}'\nown: sdb://osenv/KEY\n`,
        'pillar/b.sls': `{% if grains.id == 'another' %}\nnever2: ${others}\n{% endif %}\nended: sdb://osenv/{{ grains.role }}\n`,
      },
      {
        env: { KEY: 'value', OTHER: 'not yours' },
        grains: { a: 'sdb:/', b: '/osenv/OTHER', role: 'OTHER', disk: 'sdb', url: 'http://KEY' },
      },
    );
    expect(await call('pillar.items')).toMatchObject({
      joined: others,
      ended: others,
      own: 'value',
    });
  });

  test.each(['jinja', 'liquid'])(
    'nor one that %s made of more pieces, or of pieces and its own words',
    async engine => {
      const others = 'sdb://osenv/OTHER';
      const grain = (name: string): string => `{{ grains.${name} }}`;
      const { call } = await siteWith(
        profiles,
        {
          'pillar/top.sls': "base: {'*': [a]}\n",
          'pillar/a.sls': [
            `#!${engine}|yaml`,
            `# ${others}`,
            `three: '${grain('a')}${grain('b')}${grain('c')}'`,
            `between: '${grain('store')}osenv/${grain('role')}'`,
            'own: sdb://osenv/KEY\n',
          ].join('\n'),
        },
        {
          env: { KEY: 'value', OTHER: 'not yours' },
          grains: { a: 'sdb://os', b: 'env/OT', c: 'HER', store: 'sdb://', role: 'OTHER' },
        },
      );
      expect(await call('pillar.items')).toMatchObject({
        three: others,
        between: others,
        own: 'value',
      });
    },
  );

  test('an address in a file of an engine without tracking is resolved, whatever short grains there are', async () => {
    const { call } = await siteWith(
      profiles,
      {
        'pillar/top.sls': "base: {'*': [a]}\n",
        'pillar/a.sls': "#!mako|yaml\nown: sdb://osenv/KEY\nos: ${grains['os']}\n",
      },
      { env: { KEY: 'value' }, grains: { os: 'os', a: 'KEY', b: 'env/K' } },
    );
    expect(await call('pillar.items')).toMatchObject({ own: 'value', os: 'os' });
  });

  test('a roster is resolved; passwords only for hosts that run', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tsalt-sdb-'));
    onTestFinished(() => removeFolder(dir));
    writeFileSync(
      join(dir, 'roster.yaml'),
      'a: {host: sdb://osenv/HOST, passwd: sdb://osenv/PW}\nb: {host: b, passwd: sdb://osenv/NOT}\n',
    );
    writeFileSync(join(dir, 'tsalt.yaml'), profiles);
    const env = { HOST: '192.0.2.1', PW: 's3cret' };
    const config = loadConfig({ cwd: dir, env });
    const { hosts, prepareHost } = await makeRequest({
      given: parseArguments(['*', 'test.ping']),
      config,
      sdb: openSdb(config, env),
      env,
      ask: () => Promise.reject(new Error('asked')),
    });
    const [a, b] = hosts as [Host, Host];
    expect(a).toMatchObject({ id: 'a', host: '192.0.2.1' });
    expect(a.passwd).toBeUndefined();
    expect((await prepareHost(a)).passwd?.reveal()).toBe('s3cret');
    expect(await message(prepareHost(b))).toBe('There is no text at sdb://osenv/NOT.');
  });
});
