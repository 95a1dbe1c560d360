import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { armor, Encrypter, generateIdentity, identityToRecipient } from 'age-encryption';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { hostOpts, templateOpts } from '../../../src/control/facts/host-opts.ts';
import { decryptPillar } from '../../../src/control/pillar/decrypt-pillar.ts';
import { toDict, toPlainDict } from '../../../src/data/values/value.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost, scratch } from '../../helpers/hosts.ts';
import { makeSite } from '../../wrapper/site.ts';

const { path: dir, remove } = scratch('tsalt-keys');
afterAll(remove);
let secret = '';
let others = '';

beforeAll(async () => {
  const identity = await generateIdentity();
  mkdirSync(join(dir, 'keys'));
  writeFileSync(join(dir, 'keys', 'age.key'), identity);
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  secret = armor.encode(await encrypter.encrypt('s3cret'));
  others = armor.encode(await encrypter.encrypt('not yours'));
});

const options = (text: string) => {
  writeFileSync(join(dir, 'tsalt.yaml'), text);
  return loadConfig({ cwd: '/', path: dir, env: {} });
};

const decrypted = async (pillar: PlainDict, text: string): Promise<PlainDict> => {
  const data = toDict(pillar);
  await decryptPillar(data, options(text).options);
  return toPlainDict(data);
};

const age = 'age_identity_file: keys/age.key\ndecrypt_pillar_renderers: [gpg, age]\n';

test('decrypt_pillar decrypts the values at its keys, and nothing else', async () => {
  const pillar = () => ({ db: { user: 'me', pw: secret }, list: [secret, 1], other: secret });
  const wanted = { db: { user: 'me', pw: 's3cret' }, list: ['s3cret', 1], other: secret };
  const asList = `${age}decrypt_pillar: [{'db:pw': age}, list: age, 'not:there', db:user:deeper]\n`;
  expect(await decrypted(pillar(), asList)).toEqual(wanted);
  const otherwise = `${age}decrypt_pillar_default: age\ndecrypt_pillar_delimiter: '|'\ndecrypt_pillar: ['db|pw', list]\n`;
  expect(await decrypted(pillar(), otherwise)).toEqual(wanted);
  const asDict = `${age}decrypt_pillar: {'db:pw': age, list: age}\n`;
  expect(await decrypted(pillar(), asDict)).toEqual(wanted);
});

test('an undecryptable value stops the run and is not shown', async () => {
  const broken = await fault(
    decrypted({ pw: secret.replace('\n', '\nAAAA') }, `${age}decrypt_pillar: [{pw: age}]\n`),
  );
  expect({ code: broken.code, kind: broken.kind }).toEqual({
    code: 'decrypt-pillar',
    kind: 'pillar',
  });
  expect(broken.message).toMatch(/^decrypt_pillar: pillar key 'pw' cannot be decrypted: age: /);
  expect(broken.message).not.toContain('AAAA');
  const notAllowed = await fault(decrypted({ pw: secret }, 'decrypt_pillar: [{pw: age}]\n'));
  expect(notAllowed.message).toContain("decrypt_pillar_renderers allows no 'age'");
  expect((await fault(decrypted({}, 'decrypt_pillar: [1]\n'))).code).toBe('decrypt-pillar');
});

test('templates know where the keys lie, from the folder of the configuration on; hosts do not', () => {
  const config = options('gpg_keydir: keys\nage_identity_file: keys/age.key\n');
  const opts = hostOpts(config, aHost());
  expect(JSON.stringify(opts)).not.toContain('keys');
  expect(toPlainDict(templateOpts(config, opts))).toMatchObject({
    gpg_keydir: join(dir, 'keys'),
    age_identity_file: join(dir, 'keys', 'age.key'),
  });
});

test('a host-supplied message is not decrypted for the host, however a template formats it', async () => {
  const half = Math.floor(others.length / 2);
  const site = await makeSite(
    {
      'tsalt.yaml': `age_identity_file: ${join(dir, 'keys', 'age.key')}\ndecrypt_pillar_renderers: [age]\ndecrypt_pillar: [{late: age}]\n`,
      'pillar/top.sls': "base: {'*': [a, b]}\n",
      'pillar/a.sls': `#!jinja|yaml|age\nown: ${JSON.stringify(secret)}\nwhole: {{ grains.motd | json }}\njoined: {{ (grains.a ~ grains.b) | json }}\nindented: |\n  {{ grains.motd | indent(2) }}\n`,
      'pillar/b.sls': '#!jinja|yaml\nlate: {{ grains.motd | json }}\n',
    },
    { grains: { motd: others, a: others.slice(0, half), b: others.slice(half) } },
  );
  onTestFinished(site.close);
  const pillar = (await site.call('pillar.items')) as PlainDict;
  const kept = others.trim();
  expect(pillar.own).toBe('s3cret');
  for (const key of ['whole', 'joined', 'indented', 'late'])
    expect(String(pillar[key]).trim(), key).toBe(kept);
});
