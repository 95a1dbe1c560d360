import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, expect, test } from 'vitest';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'tsalt-install-'));
afterAll(() => removeFolder(scratch));

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'));
const manifest = readJson(join(packageRoot, 'package.json'));
const run = promisify(execFile);

// ssh2 does without the first two, and takes the third where Node lacks it.
const optional = ['cpu-features', './crypto/build/Release/sshcrypto.node'];

test('the package depends on exactly what its built files require', () => {
  const dist = join(packageRoot, 'dist');
  const required = readdirSync(dist)
    .filter(name => name.endsWith('.cjs'))
    .flatMap(name => [
      ...readFileSync(join(dist, name), 'utf8').matchAll(/\brequire\("([^"]+)"\)/g),
    ])
    .map(([, name = '']) => name)
    .filter(name => !isBuiltin(name) && !optional.includes(name) && !name.startsWith('./'));
  expect([...new Set(required)]).toEqual(Object.keys(manifest.dependencies));
});

test('the sources that hosts, modules and their tests load need no package that is not installed', async () => {
  const entries = Object.values<string | { default: string }>(manifest.exports)
    .map(each => (typeof each === 'string' ? each : each.default))
    .filter(file => file.endsWith('.ts'));
  const { metafile } = await build({
    entryPoints: ['./src/runtime/main.ts', ...entries].map(file => join(packageRoot, file)),
    bundle: true,
    write: false,
    outdir: scratch,
    platform: 'node',
    format: 'esm',
    packages: 'external',
    metafile: true,
    logLevel: 'silent',
  });
  const packages = Object.values(metafile.inputs)
    .flatMap(({ imports }) => imports)
    .filter(({ external, path }) => external && path !== '<runtime>' && !isBuiltin(path))
    .map(({ path }) => path);
  const allowed = [...Object.keys(manifest.dependencies), manifest.name];
  expect(packages.filter(path => !allowed.includes(path))).toEqual([]);
});

test('the packed program is installed alone in an empty folder and runs, with a module of the user', async () => {
  const user = join(scratch, 'user');
  mkdirSync(join(user, 'states/_modules'), { recursive: true });
  const home = join(scratch, 'home');
  mkdirSync(home);
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch],
    {
      cwd: packageRoot,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const [tarball] = Object.values<{ filename: string }>(JSON.parse(packed));
  writeFileSync(join(user, 'package.json'), '{"private": true}\n');
  await run(
    'npm',
    [
      'install',
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      join(scratch, tarball?.filename ?? ''),
    ],
    { cwd: user },
  );
  const lock: Record<string, { hasInstallScript?: boolean }> = readJson(
    join(user, 'node_modules/.package-lock.json'),
  ).packages;
  const installed = Object.keys(lock).filter(name => !/@esbuild\//.test(name));
  expect(installed).toEqual(['node_modules/esbuild', 'node_modules/tsalt-ssh']);
  // Without its script esbuild finds the program of its platform as well.
  const scripts = Object.keys(lock).filter(name => lock[name]?.hasInstallScript);
  expect(scripts.filter(name => name !== 'node_modules/esbuild')).toEqual([]);

  writeFileSync(join(user, 'tsalt.yaml'), 'cachedir: cache\n');
  writeFileSync(
    join(user, 'states/one.sls'),
    `#!jinja|yaml\n${join(user, 'made')}:\n  file.managed:\n    - contents: {{ salt['greet.hello']('you') }}\n`,
  );
  writeFileSync(
    join(user, 'states/_modules/greet.ts'),
    'export const hello = async (name: string): Promise<string> => `hello ${name}`;\n',
  );
  const cli = (...args: string[]) =>
    run(process.execPath, ['node_modules/tsalt-ssh/dist/tsalt-ssh.cjs', ...args], {
      cwd: user,
      env: { PATH: process.env.PATH, HOME: home },
    });
  expect((await cli('--version')).stdout).toContain(manifest.version);
  const { stdout } = await cli('--local', 'state.apply', 'one', '--out', 'json');
  expect(stdout).toContain('"result": true');
  expect(readFileSync(join(user, 'made'), 'utf8')).toBe('hello you\n');
}, 240_000);
