import { beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { ntHash } from '../../../src/modules/samba/nt-hash.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';

test('an NT hash is MD4 of UTF-16, of passwords of any length', () => {
  // By Samba's own pdbedit, and for the longer ones by OpenSSL's legacy MD4.
  expect(ntHash('')).toBe('31D6CFE0D16AE931B73C59D7E0C089C0');
  expect(ntHash('pw1')).toBe('48B8EFC2F1CAFF1D40153937B3DB9C5A');
  expect(ntHash('pw2')).toBe('D25B088BA6991B38A960C3CFCA03953C');
});

const modules = {
  pdbedit: 'src/modules/samba/exec/pdbedit.ts',
  account: 'src/modules/samba/states/pdbedit.ts',
};

const code = `
  import { writeFileSync } from 'node:fs';
  import { commandLines } from ${JSON.stringify(new URL('../../helpers/command-lines.ts', import.meta.url).pathname)};
  const secret = ['hush', 'hush'].join('-');
  const hash = ['A70C708517B5DD0E', 'DB67714FE25336EB'].join('');
  const words = { create: ['--cre', 'ate'].join(''), import: ['--im', 'port'].join(''), secret, hash };
  const seen = {};
  const watch = setInterval(() => {
    const all = commandLines().join('\\n');
    for (const [what, word] of Object.entries(words)) seen[what] = (seen[what] ?? false) || all.includes(word);
  }, 1);
  writeFileSync('/etc/samba/smb.conf', '[global]\\nnetbios name = T\\npassdb backend = tdbsam\\n');
  const full = {
    password: secret, fullname: "It's $(id)", drive: 'X:', homedir: '\\\\\\\\s\\\\h',
    profile: 'p', script: 's.bat', account_desc: 'a b', account_control: 'nx', user_sid: 4321,
  };
  await step('nobody', () => account.managed('games', { fullname: 'x' }));
  await thrice('added', () => account.managed('games', full));
  await thrice('hashed', () => account.managed('games', { password: hash.toLowerCase(), password_hashed: true }));
  await thrice('fields', () => account.present('games', { drive: 'Y:', account_control: '[D]', fullname: '' }));
  await thrice('password', () => account.managed('games', { password: secret + '2' }));
  await step('games', () => pdbedit.get('games', true));
  await thrice('new hash', () => account.managed('news', { password: hash, password_hashed: true }));
  await step('news', () => pdbedit.get('news', true));
  await step('bad hash', () => account.managed('news', { password: 'xyz', password_hashed: true }));
  await step('unknown', () => account.managed('no-such-user', { password: secret }));
  await step('resets', () => account.managed('news', { reset_login_hours: true, reset_bad_password_count: true }));
  await step('list', () => pdbedit.list_(false));
  await thrice('absent', () => account.absent('news'));
  clearInterval(watch);
  told.seen = seen;
`;

describe.skipIf(!which('pdbedit') || !canRunApart())('a real pdbedit', { timeout: 240_000 }, () => {
  let told: Record<string, { comment?: string; changes?: unknown } & object>;
  beforeAll(async () => {
    told = (await runApart(modules, code, ['/var'], 100)) as typeof told;
  }, 240_000);

  const expectSettled = (name: string, changes: object): void => {
    expect(told[`${name} told`], name).toMatchObject({ result: null, changes });
    expect(told[name], JSON.stringify(told[name])).toMatchObject({ result: true, changes });
    expect(told[`${name} again`], name).toMatchObject({ result: true });
    expect(told[`${name} again`]).toHaveProperty('changes', {});
  };
  const hidden = { old: '<redacted>', new: '<redacted>' };

  test('an account comes with a password and all that is said of it', () => {
    expect(told.nobody).toMatchObject({ result: false, changes: {} });
    expectSettled('added', { games: 'created' });
    expectSettled('fields', {
      games: {
        'homedir drive': { old: 'X:', new: 'Y:' },
        'full name': { old: "It's $(id)", new: '' },
      },
    });
    expect(told.fields).toHaveProperty('changes.games.account flags');
    expectSettled('password', { games: { 'nt hash': hidden } });
    expect(told.games).toMatchObject({
      'account flags': '[DU         ]',
      'home directory': '\\\\s\\h',
      'logon script': 's.bat',
      'profile path': 'p',
      'account desc': 'a b',
      'nt hash': ntHash('hush-hush2'),
    });
  });

  test('a hash is set, and the account keeps its SID and its fields', () => {
    expectSettled('hashed', { games: { 'nt hash': hidden } });
    const { games } = (told.hashed as { changes: { games: object } }).changes;
    expect(Object.keys(games).filter(key => !key.startsWith('password '))).toEqual(['nt hash']);
    expect(told.games).toHaveProperty('user sid', expect.stringMatching(/-4321$/));
    expectSettled('new hash', { news: 'created' });
    expect(told.news).toMatchObject({ 'nt hash': 'A70C708517B5DD0EDB67714FE25336EB' });
    expect(told['bad hash']).toMatchObject({ result: false, changes: {} });
  });

  test('impossible requests are reported, and an account is removed', () => {
    expect(told.unknown).toMatchObject({ result: false, changes: {} });
    expect(told.unknown?.comment).toContain('no-such-user');
    expect(told.resets).toMatchObject({ result: true, changes: {} });
    expect(told.list).toEqual(['games', 'news']);
    expectSettled('absent', { news: 'deleted' });
  });

  test('neither a password nor a hash is in the arguments of a process', () => {
    expect(told.seen).toMatchObject({ secret: false, hash: false });
    expect(JSON.stringify(told)).not.toContain('hush-hush2');
  });
});
