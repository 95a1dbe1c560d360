import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkHostKey, parseKnownHosts } from '../../../src/transport/known-hosts.ts';
import { newKey } from '../../helpers/embedded-server.ts';
import { scratch } from '../../helpers/hosts.ts';
import { seeded } from '../../helpers/random.ts';
import { hasSshd, type Sshd, startSshd } from '../../helpers/sshd.ts';

// A corpus of known_hosts files, each judged by OpenSSH's own client and by us: the same host
// key, shown under the name web1 on port 22 or 2222.
const isThere = hasSshd && existsSync('/usr/bin/ssh') && existsSync('/bin/bash');
const count = Number(process.env.TSALT_KNOWN_HOSTS_CASES ?? 200);
const seed = Number(process.env.TSALT_SEED ?? 7);

const { path: dir, remove } = scratch();
let sshd: Sshd;
beforeAll(async () => {
  if (isThere) sshd = await startSshd({ dir: join(dir, 'sshd') });
}, 240_000);
afterAll(async () => {
  await sshd?.close();
  remove();
});

const hashed = (name: string): string => {
  const salt = Buffer.alloc(20, 5);
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
};

const fixed: [names: string, key: 'own' | 'other' | 'rsa', marker?: string | undefined][][] = [
  [['web1', 'own']],
  [['web1', 'other']],
  [['web1', 'rsa']],
  [
    ['web1', 'rsa'],
    ['web1', 'own'],
  ],
  [['[web1]:2222', 'own']],
  [['[web1]:2222', 'rsa']],
  [['[web1]:2222', 'other']],
  [[hashed('web1'), 'own']],
  [[hashed('[web1]:2222'), 'own']],
  [['WEB1', 'own']],
  [['*,!web1', 'own']],
  [['!web1', 'own']],
  [
    ['web1', 'own'],
    ['*', 'own', '@revoked'],
  ],
  [['web1', 'own', '@cert-authority']],
  [
    ['web1', 'own'],
    ['web2', 'own', '@revoked'],
  ],
  [['web1', 'own', '@strange']],
];

const names = [
  'web1',
  'WEB1',
  'web2',
  'web*',
  'w?b1',
  '!web1',
  '*',
  '!web2',
  '[web1]:2222',
  '[web*]:2222',
  '[web1]:*',
];

const cases = (): string[] => {
  const keys = { own: sshd.hostKeys[0], other: newKey().public, rsa: newKey('rsa').public };
  const line = ([name, key, marker]: (typeof fixed)[number][number]): string =>
    `${marker ? `${marker} ` : ''}${name} ${keys[key]}`;
  const random = seeded(seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const made = Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const list = Array.from({ length: 1 + Math.floor(random() * 3) }, () => pick(names)).join(
        ',',
      );
      const name = pick([list, list, list, hashed('web1'), hashed('[web1]:2222')]);
      return line([
        name,
        pick(['own', 'own', 'other', 'rsa']),
        pick([undefined, undefined, undefined, '@revoked', '@cert-authority']),
      ]);
    }).join('\n'),
  );
  return [...fixed.map(lines => lines.map(line).join('\n')), ...made];
};

const askOpenssh = (file: string, port: number): Promise<string> =>
  new Promise(resolve => {
    const options = [
      'StrictHostKeyChecking=yes',
      'BatchMode=yes',
      `UserKnownHostsFile=${file}`,
      'GlobalKnownHostsFile=/dev/null',
      'PubkeyAuthentication=no',
      'UpdateHostKeys=no',
      'KexAlgorithms=curve25519-sha256',
      `ProxyCommand=bash -c "exec 2>/dev/null 3<>/dev/tcp/127.0.0.1/${sshd.port}; cat <&3 & exec cat >&3"`,
    ].flatMap(option => ['-o', option]);
    const args = ['-F', '/dev/null', ...options, '-p', String(port), 'web1', 'true'];
    execFile('/usr/bin/ssh', args, { timeout: 240_000 }, (_error, _stdout, stderr) => {
      if (/REVOKED HOST KEY/.test(stderr)) resolve('revoked');
      else if (/IDENTIFICATION HAS CHANGED/.test(stderr)) resolve('changed');
      else if (/host key is known for/.test(stderr)) resolve('unknown');
      else if (/Permission denied/.test(stderr)) resolve('known');
      else resolve(`no verdict: ${stderr}`);
    });
  });

test.skipIf(!isThere)(
  `OpenSSH and we judge ${fixed.length + count} known_hosts files alike, on two ports`,
  { tags: 'slow', timeout: 300_000 },
  async () => {
    const key = Buffer.from(sshd.hostKeys[0]?.split(' ')[1] ?? '', 'base64');
    const todo = cases().flatMap((text, index) => [22, 2222].map(port => ({ text, index, port })));
    const differences: string[] = [];
    const seen = new Set<string>();
    const work = async (): Promise<void> => {
      for (let next = todo.shift(); next; next = todo.shift()) {
        const { text, index, port } = next;
        const file = join(dir, `known_hosts-${index}-${port}`);
        writeFileSync(file, `${text}\n`);
        const theirs = await askOpenssh(file, port);
        const entries = parseKnownHosts(readFileSync(file, 'utf8'), file);
        const ours = checkHostKey(entries, { host: 'web1', port }, key).verdict;
        seen.add(theirs);
        if (ours !== theirs) differences.push(`port ${port}: ssh ${theirs}, we ${ours}\n${text}`);
      }
    };
    await Promise.all([work(), work(), work(), work()]);
    expect(differences).toEqual([]);
    expect([...seen].sort()).toEqual(['changed', 'known', 'revoked', 'unknown']);
  },
);
