import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { scratch } from '../../../helpers/hosts.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

vi.setConfig({ testTimeout: 240_000 });

const projects: Project[] = [];
afterEach(async () => {
  for (const made of projects.splice(0)) await made.close();
});

const isRoot = process.getuid?.() === 0;

/** A user that does not exist on any of our machines. */
const stranger = 54_321;

/** The artifact is built once for all tests. */
const { path: cache, remove } = scratch('tsalt-cache');
afterAll(remove);

const config = `known_hosts_file: known_hosts\ncachedir: ${cache}\n`;

/** Ways in which the control node could be made to run code, and the run that would do it. */
const ways: readonly (readonly [
  what: string,
  file: string,
  files: (mark: string) => Record<string, string>,
  words: readonly string[],
])[] = [
  [
    'tsalt.yaml',
    'tsalt.yaml',
    mark => ({ 'tsalt.yaml': `${config}ext_pillar: [{cmd_yaml: 'touch ${mark}; echo {}'}]\n` }),
    ['web1', 'state.apply', 'x'],
  ],
  [
    'a Saltfile',
    'Saltfile',
    () => ({ Saltfile: 'salt-ssh: {max_procs: 1}\n' }),
    ['web1', 'test.ping'],
  ],
  ['a roster', 'roster.yaml', () => ({}), ['web1', 'test.ping']],
  [
    'a roster script',
    'hosts.sh',
    mark => ({ 'hosts.sh': `#!/bin/sh\ntouch ${mark}; echo {}\n` }),
    ['--roster', 'script', '--roster-file', 'hosts.sh', 'web1', 'test.ping'],
  ],
  [
    'what a roster module imports',
    'names.ts',
    mark => ({
      'hosts.ts': "import { hosts } from './names.ts';\nexport default hosts;\n",
      'names.ts': `require('node:fs').writeFileSync('${mark}', '');\nexport const hosts = {};\n`,
    }),
    ['--roster-file', 'hosts.ts', 'web1', 'test.ping'],
  ],
  [
    'the script of an ext_pillar command',
    'ext.sh',
    mark => ({
      'tsalt.yaml': `${config}ext_pillar: [{cmd_yaml: 'sh ext.sh %s'}]\n`,
      'ext.sh': `touch ${mark}; echo {}\n`,
    }),
    ['web1', 'state.apply', 'x'],
  ],
  [
    'an ssh_pre_hook',
    'hook',
    mark => ({ hook: `#!/bin/sh\ntouch ${mark}\n` }),
    ['web1', 'test.ping'],
  ],
  [
    'the program of an sdb profile',
    'store.sh',
    mark => ({
      'tsalt.yaml': `${config}kept: {driver: cmd, get: [./store.sh, '%s']}\n`,
      'store.sh': `#!/bin/sh\ntouch ${mark}\n`,
    }),
    ['web1', 'sdb.get', 'sdb://kept/key'],
  ],
  [
    'an SLS in TypeScript',
    'states/site.sls',
    mark => ({
      'states/site.sls': `#!ts\nrequire('node:fs').writeFileSync('${mark}', '');\nexport default {};\n`,
    }),
    ['web1', 'state.apply', 'site'],
  ],
  [
    'what an SLS in TypeScript imports',
    'states/part.ts',
    mark => ({
      'states/site.sls': "#!ts\nimport './part.ts';\nexport default {};\n",
      'states/part.ts': `require('node:fs').writeFileSync('${mark}', '');\n`,
    }),
    ['web1', 'state.apply', 'site'],
  ],
  [
    'an outputter',
    'states/_outputters/shout.ts',
    mark => ({
      'states/_outputters/shout.ts': `require('node:fs').writeFileSync('${mark}', '');\nexport const output = () => 'x';\n`,
    }),
    ['--out', 'shout', 'web1', 'test.ping'],
  ],
  [
    'a module for hosts',
    'states/_modules/mine.ts',
    mark => ({
      'states/_modules/mine.ts': `export const touch = () => require('node:fs').writeFileSync('${mark}', '');\n`,
    }),
    ['web1', 'mine.touch'],
  ],
  [
    'a top file of the pillar',
    'pillar/top.sls',
    () => ({ 'pillar/top.sls': "base: {'*': [data]}\n", 'pillar/data.sls': 'a: 1\n' }),
    ['web1', 'pillar.item', 'a'],
  ],
];

const prepare = async (
  what: string,
  files: (mark: string) => Record<string, string>,
): Promise<Project & { readonly mark: string }> => {
  const made = await startProject({ files: { 'tsalt.yaml': config } });
  projects.push(made);
  const mark = join(made.dir, 'mark');
  const written = files(mark);
  made.write(written);
  for (const [name, text] of Object.entries(written))
    if (text.startsWith('#!/bin/sh')) chmodSync(join(made.dir, name), 0o755);
  if (what === 'an ssh_pre_hook')
    made.roster(`${made.hosts.web1?.entry}  ssh_pre_hook: ${made.dir}/hook\n`);
  return { ...made, mark };
};

test.each(ways)(
  '%s that every user can write is not used',
  { tags: 'slow' },
  async (what, file, files, words) => {
    const { dir, mark, run } = await prepare(what, files);
    const path = join(dir, file);
    chmodSync(path, 0o666 | (/\.sh$|hook/.test(file) ? 0o111 : 0));
    const refused = await run(...words);
    const told = refused.stdout + refused.stderr;
    expect(told).toMatch(/is not used: it can be written by every user \(mode 0(666|777)\)/);
    expect(refused.code).not.toBe(0);
    expect(existsSync(mark)).toBe(false);
    const accepted = await run('--trust-owner', 'anyone', ...words);
    expect(accepted.stdout + accepted.stderr).not.toContain('is not used');
  },
);

test.runIf(isRoot).each(ways)(
  '%s of another user is not used',
  { tags: 'slow' },
  async (what, file, files, words) => {
    const { dir, mark, run, runWith } = await prepare(what, files);
    chownSync(join(dir, file), stranger, stranger);
    const refused = await run(...words);
    const told = refused.stdout + refused.stderr;
    expect(told).toContain(`is not used: it belongs to the user with uid ${stranger}.`);
    expect(refused.code).not.toBe(0);
    expect(existsSync(mark)).toBe(false);
    const env = { TSALT_TRUST_OWNER: `daemon,${stranger}` };
    const accepted = await runWith({ env }, ...words);
    expect(accepted.stdout + accepted.stderr).not.toContain('is not used');
  },
);

test('a project in a folder that every user can write is not used, nor by -c', async () => {
  const { dir, run, runWith } = await prepare('', () => ({}));
  chmodSync(dir, 0o777);
  const words = ['web1', 'test.ping'];
  const env = { TSALT_CONFIG_DIR: dir };
  for (const refused of [
    await run(...words),
    await run('-c', dir, ...words),
    await runWith({ env }, ...words),
  ]) {
    expect(refused.code).toBe(64);
    expect(refused.stderr).toContain(
      'tsalt-ssh: The configuration is not used: the folder that leads to it can be written by every user (mode 0777).',
    );
    expect(refused.stderr).toContain('--trust-owner anyone');
  }
  chmodSync(dir, 0o775);
  expect((await run(...words)).stdout).toContain('True');
});

test('the Saltfile cannot say whose files are trusted', async () => {
  const { run, write } = await prepare('', () => ({}));
  write({ Saltfile: 'salt-ssh: {trust_owner: anyone}\n' });
  const { code, stderr } = await run('web1', 'test.ping');
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: expect.stringContaining('The Saltfile cannot say whose files are trusted.'),
  });
});

test('a user who does not exist cannot be trusted', async () => {
  const { run } = await prepare('', () => ({}));
  expect(await run('--trust-owner', 'no-such-user', 'web1', 'test.ping')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining("There is no user 'no-such-user' on this machine."),
  });
});

test.runIf(isRoot)(
  'log and output files of other users, and their links, are not written to',
  async () => {
    const { dir, run, hosts } = await prepare('', () => ({}));
    const victim = join(dir, 'victim');
    writeFileSync(victim, 'before', { mode: 0o600 });
    const link = join(dir, 'link');
    symlinkSync(victim, link);
    lchownSync(link, stranger, stranger);
    const own = join(dir, 'theirs');
    writeFileSync(own, '');
    chownSync(own, stranger, stranger);
    for (const path of [link, own])
      for (const option of ['--log-file', '--out-file']) {
        const { code, stderr } = await run(option, path, 'web1', 'test.ping');
        expect({ code, stderr }).toEqual({
          code: 64,
          stderr: expect.stringMatching(
            /The (log|output) file is not used: it belongs to the user with uid 54321/,
          ),
        });
      }
    expect(readFileSync(victim, 'utf8')).toBe('before');
    expect(hosts.web1?.server.counts.connections).toBe(0);
  },
);

test.runIf(isRoot)(
  'neither the cache nor the file of known hosts is in a folder of another user',
  async () => {
    const { dir, run, write } = await prepare('', () => ({ 'theirs/keep': '' }));
    chownSync(join(dir, 'theirs'), stranger, stranger);
    write({ 'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: theirs/cache\n' });
    expect((await run('web1', 'test.ping')).stderr).toContain(
      'The cache folder is not used: the folder that leads to it belongs to',
    );
    write({ 'tsalt.yaml': 'known_hosts_file: theirs/known_hosts\ncachedir: cache\n' });
    const { stdout, stderr } = await run('--accept-new-host-keys', 'web1', 'test.ping');
    expect(stdout + stderr).toContain(
      'The file of known hosts is not used: the folder that leads to it belongs to',
    );
    expect(existsSync(join(dir, 'theirs/known_hosts'))).toBe(false);
  },
);
