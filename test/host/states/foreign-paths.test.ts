import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { LowChunk, PlainDict } from '../../../src/modules/api.ts';
import { makeAccount, type TestAccount } from '../../helpers/accounts.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const isRoot = process.geteuid?.() === 0;

/** The contents of a folder: names, owners, modes and contents. */
const listing = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .sort()
    .map(name => {
      const path = join(folder, name);
      const { uid, gid, mode } = lstatSync(path);
      const text = lstatSync(path).isFile() ? readFileSync(path, 'utf8') : '';
      return [name, uid, gid, mode.toString(8), text].join(' ');
    });

describe.skipIf(!isRoot)('as root, below a directory of another account', () => {
  let host: TestHost;
  let alice: TestAccount;
  let bob: TestAccount;
  /** A folder of root's that no account can write, with a file in it. */
  let secret: string;

  beforeAll(() => {
    alice = makeAccount(['users']);
    bob = makeAccount();
  });
  afterAll(() => {
    alice.remove();
    bob.remove();
  });
  beforeEach(() => {
    host = makeHost();
    secret = mkdtempSync(join(tmpdir(), 'tsalt-secret-'));
    writeFileSync(join(secret, 'target'), 'root=1\n# BEGIN\n# END\nline\n', { mode: 0o600 });
    mkdirSync(join(secret, 'folder'));
    writeFileSync(join(secret, 'folder/inner'), 'x\n', { mode: 0o600 });
    alice.sh('rm -rf work && mkdir work');
    alice.sh(`ln -s ${secret} work/link && ln -s ${secret}/target work/file`);
    return () => {
      host.remove();
      rmSync(secret, { recursive: true });
    };
  });

  const forState = (low: PlainDict): TestHost => host.with({ low: low as unknown as LowChunk });

  const owned = (): PlainDict => ({ user: alice.name, group: alice.name });

  const cases: readonly [string, string, () => unknown[]][] = [
    ['file.managed', 'link/target', () => [{ contents: 'evil', ...owned() }]],
    ['file.managed', 'link/new', () => [{ contents: 'evil', makedirs: true, ...owned() }]],
    ['file.managed', 'link/deep/er/new', () => [{ contents: 'evil', makedirs: true, ...owned() }]],
    ['file.managed', 'file', () => [{ contents: 'evil', ...owned() }]],
    ['file.managed', 'file', () => [{ mode: '0666', replace: false, ...owned() }]],
    ['file.append', 'link/target', () => [{ text: 'evil' }]],
    ['file.append', 'file', () => [{ text: 'evil' }]],
    ['file.prepend', 'file', () => [{ text: 'evil' }]],
    ['file.replace', 'file', () => [{ pattern: 'line', repl: 'evil' }]],
    ['file.line', 'file', () => [{ content: 'evil', mode: 'insert', location: 'end' }]],
    [
      'file.blockreplace',
      'file',
      () => [{ marker_start: '# BEGIN', marker_end: '# END', content: 'evil' }],
    ],
    ['file.comment', 'file', () => ['^line']],
    ['file.keyvalue', 'file', () => [{ key: 'root', value: 'evil', separator: '=' }]],
    ['file.serialize', 'file', () => [{ dataset: { evil: 1 }, serializer: 'json', ...owned() }]],
    ['file.touch', 'link/touched', () => [{}]],
    ['file.absent', 'link/target', () => [{}]],
    ['file.absent', 'link/folder', () => [{}]],
    ['file.copy', 'link/copied', () => ['/etc/hostname', owned()]],
    ['file.rename', 'link/renamed', () => [join(host.root, 'other')]],
    ['file.symlink', 'link/made', () => ['/etc', owned()]],
    ['file.hardlink', 'link/hard', () => ['/etc/hostname']],
    [
      'file.directory',
      'link/folder',
      () => [{ mode: '0777', recurse: ['user', 'mode'], ...owned() }],
    ],
    ['file.directory', 'link/made', () => [{ makedirs: true, ...owned() }]],
    ['file.directory', 'link', () => [{ follow_symlinks: true, mode: '0777', ...owned() }]],
    ['file.directory', 'link', () => [{ clean: true }]],
    ['file.tidied', 'link', () => [{ age: 0, matches: ['.*'] }]],
    ['file.retention_schedule', 'link', () => [{ most_recent: 0 }]],
    ['ini.options_present', 'file', () => [{ sections: { evil: { a: 'b' } } }]],
    ['file.recurse', 'link', () => ['salt://tree', owned()]],
    ['archive.extracted', 'link', () => ['salt://a.tar', { enforce_toplevel: false, ...owned() }]],
  ];

  test.each(cases)(
    '%s of %s leaves what a link of the user leads to',
    async (fun, name, options) => {
      writeFileSync(join(host.root, 'other'), 'other\n');
      host.control.set('tree/target', 'evil\n');
      host.control.set('tree/folder/inner', 'evil\n');
      execFileSync('sh', [
        '-c',
        `cd ${host.root} && mkdir t && echo evil >t/target && tar -cf a.tar -C t target`,
      ]);
      host.control.set('a.tar', readFileSync(join(host.root, 'a.tar')));
      const before = listing(secret);
      const outcome = await host
        .state(fun, join(alice.home, 'work', name), ...options())
        .catch((error: Error) => ({ result: false, comment: error.message }));

      expect(listing(secret)).toEqual(before);
      expect(outcome.result, JSON.stringify(outcome)).not.toBe(true);
      if (!name.startsWith('link/deep'))
        expect(String(outcome.comment)).toContain('unsafe_symlinks');
    },
  );

  test('ssh_auth.present does not follow ~/.ssh to where other accounts have their keys', async () => {
    alice.sh(`rm -rf .ssh; ln -s ${secret} .ssh`);
    const before = listing(secret);
    const outcome = await host
      .state('ssh_auth.present', 'AAAA', alice.name, { enc: 'ssh-ed25519' })
      .catch((error: Error) => ({ result: false, comment: error.message }));
    alice.sh('rm .ssh');

    expect(listing(secret)).toEqual(before);
    expect(outcome.result).toBe(false);
    expect(String(outcome.comment)).toContain('unsafe_symlinks');
  });

  test('a link of the user to what is the user’s own is followed, but not for another user', async () => {
    alice.sh('mkdir work/real; ln -s real work/current');
    const path = join(alice.home, 'work/current/conf');
    const done = await forState({ user: alice.name }).state('file.managed', path, {
      contents: 'x',
      ...owned(),
    });
    const refused = await forState({ user: bob.name }).state('file.managed', path, {
      contents: 'y',
      user: bob.name,
    });

    expect(done.result, String(done.comment)).toBe(true);
    expect(statSync(join(alice.home, 'work/real/conf')).uid).toBe(alice.uid);
    expect(refused.result).toBe(false);
    expect(refused.comment).toContain('can change this symlink');
    // Nothing here would become bob's, so that only his name is in the way.
    await expect(
      forState({ user: bob.name }).state('file.append', path, { text: 'y' }),
    ).rejects.toThrow('can change this symlink');
    expect(readFileSync(path, 'utf8')).toBe('x\n');
  });

  test('unsafe_symlinks follows what is refused otherwise', async () => {
    const done = await forState({ unsafe_symlinks: true }).state(
      'file.managed',
      join(alice.home, 'work/file'),
      { contents: 'meant' },
    );

    expect(done.result, String(done.comment)).toBe(true);
    expect(readFileSync(join(secret, 'target'), 'utf8')).toBe('meant\n');
  });

  test('links of root in a folder of root are followed as ever, a link of another in /tmp is not', async () => {
    symlinkSync('folder', join(secret, 'alias'));
    const done = await host.state('file.managed', join(secret, 'alias/inner'), { contents: 'x' });
    const planted = join('/tmp', `tsalt-planted-${alice.name}`);
    alice.sh(`ln -s ${secret}/target ${planted}`);
    const refused = await host.state('file.managed', planted, { contents: 'evil' });
    rmSync(planted);

    expect(done.result, String(done.comment)).toBe(true);
    expect(refused.result).toBe(false);
    expect(readFileSync(join(secret, 'target'), 'utf8')).toContain('root=1');
  });

  test.each([
    ['a named pipe', 'mkfifo'],
    ['a link to an endless device', 'ln -s /dev/zero'],
    ['a huge file', 'truncate -s 3G'],
  ])('%s in the place of a user’s file fails that state, in time', async (_, make) => {
    alice.sh(`mkdir -p .ssh; rm -f .ssh/*; ${make} .ssh/authorized_keys; ${make} work/odd`);
    const keys = await host
      .state('ssh_auth.present', 'AAAA', alice.name, { enc: 'ssh-ed25519' })
      .catch((error: Error) => ({ result: false, comment: error.message }));
    const edited = await host
      .state('file.append', join(alice.home, 'work/odd'), { text: 'x' })
      .catch((error: Error) => ({ result: false, comment: error.message }));
    alice.sh('rm -r .ssh');

    expect(keys.result, String(keys.comment)).toBe(false);
    expect(edited.result, String(edited.comment)).toBe(false);
  });

  test('a user’s setuid program does not become one of another owner', async () => {
    alice.sh('cp /bin/true work/mine; chmod 6755 work/mine');
    const path = join(alice.home, 'work/mine');
    await host.state('file.directory', join(alice.home, 'work'), {
      user: 'root',
      recurse: ['user'],
    });
    const recursed = statSync(path).mode & 0o7777;
    chownSync(join(alice.home, 'work'), alice.uid, alice.gid);
    chownSync(path, alice.uid, alice.gid);
    chmodSync(path, 0o6755);
    await host.state('file.managed', path, { contents: 'x', user: 'root' });

    expect(recursed).toBe(0o755);
    expect(statSync(path)).toMatchObject({ uid: 0, mode: 0o100755 });
  });

  test("a hard link to a file of root does not change that file's owner", async () => {
    const outside = mkdtempSync(join(alice.home, '../tsalt-hard-'));
    writeFileSync(join(outside, 'target'), 'secret', { mode: 0o600 });
    linkSync(join(outside, 'target'), join(alice.home, 'work/hard'));
    const done = await host
      .state('file.directory', join(alice.home, 'work'), {
        recurse: ['user', 'mode'],
        file_mode: '0666',
        ...owned(),
      })
      .catch((error: Error) => ({ result: false, comment: error.message }));
    const { uid, mode } = statSync(join(outside, 'target'));
    rmSync(outside, { recursive: true });

    expect(done.result).toBe(false);
    expect({ uid, mode: mode & 0o777 }).toEqual({ uid: 0, mode: 0o600 });
  });

  test('a recursive removal stays below its folder, whatever the user swaps meanwhile', {
    tags: 'slow',
  }, async () => {
    const python = `
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
a, b = sys.argv[1].encode(), sys.argv[2].encode()
print('ready', flush=True)
while os.path.lexists(b): libc.renameat2(-100, a, -100, b, 2)
`;
    const victims = mkdtempSync(join(tmpdir(), 'tsalt-victims-'));
    for (let round = 0; round < 30; round += 1) {
      mkdirSync(join(victims, 'd'), { recursive: true });
      for (let at = 0; at < 40; at += 1) writeFileSync(join(victims, `d/f${at}`), 'x');
      alice.sh(
        `rm -rf work/tree work/swap; mkdir -p work/tree/a/d; for i in $(seq 40); do : >work/tree/a/d/f$i; done; ln -s ${victims} work/swap`,
      );
      const tree = join(alice.home, 'work/tree');
      const racer = spawn(
        'python3',
        ['-c', python, join(tree, 'a'), join(alice.home, 'work/swap')],
        {
          uid: alice.uid,
          gid: alice.gid,
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      );
      await new Promise(resolve => racer.stdout.once('data', resolve));
      await host.call('file.remove', tree).catch(() => undefined);
      const ended = new Promise(resolve => racer.once('exit', resolve));
      racer.kill('SIGKILL');
      await ended;
      expect(readdirSync(join(victims, 'd'))).toHaveLength(40);
    }
    rmSync(victims, { recursive: true });
  });

  test('runas puts the user’s variables in force only after the change of the user', async () => {
    const library = join(alice.home, 'none.so');
    alice.sh(
      `printf 'export LD_PRELOAD=%s/none.so\nexport MARK="it'"'"'s\nhere"\n' "$HOME" >.profile`,
    );
    writeFileSync(
      join(secret, 'code.c'),
      `#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void go(void) {
  FILE *f = fopen("${alice.home}/euids", "a");
  if (f) { fprintf(f, "%d\\n", (int)geteuid()); fclose(f); }
}
`,
    );
    execFileSync('gcc', ['-shared', '-fPIC', '-o', library, join(secret, 'code.c')]);
    chmodSync(library, 0o755);
    alice.sh(': >euids; chmod 666 euids');
    const answer = await host.call('cmd.run', 'id -un; id -Gn; echo "$MARK"', {
      runas: alice.name,
    });
    alice.sh('rm .profile');

    expect(answer).toBe(`${alice.name}\n${alice.name} users\nit's\nhere`);
    const euids = new Set(readFileSync(join(alice.home, 'euids'), 'utf8').trim().split('\n'));
    expect([...euids]).toEqual([String(alice.uid)]);
  });
});
