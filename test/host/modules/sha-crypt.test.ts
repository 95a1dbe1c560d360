import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shaCrypt } from '../../../src/modules/user/sha-crypt.ts';

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

test('hashes as the specification says', () => {
  expect(shaCrypt('Hello world!', 'saltstring')).toBe(
    '$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1',
  );
  expect(shaCrypt('Hello world!', 'saltstring', 'sha256')).toBe(
    '$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5',
  );
  expect(shaCrypt('Hello world!', 'rounds=10000$saltstringsaltstring')).toBe(
    '$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.',
  );
});

test.skipIf(!hasOpenssl)('hashes as openssl does', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 80 }).filter(text => !/[\0\n\r]/.test(text)),
      fc.stringMatching(/^[a-zA-Z0-9./]{1,16}$/),
      (password, salt) => {
        const openssl = (kind: string): string =>
          spawnSync('openssl', ['passwd', kind, '-salt', salt, '-stdin'], {
            input: password,
          })
            .stdout.toString()
            .trim();
        expect(shaCrypt(password, salt)).toBe(openssl('-6'));
        expect(shaCrypt(password, salt, 'sha256')).toBe(openssl('-5'));
      },
    ),
    { numRuns: 15 },
  );
});
