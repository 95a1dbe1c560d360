import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type PeakMemory, peakMemory } from '../../../helpers/peak-memory.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let memory: PeakMemory;

const hosts = ['web1', 'web2', 'web3'];

/** 12 MB of records, below one key, in which a host finds `motd`. */
const users = Array.from(
  { length: 50_000 },
  (_, at) =>
    `  user_${at}:\n    uid: ${at}\n    home: /home/user_${at}\n    shell: /bin/bash\n    comment: "the user ${at} ${'x'.repeat(100)}"\n    groups:\n      - wheel\n      - g${at}\n`,
).join('');

beforeAll(async () => {
  project = await startProject({
    hosts,
    files: {
      'pillar/top.sls': "base:\n  '*':\n    - big\n",
      'pillar/big.sls': `users:\n${users}motd: hello\n`,
      'states/motd.sls':
        "{{ grains.root }}/motd:\n  file.managed:\n    - contents: \"{{ pillar['motd'] }} {{ pillar['users']['user_7']['home'] }}\"\n",
    },
  });
  memory = peakMemory(project.dir);
  // The one-time build is not measured.
  await project.run('web1', 'test.ping', '--out=quiet');
});
afterAll(() => project.close());

test('a pillar of 12 MB is parsed once for all hosts, in less than 300 MB', {
  tags: 'slow',
  timeout: 240_000,
}, async () => {
  const { code } = await project.runWith({ env: memory.env }, '*', 'state.apply', 'motd');
  expect(code).toBe(0);
  for (const { root } of Object.values(project.hosts))
    expect(readFileSync(`${root}/motd`, 'utf8')).toBe('hello /home/user_7\n');
  expect(memory.megabytes()).toBeLessThan(300);
});
