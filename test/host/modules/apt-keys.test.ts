import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runApart } from '../../helpers/apart.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const canRun =
  process.getuid?.() === 0 &&
  ['gpg', 'gpgv', 'apt-get'].every(name => spawnSync(name, ['--version']).status === 0);

describe.skipIf(!canRun)('keys of apt sources, made by the real gpg', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-keys-'));
  const home = join(folder, 'gnupg');
  const gpg = (...args: string[]): string =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  let server: Server;
  let at = '';
  let fingerprint = '';
  const asked: string[] = [];

  beforeAll(async () => {
    mkdirSync(home, { mode: 0o700 });
    const make = ['--pinentry-mode', 'loopback', '--passphrase', '', '--quick-gen-key'];
    gpg(...make, 'Repository <repo@example.invalid>', 'ed25519', 'sign', 'never');
    fingerprint = /^fpr:+([0-9A-F]+):/m.exec(gpg('--list-keys', '--with-colons'))?.[1] ?? '';
    const armored = gpg('--armor', '--export');
    gpg(...make, 'Mallory <mallory@example.invalid>', 'ed25519', 'sign', 'never');
    const second = gpg('--armor', '--export', 'mallory@example.invalid');
    const repository = join(folder, 'repo');
    mkdirSync(repository);
    writeFileSync(join(repository, 'Packages'), '');
    const hash = execFileSync('sha256sum', [join(repository, 'Packages')], { encoding: 'utf8' });
    writeFileSync(
      join(repository, 'Release'),
      `Suite: x\nDate: ${new Date().toUTCString()}\nSHA256:\n ${hash.slice(0, 64)} 0 Packages\n`,
    );
    gpg(
      '--local-user',
      fingerprint,
      '--clearsign',
      '--output',
      join(repository, 'InRelease'),
      join(repository, 'Release'),
    );
    server = createServer((request, response) => {
      asked.push(request.url ?? '');
      const answer = request.url?.startsWith('/many') ? armored + second : armored;
      response.end(request.url === '/other.asc' ? 'no key at all' : answer);
    });
    await new Promise<void>(ready => server.listen(0, '127.0.0.1', () => ready()));
    at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    server.close();
    spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
    removeFolder(folder);
  });

  const repo = `deb [signed-by=/etc/apt/keyrings/tsalt.gpg] file:${folder}/repo ./`;

  test('are fetched by address or by id, and apt takes what they signed', {
    tags: 'slow',
    timeout: 240_000,
  }, async () => {
    const update = `spawnSync('apt-get', ['update', '-o', 'Dir::Etc::sourceparts=/dev/null', '-o', 'Dir::Etc::sourcelist=/etc/apt/sources.list.d/tsalt.list', '-o', 'Dir::State=${folder}/state', '-o', 'Dir::Cache=${folder}/cache', '-o', 'APT::Sandbox::User=root', '-o', 'APT::Update::Error-Mode=any']).status`;
    const steps = ['url', 'id', 'hkp'].map((name, turn) => {
      const key = [
        `key_url: 'http://${at}/key.asc'`,
        `keyid: '${fingerprint.slice(-16)}', keyserver: 'http://${at}'`,
        `keyid: '0x${fingerprint}', keyserver: 'hkp://${at}'`,
      ][turn];
      return `rmSync('/etc/apt/keyrings/tsalt.gpg', { force: true });
        await step('${name}', () => pkg.mod_repo(${JSON.stringify(repo)}, { file: '/etc/apt/sources.list.d/tsalt.list', refresh: false, ${key} }));
        told['${name} taken'] = ${update};`;
    });
    const told = await runApart(
      { pkg: 'src/modules/pkg/exec/aptpkg/repos.ts' },
      `import { spawnSync } from 'node:child_process';
      import { mkdirSync, rmSync } from 'node:fs';
      mkdirSync('${folder}/state/lists/partial', { recursive: true });
      mkdirSync('${folder}/cache/archives/partial', { recursive: true });
      ${steps.join('\n')}
      rmSync('/etc/apt/keyrings/tsalt.gpg');
      told.without = ${update};`,
    );
    for (const name of ['url', 'id', 'hkp'])
      expect(told[name], String(told[name])).toMatchObject({
        [repo]: { uri: `file:${folder}/repo`, signedby: '/etc/apt/keyrings/tsalt.gpg' },
      });
    expect(told).toMatchObject({ 'url taken': 0, 'id taken': 0, 'hkp taken': 0 });
    expect(told.without).not.toBe(0);
    expect(asked).toContain(`/pks/lookup?op=get&options=mr&search=0x${fingerprint}`);
  });

  test('that are not the right ones are refused and nothing is written', async () => {
    const told = await runApart(
      { pkg: 'src/modules/pkg/exec/aptpkg/repos.ts' },
      `import { existsSync } from 'node:fs';
      const add = options => () => pkg.mod_repo(${JSON.stringify(repo)}, { file: '/etc/apt/sources.list.d/tsalt.list', refresh: false, ...options });
      await step('another', add({ keyid: '0123456789ABCDEF', keyserver: 'http://${at}' }));
      await step('more', add({ keyid: '${fingerprint}', keyserver: 'http://${at}/many' }));
      await step('none', add({ key_url: 'http://${at}/other.asc' }));
      await step('short', add({ keyid: '${fingerprint.slice(-8)}', keyserver: 'hkp://${at}' }));
      told.written = ['/etc/apt/keyrings/tsalt.gpg', '/etc/apt/sources.list.d/tsalt.list'].some(one => existsSync(one));`,
    );
    expect(told.another).toBe(
      `failed: The key that was fetched is not 0123456789ABCDEF: its fingerprint is ${fingerprint}.`,
    );
    expect(told.more).toMatch(
      /^failed: The key server sent keys that were not asked for: [0-9A-F]{40}\.$/,
    );
    expect(told.none).toMatch(/is no OpenPGP public key\.$/);
    expect(told.short).toMatch(/^failed: Cannot fetch https:/);
    expect(told.written).toBe(false);
  }, 240_000);

  test('go with their source, and never together with other keys', async () => {
    const told = await runApart(
      {
        repos: 'src/modules/pkg/exec/aptpkg/repos.ts',
        keys: 'src/modules/pkg/exec/aptpkg/keys.ts',
        pkgrepo: 'src/modules/pkg/states/pkgrepo.ts',
      },
      `import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
      const pkg = { ...repos, ...keys };
      context.salt = { ...context.salt, ...contextOf({ pkg }).salt };
      const [one, many] = await Promise.all(['key.asc', 'many'].map(async path => (await fetch('http://${at}/' + path)).text()));
      const own = '/etc/apt/trusted.gpg.d/tsalt-own.asc';
      const list = '/etc/apt/sources.list.d/tsalt-keyed.list';
      const keyed = 'deb file:${folder}/keyed ./';
      const gone = () => pkgrepo.absent(keyed, { keyid: '${fingerprint.slice(-16)}', refresh: false });
      const add = key => { writeFileSync(own, key); writeFileSync(list, keyed + '\\n'); };
      await step('not there', gone);
      add(one);
      await step('both', gone);
      told['both gone'] = !existsSync(own) && !existsSync(list);
      add(many);
      await step('shared', gone);
      told['shared kept'] = existsSync(own) && !existsSync(list);
      mkdirSync('${folder}/rings');
      writeFileSync('${folder}/rings/a.gpg', one);
      await step('ring', () => pkg.del_repo_key(null, false, '${folder}/rings', { keyid: '0x${fingerprint}' }));
      told['ring gone'] = !existsSync('${folder}/rings/a.gpg');
      await step('no id', () => pkg.del_repo_key());`,
    );
    const name = `deb file:${folder}/keyed ./`;
    const keyid = fingerprint.slice(-16);
    expect(told['not there']).toMatchObject({
      result: true,
      changes: {},
      comment: `Package repo ${name} is absent`,
    });
    expect(told.both).toMatchObject({
      result: true,
      changes: { repo: name, keyid },
      comment: `Removed repo ${name}, and keyid ${keyid}`,
    });
    expect(told['both gone']).toBe(true);
    expect(told.shared).toMatchObject({ result: false, changes: { repo: name } });
    expect((told.shared as { comment: string }).comment).toMatch(
      /, but failed to remove key: \/etc\/apt\/trusted\.gpg\.d\/tsalt-own\.asc has other keys too: [0-9A-F]{40}\. Take the key out of it by hand\.$/,
    );
    expect(told).toMatchObject({
      'shared kept': true,
      ring: `0x${fingerprint}`,
      'ring gone': true,
      'no id': 'failed: keyid or keyid_ppa and PPA name must be passed',
    });
  }, 240_000);

  test('are added and listed by themselves', async () => {
    const told = await runApart(
      { pkg: 'src/modules/pkg/exec/aptpkg/keys.ts' },
      `import { readFileSync } from 'node:fs';
      const text = await (await fetch('http://${at}/key.asc')).text();
      const rings = '/etc/apt/keyrings';
      const add = (...words) => () => pkg.add_repo_key(...words);
      await step('none', add());
      await step('no server', add(null, null, null, 'ABCDEF0123456789'));
      await step('no file', add(null, text, null, null, 'base', false));
      await step('text', add(null, text));
      await step('by id', add(null, null, 'http://${at}', '${fingerprint.slice(-16)}', 'base', false, rings, 'tsalt.gpg'));
      await step('again', add(null, null, 'http://127.0.0.1:1', '${fingerprint.slice(-8)}', 'base', false, rings, 'b.gpg'));
      await step('trusted', () => pkg.get_repo_keys());
      await step('ring', () => pkg.get_repo_keys(false));
      told.packets = readFileSync(rings + '/tsalt.gpg')[0] & 0x80;`,
    );
    const keyid = fingerprint.slice(-16);
    expect(told).toMatchObject({
      none: 'failed: pkg.add_repo_key needs path, text or keyserver.',
      'no server': 'failed: No keyserver specified for keyid: ABCDEF0123456789',
      'no file': 'failed: Name the file that the key goes into as keyfile.',
      text: true,
      'by id': true,
      again: true,
      trusted: { [keyid]: { keyid, fingerprint } },
      ring: { [keyid]: { keyid, fingerprint, file: '/etc/apt/keyrings/tsalt.gpg' } },
      packets: 0x80,
    });
  }, 240_000);
});
