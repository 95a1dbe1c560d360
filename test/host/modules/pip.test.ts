// @module-tag slow
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import type { Plain } from '../../../src/modules/api.ts';
import * as pipInstall from '../../../src/modules/python_pkg/exec/pip/install.ts';
import * as pipList from '../../../src/modules/python_pkg/exec/pip/list.ts';
import * as pipUpgrades from '../../../src/modules/python_pkg/exec/pip/upgrades.ts';
import type { PipOptions } from '../../../src/modules/python_pkg/pip-run.ts';
import {
  comparePython,
  parseRequirement,
  satisfies,
} from '../../../src/modules/python_pkg/python-version.ts';
import * as state from '../../../src/modules/python_pkg/states/pip_state.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const pip = { ...pipInstall, ...pipList, ...pipUpgrades };
const folder = mkdtempSync(join(tmpdir(), 'tsalt-pip-'));
const venv = join(folder, 'venv');
const hasVenv = spawnSync('python3', ['-m', 'venv', venv]).status === 0;

afterAll(() => removeFolder(folder));

/** A wheel with nothing in it but its name. */
const wheel = (name: string, version: string): void => {
  const links = join(folder, 'links');
  mkdirSync(links, { recursive: true });
  const code = `
import zipfile
info = '${name}-${version}.dist-info'
with zipfile.ZipFile('${links}/${name}-${version}-py3-none-any.whl', 'w') as z:
    z.writestr(info + '/METADATA', 'Metadata-Version: 2.1\\nName: ${name}\\nVersion: ${version}\\n')
    z.writestr(info + '/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    z.writestr(info + '/RECORD', '')
`;
  expect(spawnSync('python3', ['-c', code]).status).toBe(0);
};

test.skipIf(!hasVenv)(
  'packages come and go in a virtual environment',
  { timeout: 180_000 },
  async () => {
    wheel('tsalt_probe', '1.0');
    wheel('tsalt_probe', '2.0');
    const context = contextOf({ pip });
    const options = { bin_env: venv, no_index: true, find_links: join(folder, 'links') };
    const wanted = 'tsalt-probe<2';
    expect(await within(testing(context), () => state.installed(wanted, options))).toMatchObject({
      result: null,
      comment: 'Python package tsalt-probe<2 is set to be installed',
    });
    const first = await within(context, () => state.installed(wanted, options));
    expect(first).toMatchObject({
      result: true,
      comment: 'All packages were successfully installed',
    });
    expect(Object.keys(first.changes).join()).toMatch(/^tsalt[-_]probe==1\.0$/);
    expect(await within(context, () => state.installed(wanted, options))).toMatchObject({
      changes: nothing,
      result: true,
    });
    await within(context, () => state.installed('tsalt_probe>=2', options));
    expect(
      Object.values(await within(context, () => pip.list('tsalt', { bin_env: venv }))),
    ).toEqual(['2.0']);
    expect(await within(context, () => state.installed('no-such-thing', options))).toMatchObject({
      result: false,
      comment: expect.stringContaining('No matching distribution found'),
    });
    expect(
      await within(context, () => state.removed('tsalt-probe', { bin_env: venv })),
    ).toMatchObject({
      changes: { 'tsalt-probe': 'Removed' },
    });
    expect(
      await within(context, () => state.removed('tsalt-probe', { bin_env: venv })),
    ).toMatchObject({
      changes: nothing,
      comment: 'Package is not installed.',
    });
  },
);

test.skipIf(!hasVenv)(
  'packages are brought up to date, and what their index has is told',
  { timeout: 180_000 },
  async () => {
    for (const version of ['1.0', '2.0', '3.0rc1']) wheel('tsalt_new', version);
    const env_vars = { PIP_NO_INDEX: '1', PIP_FIND_LINKS: join(folder, 'links') };
    const where = { bin_env: venv, env_vars };
    const context = contextOf({ pip });
    const run = <T>(work: () => Promise<T>) => within(context, work);
    const requirements = join(folder, 'requirements.txt');
    const log = join(folder, 'pip.log');
    writeFileSync(requirements, 'tsalt-new==1.0\n');
    const files = { ...where, requirements, log, cert: '', exists_action: 'i' };
    expect(await run(() => state.installed('from-file', files))).toMatchObject({
      result: true,
      changes: { requirements: true },
      comment: `Successfully processed requirements file ${requirements}.`,
    });
    expect(await run(() => state.installed('from-file', files))).toMatchObject({
      result: true,
      changes: nothing,
      comment: 'Requirements were already installed.',
    });
    expect(readFileSync(log, 'utf8')).toContain('tsalt-new');
    expect(await run(() => pip.list_freeze_parse('tsalt', where))).toMatchObject({
      [Object.keys(await run(() => pip.list('tsalt-new', where))).at(0) ?? 'tsalt_new']: '1.0',
    });
    expect(await run(() => pip.list_all_versions('tsalt-new', where))).toEqual(['1.0', '2.0']);
    const all = { ...where, include_rc: true };
    expect(await run(() => pip.list_all_versions('tsalt-new', all))).toContain('3.0rc1');
    expect(await run(() => pip.upgrade_available('tsalt-new', where))).toBe(true);
    expect(Object.values(await run(() => pip.list_upgrades(where)))).toContain('2.0 [wheel]');
    expect(await within(testing(context), () => state.uptodate('all', where))).toMatchObject({
      result: null,
      changes: nothing,
    });
    const done = await run(() => state.uptodate('all', where));
    expect(Object.values(done.changes)).toEqual([{ old: '1.0', new: '2.0' }]);
    expect(await run(() => state.uptodate('all', where))).toMatchObject({
      result: true,
      changes: nothing,
      comment: 'System is already up-to-date.',
    });
    expect(await run(() => state.removed('tsalt-new', { ...where, requirements }))).toMatchObject({
      changes: { 'tsalt-new': 'Removed' },
    });
    expect(await run(() => state.installed('x', { ...where, use_wheel: true }))).toMatchObject({
      result: false,
      comment: expect.stringContaining(
        'pip has no option for use_wheel any more: use only_binary.',
      ),
    });
    expect(
      await run(() => state.installed('x', { ...where, repo: 'git+https://x' })),
    ).toMatchObject({
      comment: expect.stringContaining('does not take repo'),
    });
  },
);

test('an option is not a requirement', async () => {
  await expect(
    within(contextOf({ pip }), () => pip.install('--index-url=http://x', {})),
  ).rejects.toThrow('Not a requirement');
  expect(await within(contextOf({ pip }), () => pip.install(null, {}))).toMatchObject({
    retcode: 0,
    stdout: 'No packages to install.',
  });
});

test.skipIf(!hasVenv)(
  'what is due is told as by Salt: several packages, newer versions, addresses, by force',
  { timeout: 240_000 },
  async () => {
    for (const version of ['1.0', '1.10', '2.0', '2.1rc1', '3.0.dev1']) wheel('tsalt_up', version);
    wheel('tsalt_two', '1.0');
    const context = contextOf({ pip });
    const options = { bin_env: venv, no_index: true, find_links: join(folder, 'links') };
    const apply = (name: string, more: object = {}) =>
      within(context, () => state.installed(name, { ...options, ...more }));
    const told = (name: string, more: object = {}) =>
      within(testing(context), () => state.installed(name, { ...options, ...more }));
    const pkgs = ['tsalt_up<2', 'tsalt-two'];
    expect(await told('x', { pkgs })).toMatchObject({
      name: 'tsalt_up<2;tsalt-two',
      result: null,
      comment: 'Python package(s) set to be installed:\ntsalt_up<2\ntsalt-two',
    });
    expect(await apply('x', { pkgs })).toMatchObject({
      changes: { 'tsalt-up==1.10': 'Installed', 'tsalt-two==1.0': 'Installed' },
    });
    // The newest that satisfies the requirement is there, though the index has newer ones.
    for (const ask of [told, apply])
      expect(await ask('tsalt-up<2', { upgrade: true })).toMatchObject({
        result: true,
        changes: nothing,
        comment:
          'Python package tsalt-up<2 was already installed\nAll specified packages are already installed and up-to-date',
      });
    expect(await apply('tsalt-up', { upgrade: true })).toMatchObject({
      changes: { 'tsalt-up==2.0': 'Installed' },
    });
    for (const asked of ['tsalt-up==2.0', 'tsalt_up >= 2', 'tsalt.up<=2.0'])
      expect(await apply(asked)).toMatchObject({ result: true, changes: nothing });
    expect(await told('tsalt-up', { upgrade: true })).toMatchObject({ result: true });
    expect(await apply('tsalt-up', { upgrade: true, pre_releases: true })).toMatchObject({
      changes: { 'tsalt-up==3.0.dev1': 'Installed' },
    });
    expect(await apply('tsalt-two', { force_reinstall: true })).toMatchObject({
      changes: { 'tsalt-two==1.0': 'Installed' },
    });
    const file = join(folder, 'links', 'tsalt_up-1.0-py3-none-any.whl');
    // The package of an address is known from its wheel or #egg=, so it is installed once.
    for (const asked of [file, `tsalt-two @ file://${file.replace('tsalt_up', 'tsalt_two')}`])
      for (const changes of [asked === file ? { 'tsalt-up==1.0': 'Installed' } : {}, {}])
        expect(await apply(asked)).toMatchObject({ result: true, changes });
    expect(await apply(file)).toMatchObject({ result: true, changes: nothing });
    const egg = 'git+https://nowhere.invalid/x@v1#egg=tsalt_two';
    expect(await apply(egg)).toMatchObject({ result: true, changes: nothing });
    expect(await apply(`${egg.replace('two', 'none')}&subdirectory=x`)).toMatchObject({
      result: false,
    });
    // Nonsense is known before anything is asked, all of it at once, and in test mode too.
    for (const ask of [told, apply])
      expect(
        await ask('x', { pkgs: ['tsalt-up=1.0', 'tsalt-two', 'tsalt-up==a b'] }),
      ).toMatchObject({
        result: false,
        comment:
          "Invalid version specification in package tsalt-up=1.0. '=' is not supported, use '==' instead.\npip raised an exception while parsing 'tsalt-up==a b': Invalid requirement: 'tsalt-up==a b'",
      });
    expect(await apply('tsalt-two', { pkgs: [] })).toMatchObject({ changes: nothing });
    const target = join(folder, 'target');
    const words = [{ '--progress-bar': 'off' }, '--no-color'];
    expect(
      await apply('tsalt-up==1.0', { target, extra_args: words, force_reinstall: true }),
    ).toMatchObject({ result: true });
    expect(existsSync(join(target, 'tsalt_up-1.0.dist-info'))).toBe(true);
  },
);

test.skipIf(!hasVenv)(
  'requirements come from the file roots with what they name, for another account too',
  { timeout: 180_000 },
  async () => {
    for (const name of ['tsalt_one', 'tsalt_below']) wheel(name, '1.0');
    const cache = join(folder, 'cache');
    mkdirSync(join(cache, 'app', 'more'), { recursive: true });
    writeFileSync(join(cache, 'app', 'all.txt'), 'tsalt-one # one\n-r more/below.txt\n', {
      mode: 0o600,
    });
    writeFileSync(join(cache, 'app', 'more', 'below.txt'), 'tsalt-below\n', { mode: 0o600 });
    const asked: string[] = [];
    const cache_file = async (url: string) => {
      asked.push(url);
      const path = join(cache, url.slice('salt://'.length));
      return existsSync(path) ? path : false;
    };
    const context = contextOf({ pip, cp: { cache_file } });
    const options = {
      bin_env: venv,
      env_vars: { PIP_NO_INDEX: '1', PIP_FIND_LINKS: join(folder, 'links') },
    };
    const apply = (requirements: string) =>
      within(context, () => state.installed('x', { ...options, requirements }));
    expect(await apply('salt://app/all.txt')).toMatchObject({ changes: { requirements: true } });
    expect(asked).toEqual(['salt://app/all.txt', 'salt://app/more/below.txt']);
    const list = await within(context, () => pip.list('tsalt', { bin_env: venv }));
    expect(Object.keys(list).map(name => name.replace('_', '-'))).toEqual(
      expect.arrayContaining(['tsalt-one', 'tsalt-below']),
    );
    expect(await apply('salt://app/none.txt')).toMatchObject({
      result: false,
      comment:
        'Unable to process requirements file "salt://app/none.txt" Error: pip requirements file \'salt://app/none.txt\' not found',
    });
    if (process.getuid?.() !== 0) return;
    const program = join(folder, 'copying-pip');
    writeFileSync(program, '#!/bin/sh\nid -un; cd "${3%/*}" && cat all.txt more/below.txt\n', {
      mode: 0o755,
    });
    chmodSync(folder, 0o755);
    const { stdout } = await within(context, () =>
      pip.install(null, {
        bin_env: program,
        user: 'nobody',
        cwd: '/',
        requirements: 'salt://app/all.txt',
      }),
    );
    expect(stdout).toBe('nobody\ntsalt-one # one\n-r more/below.txt\ntsalt-below');
  },
);

test('options that pip would misread are refused before it runs', async () => {
  const given = (options: object) =>
    within(contextOf({ pip }), () => pip.install('x', { bin_env: '/bin/true', ...options }));
  await expect(given({ no_index: true, index_url: 'https://x.example' })).rejects.toThrow(
    "'no_index' and ('index_url' or 'extra_index_url') are mutually exclusive.",
  );
  await expect(given({ index_url: 'pypi' })).rejects.toThrow("'pypi' is not a valid URL");
  await expect(given({ find_links: '/nowhere' })).rejects.toThrow(
    "'/nowhere' is not a valid URL or path",
  );
  await expect(given({ exists_action: 'x' })).rejects.toThrow(
    'only supports the values s, i, w, and b',
  );
  await expect(given({ env_vars: 'A=1' })).rejects.toThrow('env_vars A=1 is not a dictionary');
  await expect(given({ timeout: 1.5 })).rejects.toThrow('must be an integer');
  await expect(given({ log: '/nowhere/pip.log' })).rejects.toThrow(
    "directory '/nowhere' does not exist",
  );
  await expect(given({ bin_env: '/nowhere' })).rejects.toThrow(
    'Access denied to /nowhere, could not find a pip binary',
  );
});

test('versions are ordered as Python orders them', () => {
  const sorted = [
    '1.0.dev1',
    '1.0a1',
    '1.0a2',
    '1.0b1',
    '1.0rc1',
    '1.0',
    '1.0.post1',
    '1.0.1',
    '1.1',
    '1!0.1',
  ];
  expect(sorted.toReversed().sort(comparePython)).toEqual(sorted);
});

test.each([
  ['2.3', '>=2,<3', true],
  ['2.3', '==2.3', true],
  ['2.3', '>=2.3.0,<=2.3', true],
  ['2.3', '!=2.3', false],
  ['2.3.dev1', '==2.3', false],
  ['3.0', '>=2,<3', false],
  ['2.3.4', '~=2.3', true],
  ['3.0', '~=2.3', false],
  ['2.3.4', '==2.3.*', true],
  ['2.30', '==2.3.*', false],
])('%s satisfies %s: %s', (version, specs, expected) => {
  expect(satisfies(version, parseRequirement(`x${specs}`)?.specs ?? [])).toBe(expected);
});

/** How pip was called: its words, and its variables. */
const calledWith = async (options: PipOptions): Promise<string[]> => {
  const program = join(folder, 'telling-pip');
  const note = `${program}.note`;
  const body = `#!/bin/sh\n{ echo "$*"; env | grep ^PIP_; } > '${note}'\n`;
  writeFileSync(program, body, { mode: 0o755 });
  await within(contextOf({ pip }), () => pip.install('flask', { bin_env: program, ...options }));
  return readFileSync(note, 'utf8').trim().split('\n');
};

test('the password of an index is not an argument of pip', async () => {
  const [argv, ...env] = await calledWith({
    index_url: 'https://ci:s3cret@pypi.example.com/simple',
    extra_index_url: 'https://pypi.example.org/simple',
  });
  expect(argv).toBe('install --extra-index-url=https://pypi.example.org/simple flask');
  expect(env).toContain('PIP_INDEX_URL=https://ci:s3cret@pypi.example.com/simple');
});

test.each<[string, Plain, string, string]>([
  ['joined', ['--index-url=https://ci:s3cret@h/s', '-q'], '-q', 'INDEX_URL=https://ci:s3cret@h/s'],
  ['apart', ['-q', '-i', 'https://t0ken@h/s'], '-q', 'INDEX_URL=https://t0ken@h/s'],
  ['short', ['-fhttps://ci:s3cret@h/s'], '', 'FIND_LINKS=https://ci:s3cret@h/s'],
  ['a mapping', [{ '--proxy': 'http://ci:s3cret@h:1' }], '', 'PROXY=http://ci:s3cret@h:1'],
  ['a file', ['-c', 'https://ci:s3cret@h/c'], '', 'CONSTRAINT=https://ci:s3cret@h/c'],
  ['open ones', ['-i', 'https://h/s', '-vv'], '-i https://h/s -vv', 'NO_INPUT=1'],
])('a password in extra_args is no argument of pip: %s', async (_, extra_args, words, variable) => {
  const [argv, ...env] = await calledWith({ extra_args });
  expect(argv).toBe(['install', words, 'flask'].filter(word => word !== '').join(' '));
  expect(env).toContain(`PIP_${variable}`);
});

test('addresses with a password add up, or take the place of the one before, as for pip', async () => {
  const login = 'https://ci:s3cret@h';
  const [argv, ...env] = await calledWith({
    index_url: 'https://other/simple',
    extra_index_url: ['https://one/simple'],
    extra_args: [`--extra-index-url=${login}/two`, `--index-url=${login}/simple`],
  });
  expect(argv).toBe('install flask');
  expect(env).toContain(`PIP_EXTRA_INDEX_URL=https://one/simple ${login}/two`);
  expect(env).toContain(`PIP_INDEX_URL=${login}/simple`);
});

test('a password is in no answer, comment or change', async () => {
  const program = join(folder, 'failing-pip');
  const body = '#!/bin/sh\n[ "$1" = install ] || { echo "[]"; exit 0; }\ncat "$3" >&2; exit 1\n';
  writeFileSync(program, body, { mode: 0o755 });
  const name = 'app @ git+https://ci:s3cret@h/app';
  const options = { bin_env: program };
  const answers = await within(contextOf({ pip }), async () => [
    await pip.install(name, options),
    await state.installed(name, options),
    await state.installed(name, { ...options, extra_args: ['https://ci:s3cret@h/x.whl'] }),
    await state.installed(name, { ...options, index_url: 'htp://ci:s3cret@h' }),
    await state.installed(`${name} =`, options),
  ]);
  const test = testing(contextOf({ pip }));
  answers.push(await within(test, () => state.installed('https://ci:s3cret@h/x.zip', options)));
  expect(JSON.stringify(answers)).not.toContain('s3cret');
  expect(answers[0]).toMatchObject({ retcode: 1, stderr: 'app @ git+https://<redacted>@h/app' });
  expect(answers[2]).toMatchObject({ comment: expect.stringContaining('in editable, index_url') });
  expect(answers.at(-1)).toMatchObject({
    result: null,
    changes: { 'https://<redacted>@h/x.zip==???': 'Installed' },
  });
});

test('a requirements file of the web is left to pip, its password in a file', async () => {
  const program = join(folder, 'web-pip');
  const note = `${program}.note`;
  const body = `#!/bin/sh\nfor last; do :; done; { echo "$*"; [ ! -f "$last" ] || cat "$last"; } > '${note}'\n`;
  writeFileSync(program, body, { mode: 0o755 });
  const called = async (requirements: string): Promise<string[]> => {
    const user = userInfo().username;
    const options = { bin_env: program, user, requirements };
    await within(contextOf({ pip }), () => pip.install(null, options));
    return readFileSync(note, 'utf8').trim().split('\n');
  };
  expect(await called('https://h/r.txt')).toEqual(['install -r https://h/r.txt']);
  const [argv, ...lines] = await called('https://ci:s3cret@h/r.txt');
  expect(argv).toMatch(/^install -r \/\S+$/);
  expect(lines).toEqual(['-r https://ci:s3cret@h/r.txt']);
});

test('a text with commas is a list, but not within the brackets of extras', async () => {
  const program = join(folder, 'listing-pip');
  writeFileSync(program, '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
  const { stdout } = await within(contextOf({ pip }), () =>
    pip.install('celery[redis,msgpack]>=5,<6,flask', { bin_env: program }),
  );
  expect(stdout.split('\n')).toEqual(['install', 'celery[redis,msgpack]>=5,<6', 'flask']);
});

test('a package whose address has a password is named to pip in a file', async () => {
  const program = join(folder, 'reading-pip');
  const note = `${program}.note`;
  writeFileSync(
    program,
    `#!/bin/sh\nfor last; do :; done; { echo "$*"; stat -c %a "$last"; cat "$last"; } > '${note}'\n`,
    { mode: 0o755 },
  );
  const address = 'https://ci:s3cret@files.example.com/app-1.0.whl';
  await within(contextOf({ pip }), () =>
    pip.install(['flask', address], { bin_env: program, editable: 'git+https://a:b@x/y' }),
  );
  const [argv, mode, ...lines] = readFileSync(note, 'utf8').trim().split('\n');
  expect(argv).toMatch(/^install -r \S+$/);
  expect(mode).toBe('600');
  expect(lines).toEqual(['-e git+https://a:b@x/y', 'flask', address]);
});

test('options of older pips are passed to pip, which refuses them by name', async () => {
  const old = join(folder, 'old-pip');
  writeFileSync(old, '#!/bin/sh\necho "$*"\n', { mode: 0o755 });
  const given = (bin_env: string, options: object) =>
    within(contextOf({ pip }), () => pip.install('flask', { bin_env, ...options }));
  const { stdout } = await given(old, {
    use_wheel: true,
    download_cache: '/srv/cache',
    install_options: ['--prefix=/opt', '--x'],
    allow_external: 'a,b',
    process_dependency_links: true,
  });
  expect(stdout).toBe(
    'install --cache-dir=/srv/cache --use-wheel --install-option=--prefix=/opt --install-option=--x --allow-external=a --allow-external=b --process-dependency-links flask',
  );
  const now = join(folder, 'new-pip');
  writeFileSync(
    now,
    '#!/bin/sh\nprintf "\\nUsage: x\\n\\nno such option: --download\\n" >&2; exit 2\n',
    {
      mode: 0o755,
    },
  );
  await expect(given(now, { download: '/srv' })).rejects.toThrow(
    'pip has no option for download any more: run pip download by cmd.run.',
  );
  expect(await given(now, { extra_args: ['--download'] })).toMatchObject({ retcode: 2 });
});

test('a Python without pip is reported', async () => {
  await expect(within(contextOf({ pip }), () => pip.version('/bin/false'))).rejects.toThrow(
    'Could not find a `pip` binary',
  );
  expect(
    await within(contextOf({ pip }), () => state.installed('flask', { bin_env: '/bin/false' })),
  ).toMatchObject({
    result: false,
    comment: "Error installing 'flask': Could not find a `pip` binary",
  });
});

test('a folder of packages of its own is taken from VENV_PIP_TARGET', async () => {
  const program = join(folder, 'targeted-pip');
  writeFileSync(program, '#!/bin/sh\necho "$*"\n', { mode: 0o755 });
  process.env.VENV_PIP_TARGET = '/srv/more';
  try {
    const { stdout } = await within(contextOf({ pip }), () =>
      pip.install('flask', { bin_env: program }),
    );
    expect(stdout).toBe('install --target=/srv/more flask');
  } finally {
    delete process.env.VENV_PIP_TARGET;
  }
});
