import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, snapshot, type TestHost } from '../../states/runner.ts';
import { runThreeTimes } from '../../states/three-runs.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const makeTree = (): string => {
  const tree = join(host.root, 'tree');
  mkdirSync(join(tree, 'app/sub'), { recursive: true });
  writeFileSync(join(tree, 'app/run'), '#!/bin/sh\n', { mode: 0o755 });
  writeFileSync(join(tree, `app/sub/${'long'.repeat(40)}`), 'x'.repeat(2000));
  symlinkSync('run', join(tree, 'app/link'));
  return tree;
};

test.each([
  ['tar.gz', 'czf', 'gzip'],
  ['tar.xz', 'cJf', 'xz'],
  ['tar.bz2', 'cjf', 'bzip2'],
  ['tar', 'cf', 'tar'],
])('a %s is unpacked once, as tar itself does it', async (extension, flags, program) => {
  if (!which(program)) return;
  const tree = makeTree();
  const archive = join(host.root, `a.${extension}`);
  execFileSync('tar', [flags, archive, '-C', tree, 'app']);
  await runThreeTimes(host, {
    title: '',
    fun: 'archive.extracted',
    name: 'ROOT/out',
    args: [archive],
    comment: `${archive} extracted to ROOT/out/, due to absence of one or more files/dirs`,
  });
  expect(
    execFileSync('diff', ['-r', join(tree, 'app'), join(host.root, 'out/app')]).toString(),
  ).toBe('');
});

test.skipIf(!which('python3'))('a zip is unpacked once', async () => {
  const archive = join(host.root, 'a.zip');
  execFileSync('python3', [
    '-c',
    `import shutil;shutil.make_archive(${JSON.stringify(archive.slice(0, -4))},"zip",${JSON.stringify(makeTree())})`,
  ]);
  await runThreeTimes(host, {
    title: '',
    fun: 'archive.extracted',
    name: 'ROOT/out',
    args: [archive],
  });
  expect(readFileSync(join(host.root, 'out/app/run'), 'utf8')).toBe('#!/bin/sh\n');
});

test.each([
  '--strip-components=1',
  '--strip-components 1',
  'xzf --strip=1',
  '-z --strip-components=1 -v',
  '--gzip --verbose --strip-components=1',
])('options "%s" take leading folders off', async written => {
  const archive = join(host.root, 'a.tgz');
  execFileSync('tar', ['czf', archive, '-C', makeTree(), 'app']);
  const options = { options: written, enforce_toplevel: false };
  expect(await host.state('archive.extracted', `${host.root}/out`, archive, options)).toMatchObject(
    { result: true },
  );
  expect(existsSync(join(host.root, 'out/run'))).toBe(true);
});

test('options that would unpack something else are refused', async () => {
  const archive = join(host.root, 'a.tgz');
  execFileSync('tar', ['czf', archive, '-C', makeTree(), 'app']);
  for (const [options, says] of [
    ['-z -C /', 'The option -C of an archive is not supported'],
    ['--transform=s,a,b, --strip-components=1', 'The option --transform=s,a,b, of an archive'],
    ['--strip-components=x', "needs a number, not 'x'"],
    ['app/run none', "has no member 'none'"],
    ['"app', 'A quote is not closed'],
  ] as const)
    expect(
      await host.state('archive.extracted', `${host.root}/out`, archive, { options }),
    ).toMatchObject({ result: false, comment: expect.stringContaining(says) });
  expect(existsSync(join(host.root, 'out'))).toBe(false);
});

test.each([
  '--exclude=b',
  '--exclude=*.txt --exclude=deep',
  "--exclude 'app/a*' --no-same-owner",
  '--exclude=app/deep/b.txt --strip-components=1',
  '--exclude=deep/',
  '--exclude=pp/a.txt',
  'app/deep',
  'app/deep/b app/a.txt --strip 1',
  '--wildcards app/*.txt',
  '--wildcards */b',
  '--wildcards */deep --exclude=*.txt',
])('options "%s" choose the members that tar chooses', async options => {
  for (const name of ['a.txt', 'a', 'b', 'deep/b', 'deep/b.txt', 'deep/er/b/x', 'ab/b.txt'])
    host.write(`tree/app/${name}`, name);
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', join(host.root, 'tree'), 'app']);
  mkdirSync(join(host.root, 'tar'));
  execFileSync('sh', [
    '-c',
    `tar xf ${archive} -C ${host.root}/tar ${options.replace(/[*]/g, "'*'")}`,
  ]);
  const target = join(host.root, 'out');
  const args = { options, enforce_toplevel: false };
  const done = await host.state('archive.extracted', target, archive, args);
  expect(done, String(done.comment)).toMatchObject({ result: true });
  expect(readdirSync(target, { recursive: true }).sort()).toEqual(
    readdirSync(join(host.root, 'tar'), { recursive: true }).sort(),
  );
  expect(await host.state('archive.extracted', target, archive, args)).toMatchObject({
    result: true,
    changes: nothing,
  });
});

test.each([
  ['../evil', 'The archive contains a path outside of its folder, "../evil": refused'],
  ['/evil', 'The archive contains a path outside of its folder, "/evil": refused'],
])('a path that leads outside (%s) is refused', async (name, comment) => {
  host.write('x', 'evil');
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cPf', archive, '--transform', `s,.*,${name},`, '-C', host.root, 'x']);
  expect(await host.state('archive.extracted', `${host.root}/in/out`, archive)).toMatchObject({
    result: false,
    comment,
  });
  expect(existsSync(join(host.root, 'in/evil'))).toBe(false);
});

test('nothing is written through a link that the archive brings', async () => {
  mkdirSync(join(host.root, 'victim'));
  const first = join(host.root, 'a.tar');
  mkdirSync(join(host.root, 't'));
  symlinkSync(join(host.root, 'victim'), join(host.root, 't/d'));
  execFileSync('tar', ['cf', first, '-C', join(host.root, 't'), 'd']);
  execFileSync('rm', [join(host.root, 't/d')]);
  host.write('t/d/evil', 'x');
  execFileSync('tar', ['rf', first, '-C', join(host.root, 't'), 'd/evil']);
  const result = await host.state('archive.extracted', `${host.root}/out`, first);
  expect(result).toMatchObject({
    result: false,
    comment: 'The archive would write through a link, at d/evil: refused',
  });
  expect(existsSync(join(host.root, 'victim/evil'))).toBe(false);
});

test.skipIf(!which('zip'))(
  'a zip under a password is unpacked with it only (needs zip)',
  async () => {
    const archive = join(host.root, 'secret.zip');
    host.write('in/top/one', 'one '.repeat(500));
    host.write('in/top/two', 'x');
    execFileSync('zip', ['-q', '-r', '-P', 's3cret', archive, 'top'], {
      cwd: join(host.root, 'in'),
    });
    const target = join(host.root, 'out');
    const run = (options: object) => host.state('archive.extracted', target, archive, options);
    const locked = {
      result: false,
      comment: `Archive ${archive} is password-protected, but no password was specified. Please set the 'password' argument.`,
    };
    expect(await run({})).toMatchObject(locked);
    expect(await host.test('archive.extracted', target, archive, {})).toMatchObject(locked);
    const wrong = await run({ password: 'wr0ng' });
    expect(wrong).toMatchObject({ result: false });
    expect(wrong.comment).not.toContain('wr0ng');
    const done = await run({ password: 's3cret' });
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(JSON.stringify(done)).not.toContain('s3cret');
    expect(host.file('out/top/one')).toBe('one '.repeat(500));
    expect(host.file('out/top/two')).toBe('x');
    expect((await run({ password: 's3cret' })).changes).toEqual({});
  },
);

test.skipIf(!which('python3'))(
  'a zip64 archive is unpacked (needs python3)',
  { tags: 'slow' },
  async () => {
    const archive = join(host.root, 'large.zip');
    execFileSync('python3', [
      '-c',
      `import zipfile
z = zipfile.ZipFile(${JSON.stringify(archive)}, "w", zipfile.ZIP_DEFLATED)
for n in range(66000):
    z.writestr("top/f%d" % n, str(n) if n > 65990 else "")
with z.open("top/forced", "w", force_zip64=True) as f:
    f.write(b"forced")
z.close()`,
    ]);
    const listed = (await host.call('archive.list', archive)) as string[];
    expect(listed).toHaveLength(66_002);
    expect(listed).toContain('top/f65999');
    const { withZip } = await import('../../../src/modules/archive/zip-reader.ts');
    const texts = await withZip(archive, entries =>
      entries.slice(-2).map(entry => entry.content().toString()),
    );
    expect(texts).toEqual(['65999', 'forced']);
  },
);

test('rar is refused by name', async () => {
  expect(
    await host.state('archive.extracted', join(host.root, 'o'), host.write('a.rar', 'x')),
  ).toMatchObject({
    result: false,
    comment: 'rar archives are not supported: pack them as tar or zip.',
  });
});

test('files that an archive replaces are removed first: its top-level names, or the whole directory', async () => {
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', makeTree(), 'app']);
  const target = join(host.root, 'out');
  const run = (options: object) => host.state('archive.extracted', target, archive, options);
  host.write('out/app/old', 'x');
  host.write('out/beside', 'x');
  expect(await run({ clean: true, clean_parent: true })).toMatchObject({
    result: false,
    comment: "Only one of 'clean' and 'clean_parent' can be set to True",
  });
  expect(await run({ clean: true })).toMatchObject({
    result: true,
    changes: { removed: [`${target}/app/`] },
  });
  expect(existsSync(join(target, 'app/old'))).toBe(false);
  expect(existsSync(join(target, 'beside'))).toBe(true);
  expect((await run({ clean: true })).changes).toEqual({});
  expect(await run({ clean_parent: true, overwrite: true })).toMatchObject({
    result: true,
    changes: {
      removed: `Directory ${target}/ was removed prior to the extraction`,
      directories_created: [`${target}/`],
    },
  });
  expect(existsSync(join(target, 'beside'))).toBe(false);
});

test('another archive of the same name is unpacked with source_hash_update only', async () => {
  const archive = join(host.root, 'a.tar');
  const pack = (text: string): void => {
    host.write('t/app/version', text);
    execFileSync('tar', ['cf', archive, '-C', join(host.root, 't'), 'app']);
  };
  const target = join(host.root, 'out');
  const run = (options: object) => host.state('archive.extracted', target, archive, options);
  const update = { source_hash_update: true };
  pack('1');
  await run(update);
  pack('2');
  expect((await run({})).changes).toEqual({});
  expect(await host.test('archive.extracted', target, archive, update)).toMatchObject({
    result: null,
    comment: `Archive ${archive} would be extracted to ${target}/, due to source_hash update`,
  });
  expect((await run(update)).result).toBe(true);
  expect(host.file('out/app/version')).toBe('2');
  expect((await run(update)).changes).toEqual({});
});

test('with skip_files_list_verify an archive that was unpacked is not looked into', async () => {
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', makeTree(), 'app']);
  const sum = execFileSync('sha512sum', [archive]).toString().split(' ')[0];
  const target = join(host.root, 'out');
  const options = { source_hash: `sha512=${sum}`, skip_files_list_verify: true };
  const run = (more: object = {}) =>
    host.state('archive.extracted', target, archive, { ...options, ...more });
  expect((await run()).result).toBe(true);
  execFileSync('rm', ['-r', join(target, 'app/sub')]);
  expect(await run()).toMatchObject({
    result: true,
    changes: nothing,
    comment: `Archive ${archive} existing source sum is the same as the expected one and skip_files_list_verify argument was set to True. Extraction is not needed`,
  });
  expect(await run({ skip_verify: true })).toMatchObject({
    result: false,
    comment: 'Only one of "skip_files_list_verify" and "skip_verify" can be set to True',
  });
  expect(Object.keys((await run({ skip_files_list_verify: false })).changes)).toEqual([
    'extracted_files',
  ]);
});

test.each([
  [
    { enforce_ownership_on: 'ROOT/elsewhere' },
    "Value for 'enforce_ownership_on' must be within ROOT/out/",
  ],
  [
    { enforce_ownership_on: 'ROOT/out/../elsewhere' },
    "Value for 'enforce_ownership_on' must be within ROOT/out/",
  ],
  [{ password: 'x' }, "The 'password' argument is only supported for zip archives"],
])('archive.extracted refuses %o, in test mode too', async (options, comment) => {
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', makeTree(), 'app']);
  const real = (text: string): string => text.replaceAll('ROOT', host.root);
  const given = Object.fromEntries(Object.entries(options).map(([key, text]) => [key, real(text)]));
  for (const call of [host.test, host.state])
    expect(await call('archive.extracted', join(host.root, 'out'), archive, given)).toMatchObject({
      result: false,
      comment: real(comment),
      changes: nothing,
    });
  expect(existsSync(join(host.root, 'out'))).toBe(false);
});

test('the contents of a tar have the same names before and after it is unpacked', async () => {
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', makeTree(), 'app']);
  const call = ['archive.extracted', join(host.root, 'out'), archive] as const;
  const before = (await host.test(...call)).changes.extracted_files as string[];
  const after = (await host.state(...call)).changes.extracted_files as string[];
  expect(before).toContain('app/sub');
  expect([...after].sort()).toEqual([...before].sort());
});

test('extract_perms is for zip archives: what is in a tar keeps its mode, as in Salt', async () => {
  if (!which('zip')) return;
  const tree = makeTree();
  execFileSync('chmod', ['711', join(tree, 'app')]);
  execFileSync('tar', ['cf', join(host.root, 'a.tar'), '-C', tree, 'app']);
  execFileSync('zip', ['-qr', join(host.root, 'a.zip'), 'app'], { cwd: tree });
  const modeAfter = async (format: string): Promise<string> => {
    const target = join(host.root, format);
    const options = { extract_perms: false };
    await host.state('archive.extracted', target, join(host.root, `a.${format}`), options);
    return (statSync(join(target, 'app')).mode & 0o777).toString(8);
  };
  expect(await modeAfter('tar')).toBe('711');
  expect(await modeAfter('zip')).not.toBe('711');
});

test('archive.extracted names existing files in its way as Salt does', async () => {
  const tree = makeTree();
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', tree, 'app']);
  host.write('out/app', 'x');
  const target = join(host.root, 'out');
  expect(await host.state('archive.extracted', target, archive)).toMatchObject({
    result: false,
    comment: expect.stringMatching(
      /^The below paths \(relative to .*\/out\/\) exist.*\n\n- app\/$/s,
    ),
  });
  expect(await host.state('archive.extracted', target, archive, { user: 'no-such' })).toMatchObject(
    { result: false, comment: 'User no-such does not exist' },
  );
});

test('one folder at the top is asked for as Salt asks: what --strip-components leaves counts', async () => {
  const tree = makeTree();
  execFileSync('tar', ['cf', join(host.root, 'a.tar'), '-C', tree, 'app']);
  execFileSync('tar', ['cf', join(host.root, 'file.tar'), '-C', join(tree, 'app'), 'run']);
  const target = join(host.root, 'out');
  const refused = {
    result: false,
    changes: nothing,
    comment: expect.stringMatching(
      /^Archive does not have a single .*to \S+\/out\/some_dir instead of \S+\/out\/\)\.$/,
    ),
  };
  for (const run of [host.test, host.state]) {
    expect(await run('archive.extracted', target, join(host.root, 'file.tar'))).toMatchObject(
      refused,
    );
    const options = { options: '--strip-components=1' };
    expect(await run('archive.extracted', target, join(host.root, 'a.tar'), options)).toMatchObject(
      refused,
    );
  }
});

test('archive.extracted sets the owner of all below the top level, and below enforce_ownership_on', async () => {
  if (process.getuid?.() !== 0) return;
  const tree = makeTree();
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', tree, 'app']);
  const target = join(host.root, 'out');
  const run = (options: object) => host.state('archive.extracted', target, archive, options);
  const owner = (path: string): number => statSync(join(target, path)).uid;
  await run({});
  host.write('out/app/mine', 'x');
  for (const [options, uid] of [
    [{ user: 'nobody' }, 65534],
    [{ user: 'root', enforce_ownership_on: join(target, 'app') }, 0],
  ] as const) {
    const before = snapshot(host.root);
    expect(await host.test('archive.extracted', target, archive, options)).toMatchObject({
      result: null,
      changes: { 'updated ownership': true },
    });
    expect(snapshot(host.root)).toEqual(before);
    expect(await run(options)).toMatchObject({ changes: { 'updated ownership': true } });
    expect([owner('app'), owner('app/run'), owner('app/mine')]).toEqual([uid, uid, uid]);
    expect(await run(options)).toMatchObject({ result: true, changes: nothing });
  }
});

test('archive.extracted in test mode says what clean and force would take away, and takes nothing', async () => {
  const tree = makeTree();
  const archive = join(host.root, 'a.tar');
  execFileSync('tar', ['cf', archive, '-C', tree, 'app']);
  const target = join(host.root, 'out');
  host.write('out/app/run/x', 'x');
  const before = snapshot(host.root);
  const comments = {
    clean: `Since the 'clean' option is enabled, the destination paths would be cleared and the archive would be extracted.\n\n- app/run`,
    clean_parent: `Since the 'clean_parent' option is enabled, the destination parent directory would be removed first and then re-created and the archive would be extracted`,
    force: `Archive ${archive} would be extracted to ${target}/`,
  };
  for (const [option, comment] of Object.entries(comments))
    expect(await host.test('archive.extracted', target, archive, { [option]: true })).toMatchObject(
      { result: null, comment: expect.stringContaining(comment) },
    );
  expect(snapshot(host.root)).toEqual(before);
});
