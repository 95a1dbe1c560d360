import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as hashutil from '../../../src/modules/hashutil/exec/hashutil.ts';
import * as random from '../../../src/modules/user/exec/random.ts';
import { contextOf, within } from '../../modules/_context.ts';

const run = <T>(work: () => Promise<T>): Promise<T> =>
  within(contextOf({}, { grains: { id: 'web1' } }), work);

const python = (...lines: string[]): unknown =>
  JSON.parse(
    execFileSync(
      which('python3') ?? '',
      ['-c', ['import random, json, hashlib', ...lines].join('\n')],
      {
        encoding: 'utf8',
      },
    ),
  );

test('a seed chooses the same as in Salt', async () => {
  expect(await run(() => random.seed(60))).toBe(52);
  expect(await run(() => random.seed(60, 'backup'))).toBe(54);
  expect(await run(() => random.rand_int(1, 100, { seed: 42 }))).toBe(82);
  expect(await run(() => random.rand_int(1, 100, { seed: 'a' }))).toBe(35);
});

test.skipIf(!which('python3'))(
  'seeds agree with Python for many seeds (needs python3)',
  async () => {
    const seeds = Array.from({ length: 40 }, (_, at) => `host${at}`);
    const numbers = [0, 1, 255, 256, 65_536, 2 ** 31, 2 ** 40];
    const told = python(
      `seeds = json.loads('${JSON.stringify(seeds)}')`,
      `numbers = json.loads('${JSON.stringify(numbers)}')`,
      'def pick(s, n):',
      '    random.seed(s); return random.randrange(n)',
      'def some(s):',
      '    return random.Random(hashlib.sha512(s.encode()).hexdigest()).sample(list(range(30)), 5)',
      'print(json.dumps([[pick(s, 3600) for s in seeds], [pick(n, 1000) for n in numbers], [some(s) for s in seeds]]))',
    );
    const list = Array.from({ length: 30 }, (_, at) => at);
    expect([
      await Promise.all(seeds.map(seed => run(() => random.seed(3600, seed)))),
      await Promise.all(numbers.map(seed => run(() => random.rand_int(0, 999, { seed })))),
      await Promise.all(seeds.map(seed => run(() => random.sample(list, 5, { seed })))),
    ]).toEqual(told);
  },
);

test('a text has the characters it may have', async () => {
  expect(await run(() => random.get_str(50, { punctuation: false }))).toMatch(/^[a-zA-Z0-9]{50}$/);
  expect(await run(() => random.get_str(50, { chars: 'ab' }))).toMatch(/^[ab]{50}$/);
  const blank = { lowercase: false, uppercase: false, digits: false, punctuation: false };
  expect(await run(() => random.get_str(20, { ...blank, whitespace: true }))).toMatch(/^\s{20}$/);
  await expect(run(() => random.get_str(20, blank))).rejects.toThrow('No characters');
});

test('a list is mixed and loses nothing', async () => {
  const list = ['a', 'b', 'c', 'd', 'e'];
  expect((await run(() => random.shuffle(list))).toSorted()).toEqual(list);
  expect(await run(() => random.shuffle(list, { seed: 'x' }))).toEqual(
    await run(() => random.sample(list, 5, { seed: 'x' })),
  );
  await expect(run(() => random.sample(list, 6))).rejects.toThrow('There are 5 to choose from');
});

test('a password hash is one of shadow(5)', async () => {
  expect(await run(() => random.shadow_hash('saltsalt', 'hunter2', 'sha256'))).toMatch(
    /^\$5\$saltsalt\$[./A-Za-z0-9]{43}$/,
  );
  expect(await run(() => random.shadow_hash())).toMatch(/^\$6\$/);
  await expect(run(() => random.shadow_hash('x', 'y', 'md5'))).rejects.toThrow("'md5'");
});

test("GitHub's signature is that of its algorithm", async () => {
  const sha1 = 'sha1=6b3fbf1c1a3cf55c0a3ff0ee59c0df86a5ed6e79';
  expect(await run(() => hashutil.github_signature('get salted', 'shared secret', sha1))).toBe(
    false,
  );
  const right = await run(() => hashutil.hmac_compute('get salted', 'shared secret'));
  expect(
    await run(() => hashutil.github_signature('get salted', 'shared secret', `sha256=${right}`)),
  ).toBe(true);
});

test('no number lies between bounds that are the wrong way round', async () => {
  await expect(run(() => random.rand_int(10, 1, { seed: 1 }))).rejects.toThrow(
    'no whole number from 10 to 1',
  );
  await expect(run(() => random.rand_int(10, 1))).rejects.toThrow('no whole number');
});

test('bounds beyond 32 bits are those of Python too', async () => {
  expect(await run(() => random.rand_int(1, 10 ** 12, { seed: 7 }))).toBe(434_439_589_176);
  expect(await run(() => random.rand_int(0, 2 ** 40, { seed: 'a' }))).toBe(217_283_399_212);
});

test('base64 that was cut off is refused, other characters in it are passed over', async () => {
  expect(await run(() => hashutil.base64_b64decode('Z2V0 IHNh\nbHRlZA=='))).toBe('get salted');
  for (const cut of ['a', 'abcdef', 'Z2V0IHNhbHRlZA='])
    await expect(run(() => hashutil.base64_b64decode(cut))).rejects.toThrow('not base64');
});

test('hashes of random bytes go by the names of Python, and others are refused', async () => {
  expect(await run(() => random.rand_str(16, 'sha3_256'))).toMatch(/^[0-9a-f]{64}$/);
  await expect(run(() => random.rand_str(16, 'odd'))).rejects.toThrow('a valid algorithm, not odd');
});
