import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-svn-'));
const url = `file://${folder}/repository`;
let host: TestHost;
const programs = notedPrograms();

const slow = 60_000;

const has = which('svn') !== undefined;
const real = test.skipIf(!has);
beforeAll(() => {
  host = makeHost();
  if (!has) return;
  execFileSync('svnadmin', ['create', join(folder, 'repository')]);
  mkdirSync(join(folder, 'first'));
  writeFileSync(join(folder, 'first', 'readme'), 'one\n');
  execFileSync('svn', ['import', '-q', '-m', 'first', join(folder, 'first'), `${url}/trunk`]);
}, slow);
afterAll(() => {
  host.remove();
  removeFolder(folder);
});

const change = async (text: string): Promise<void> => {
  await host.call('svn.checkout', folder, `${url}/trunk`, 'work');
  writeFileSync(join(folder, 'work', 'readme'), text);
  await host.call('svn.commit', join(folder, 'work'), null, `say ${text.trim()}`);
  rmSync(join(folder, 'work'), { recursive: true });
};

real(
  'a working copy comes, follows the repository, and stays',
  async () => {
    const target = join(folder, 'it’s @ home');
    const options = { target };
    const name = `${url}/trunk`;
    expect(await host.test('svn.latest', name, options)).toEqual({
      name,
      result: null,
      changes: { new: name },
      comment: `${target} doesn't exist and is set to be checked out at revision HEAD.`,
    });
    expect(await host.state('svn.latest', name, options)).toMatchObject({
      result: true,
      changes: { new: name, revision: '1' },
      comment: expect.stringContaining('Checked out revision 1.'),
    });
    expect(await host.test('svn.latest', name, options)).toMatchObject({ result: true });
    expect(await host.state('svn.latest', name, options)).toMatchObject({
      result: true,
      changes: nothing,
    });
    await change('two\n');
    const changes = { revision: '1 => 2' };
    expect(await host.test('svn.latest', name, options)).toMatchObject({
      result: null,
      changes,
      comment: expect.stringContaining('+two'),
    });
    expect(readFileSync(join(target, 'readme'), 'utf8')).toBe('one\n');
    expect(await host.state('svn.latest', name, options)).toMatchObject({ result: true, changes });
    expect(readFileSync(join(target, 'readme'), 'utf8')).toBe('two\n');
    expect(await host.state('svn.latest', name, { target, rev: 1 })).toMatchObject({
      changes: { revision: '2 => 1' },
    });
  },
  slow,
);

real(
  'what cannot be a working copy is refused',
  async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await host.state('svn.latest', url, { target: join(folder, 'file') })).toMatchObject({
      result: false,
      comment: `The path "${folder}/file" exists and is not a directory.`,
    });
    expect(await host.state('svn.latest', url)).toMatchObject({
      result: false,
      comment: 'Target option is required',
    });
    expect(await host.test('svn.latest', url, { target: join(folder, 'first') })).toMatchObject({
      result: false,
    });
    expect(
      await host.state('svn.latest', `${url}/none`, { target: join(folder, 'none') }),
    ).toMatchObject({ result: false, comment: expect.stringContaining("doesn't exist") });
  },
  slow,
);

real(
  'an export has no folder of svn, and writes over others only by force',
  async () => {
    const target = join(folder, 'exported @ home');
    const changes = { new: url, comment: `${url} was Exported to ${target}` };
    expect(await host.test('svn.export', url, { target })).toMatchObject({ result: null });
    expect(await host.state('svn.export', url, { target })).toMatchObject({
      result: true,
      changes,
    });
    expect(readFileSync(join(target, 'trunk/readme'), 'utf8')).toMatch(/one|two/);
    expect(await host.test('svn.export', url, { target })).toMatchObject({ result: false });
    expect(await host.state('svn.export', url, { target })).toMatchObject({ result: false });
    expect(await host.test('svn.export', url, { target, force: true })).toMatchObject({
      result: null,
    });
    expect(await host.state('svn.export', url, { target, force: true })).toMatchObject({ changes });
  },
  slow,
);

real(
  'the functions work on a working copy',
  async () => {
    await host.call('svn.checkout', folder, `${url}/trunk`, 'copy');
    const copy = join(folder, 'copy');
    writeFileSync(join(copy, 'a b'), 'new\n');
    expect(await host.call('svn.status', copy)).toMatch(/^\? +a b$/);
    expect(await host.call('svn.add', copy, "'a b'")).toMatch(/^A +a b$/);
    expect(await host.call('svn.diff', copy)).toContain('+new');
    expect(await host.call('svn.commit', copy, null, 'more')).toContain('Committed revision');
    expect(await host.call('svn.update', copy, null, null, null, null, '-r', 1)).toContain(
      'revision 1',
    );
    const [facts] = (await host.call('svn.info', copy, null, null, null, null, 'dict')) as [
      Record<string, string>,
    ];
    expect(facts).toMatchObject({ Revision: '1', URL: `${url}/trunk`, 'Node Kind': 'directory' });
    expect(await host.call('svn.info', copy, null, null, null, null, 'list')).toEqual([
      Object.entries(facts),
    ]);
    expect(await host.call('svn.info', copy, null, null, null, null, 'xml')).toMatch(/^<\?xml/);
    await host.call('svn.update', copy);
    expect(await host.call('svn.remove', copy, "'a b'")).toMatch(/^D +a b$/);
    await expect(host.call('svn.update', folder, null, null, null, null, '--odd')).rejects.toThrow(
      /invalid option: --odd[\s\S]*svn --non-interactive update --odd/,
    );
  },
  slow,
);

real(
  'a password is in no command line, and in no error',
  async () => {
    programs.program('svn', 'cat >&2; exit 1');
    const failing = host.call('svn.info', folder, url, null, 'ann', 'se cret');
    await expect(failing).rejects.toThrow(/svn --non-interactive info/);
    expect(programs.log()).toEqual([
      `svn --non-interactive info --username ann --password-from-stdin ${url}`,
    ]);
  },
  slow,
);

real(
  'the password of an address is in no command line, answer or error',
  async () => {
    programs.program('svn', 'cat > "$0.stdin"; echo "at https://ann:s3cret@h/x" >&2; exit 1');
    const name = 'https://ann:s3cret@h/x';
    const failing = await host.state('svn.latest', name, { target: join(folder, 'w') });
    expect(failing).toMatchObject({ result: false });
    expect(failing.comment).toContain('at https://<redacted>@h/x');
    expect(failing.comment).not.toContain('s3cret');
    expect(programs.log()).toEqual([
      'svn --non-interactive checkout --username ann --password-from-stdin -- https://h/x w',
    ]);
    expect(readFileSync(join(programs.folder(), 'svn.stdin'), 'utf8')).toBe('s3cret\n');
    const told = await host.test('svn.latest', name, { target: join(folder, 'w') });
    expect(told.changes).toEqual({ new: 'https://<redacted>@h/x' });
  },
  slow,
);

real(
  'a folder whose name begins as an option does is a folder',
  async () => {
    const target = join(folder, '--version');
    const name = `${url}/trunk`;
    const made = await host.state('svn.latest', name, { target });
    expect(made).toMatchObject({ result: true, changes: { new: name } });
    expect(await host.test('svn.latest', name, { target })).toMatchObject({ result: true });
    await host.call('svn.export', folder, name, '-q');
    expect(readFileSync(join(folder, '-q', 'readme'), 'utf8')).not.toBe('');
  },
  slow,
);
