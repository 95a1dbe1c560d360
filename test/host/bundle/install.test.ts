// @module-tag slow
import { execFile, execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { skeletonKinds } from '../../../src/bundle/skeleton.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { newKey, startEmbeddedServer } from '../../helpers/embedded-server.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

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

test('code for hosts, modules and their tests loads only installed packages', async () => {
  const entries = Object.values<string | { default: string }>(manifest.exports)
    .map(each => (typeof each === 'string' ? each : each.default))
    .filter(file => file.endsWith('.js'));
  expect(entries.length).toBe(5);
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
  const { dependencies, peerDependencies, name } = manifest;
  const allowed = [...Object.keys({ ...dependencies, ...peerDependencies }), name];
  expect(packages.filter(path => !allowed.includes(path))).toEqual([]);
});

const user = join(scratch, 'user');
const home = join(scratch, 'home');

/** Installs packages from the registry, or from npm's cache. */
const install = (cwd: string, ...packages: string[]) =>
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd });

let tarball = '';
beforeAll(async () => {
  mkdirSync(join(user, 'states/_modules'), { recursive: true });
  mkdirSync(home);
  const packed = execFileSync(
    'npm',
    ['pack', '--ignore-scripts', '--json', '--pack-destination', scratch],
    { cwd: packageRoot, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const [{ filename = '', unpackedSize = 0 } = {}] = Object.values<{
    filename: string;
    unpackedSize: number;
  }>(JSON.parse(packed));
  expect(unpackedSize).toBeLessThan(8_000_000);
  tarball = join(scratch, filename);
  writeFileSync(join(user, 'package.json'), '{"private": true, "type": "module"}\n');
  await install(user, tarball);
}, 240_000);

test('the packed program is installed alone in an empty folder and runs, with a module of the user', async () => {
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
  expect((await cli('completion', 'bash')).stdout).toContain('complete -F');
  const { stdout } = await cli('--local', 'state.apply', 'one', '--out', 'json');
  expect(stdout).toContain('"result": true');
  expect(readFileSync(join(user, 'made'), 'utf8')).toBe('hello you\n');

  // A later run looks at the files of the user only: those of the package cannot change.
  const artifacts = join(user, 'cache/artifacts');
  const recorded = readdirSync(artifacts)
    .filter(name => /^index-.*\.json$/.test(name))
    .map(name => readJson(join(artifacts, name)))
    .flatMap(({ inputs, folders }) => [...inputs, ...folders].map(({ path }) => path));
  const greet = join(user, 'states/_modules/greet.ts');
  expect(recorded).toContain(greet);
  expect(recorded.filter(path => !path.startsWith(join(user, 'states')))).toEqual([]);
  writeFileSync(greet, readFileSync(greet, 'utf8').replace('`hello', '`good day,'));
  await cli('--local', 'state.apply', 'one');
  expect(readFileSync(join(user, 'made'), 'utf8')).toBe('good day, you\n');
}, 240_000);

test('a program applies a state to a host by the installed library, and the installed program agrees', async () => {
  const root = join(scratch, 'host');
  mkdirSync(root);
  const login = newKey();
  writeFileSync(join(user, 'id'), login.private, { mode: 0o600 });
  const server = await startEmbeddedServer({ home: root, keys: [login.public] });
  try {
    writeFileSync(join(user, 'known_hosts'), `[127.0.0.1]:${server.port} ${server.hostKey}\n`);
    writeFileSync(join(user, 'tsalt.yaml'), 'cachedir: cache\nknown_hosts_file: known_hosts\n');
    writeFileSync(
      join(user, 'roster.yaml'),
      `web1: {host: 127.0.0.1, port: ${server.port}, user: tester, priv: ${join(user, 'id')}}\n`,
    );
    writeFileSync(
      join(user, 'states/two.sls'),
      `${join(root, 'made')}:\n  file.managed:\n    - contents: by a program\n`,
    );
    writeFileSync(
      join(user, 'program.js'),
      `import { run, TsaltError } from 'tsalt-ssh';
const [result] = await run({ target: 'web1', fun: 'state.apply', args: ['two'] }).results();
for (const state of Object.values(result.states)) console.log(result.id, state.result, state.changes.diff);
const [again] = await run({ target: 'web1', fun: 'state.apply', args: ['two'] }).results();
for (const state of Object.values(again.states)) console.log(again.id, state.result, state.changes);
await run({ target: 'web1', fun: 'test.ehco' }).results().catch(error => {
  console.log(error instanceof TsaltError, error.code);
});
`,
    );
    const env = { PATH: process.env.PATH, HOME: home, SSH_AUTH_SOCK: '' };
    const { stdout } = await run(process.execPath, ['program.js'], { cwd: user, env });
    expect(stdout).toBe('web1 true New file\nweb1 true {}\ntrue no-function\n');
    expect(readFileSync(join(root, 'made'), 'utf8')).toBe('by a program\n');
    const words = ['web1', 'state.apply', 'two', '--expect-no-changes', 'test=True', '--out=quiet'];
    const program = 'node_modules/tsalt-ssh/dist/tsalt-ssh.cjs';
    // It ends with 0: what the library did is what it would do.
    await run(process.execPath, [program, ...words], { cwd: user, env });
  } finally {
    await server.close();
  }
}, 120_000);

test('installed by pnpm, it runs with a module of the user, from the library and under tsc', async () => {
  const dir = join(scratch, 'pnpm');
  const tools = join(scratch, 'pnpm itself');
  mkdirSync(join(dir, 'states/_modules'), { recursive: true });
  mkdirSync(tools);
  writeFileSync(join(tools, 'package.json'), '{"private": true}\n');
  await install(tools, 'pnpm@10');
  writeFileSync(join(dir, 'package.json'), '{"private": true, "type": "module"}\n');
  const env = { PATH: process.env.PATH, HOME: home };
  await run(
    process.execPath,
    [
      join(tools, 'node_modules/pnpm/bin/pnpm.cjs'),
      'add',
      `--store-dir=${join(scratch, 'pnpm store')}`,
      tarball,
      'typescript@~5.9.0',
      '@types/node@20',
    ],
    { cwd: dir, env: { ...process.env, HOME: home, CI: 'true' } },
  );
  expect(lstatSync(join(dir, 'node_modules/tsalt-ssh')).isSymbolicLink()).toBe(true);
  expect(existsSync(join(dir, 'node_modules/esbuild'))).toBe(false);

  writeFileSync(join(dir, 'tsalt.yaml'), 'cachedir: cache\n');
  writeFileSync(
    join(dir, 'states/_modules/greet.ts'),
    "import { __salt__ } from 'tsalt-ssh/module';\n" +
      "export const hello = async (): Promise<string> => `hello ${await __salt__['test.echo']('pnpm')}`;\n",
  );
  const { stdout } = await run('node_modules/.bin/tsalt-ssh', ['--local', 'greet.hello'], {
    cwd: dir,
    env,
  });
  expect(stdout).toContain('hello pnpm');
  writeFileSync(
    join(dir, 'program.ts'),
    `import { run } from 'tsalt-ssh';
const results = await run({ target: '@local', fun: 'greet.hello' }).results();
console.log(results[0]?.value);
`,
  );
  writeFileSync(
    join(dir, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        strict: true,
        target: 'es2022',
        module: 'nodenext',
        types: ['node'],
        rootDir: '.',
        outDir: 'built',
      },
      include: ['program.ts', 'states/_modules'],
    }),
  );
  const { stdout: errors } = await run(process.execPath, ['node_modules/typescript/bin/tsc'], {
    cwd: dir,
    env,
  }).catch((error: { stdout: string }) => error);
  expect(errors).toBe('');
  const program = await run(process.execPath, ['built/program.js'], { cwd: dir, env });
  expect(program.stdout).toBe('hello pnpm\n');
}, 240_000);

/** Code as users write it: each line names the version or option in which it would fail. */
const sources = {
  'states/_states/note.ts': `import { __opts__, __salt__, ensure, type StateReturn } from 'tsalt-ssh/module';
/** Keeps a note. */
export const present = async (name: string, { text = '' }: { text?: string } = {}): Promise<StateReturn> => {
  const old = String(await __salt__['note.get'](name));
  if (old === text) return { name, changes: {}, result: true, comment: 'as wanted' };
  return { name, changes: { text }, result: __opts__.test ? null : true, comment: 'written' };
};
export const kind: typeof ensure = ensure;
`,
  'note.d.ts': `import type { TypedFunction } from 'tsalt-ssh/module';
declare module 'tsalt-ssh/module' {
  interface SaltFunctions {
    'note.get': TypedFunction<[name: string], null, string | null, { name: string }>;
  }
}
`,
  'calls.ts': `import { __grains__, __salt__, kwargs, type MatcherFunction, type OutputterFunction } from 'tsalt-ssh/module';
export const calls = async (): Promise<string[]> => [
  await __salt__['cmd.run']('id', { runas: 'www', cwd: undefined }),
  await __salt__['cmd.run'](['id'], kwargs({ cwd: '/' })),
  __grains__.os_family,
  ...__grains__.ipv4,
];
// @ts-expect-error a misspelt function
export const slip = () => __salt__['cmd.rnu']('id');
// @ts-expect-error a misspelt keyword
export const keyword = () => __salt__['user.add']('ann', { gruops: ['wheel'] });
export const match: MatcherFunction = (target, { grains }) => grains.os === target;
export const output: OutputterFunction = data => Object.keys(data).join();
`,
  'site.ts': `import { __grains__, __salt__, builder, type SlsContext, untyped } from 'tsalt-ssh/sls';
export const run = async ({ salt }: SlsContext): Promise<{ [id: string]: unknown }> => {
  const sls = builder();
  const kernel: string = await __salt__['cmd.run']('uname', { runas: 'www' });
  sls.state('pkg.installed', __grains__.os, { version: kernel });
  sls.state('my.own', String(await untyped(salt)['my.fun']?.('x')));
  return sls.data();
};
// @ts-expect-error a misspelt function
export const slip = () => __salt__['cmd.rnu']('id');
// @ts-expect-error a misspelt keyword
export const keyword = ({ salt }: SlsContext) => salt['user.add']('ann', { gruops: ['wheel'] });
`,
  'note.test.ts': `import { createTestContext } from 'tsalt-ssh/testing';
import 'tsalt-ssh/vitest';
import { expect, test } from 'vitest';
import { present } from './states/_states/note.ts';

const t = createTestContext({ modules: { note: { get: () => 'old' } } });
test('matchers', async () => {
  const changed = await t.run(() => present('a', { text: 'new' }));
  expect(changed).toSucceed();
  expect(changed).toHaveChanged({ text: 'new' });
  expect(changed).not.toBeUnchanged();
  expect(await t.run(() => present('a', { text: 'old' }))).toBeUnchanged();
  expect(await t.with({ test: true }).run(() => present('a'))).toPredictChanges({ text: '' });
  expect({ name: 'a', changes: {}, result: false, comment: 'no such note' }).toFail('such');
  expect(() => expect(changed).toBeUnchanged()).toThrow('it changed text');
  expect(() => expect({}).toSucceed()).toThrow('not the return value of a state');
});
`,
  'program.ts': `import { connect, type HostResult, loadRoster, run, TsaltError } from 'tsalt-ssh';
export const ping = async (): Promise<readonly HostResult[]> =>
  run({ target: ['web1'], fun: 'test.ping', maxProcs: 4 }).results();
export const follow = async (): Promise<void> => {
  for await (const event of run({ target: 'G@os:Debian', targetType: 'compound', fun: 'state.apply' }))
    if (event.type === 'state') console.log(event.host, event.result.changes);
};
export const session = async (): Promise<number> => {
  const web = await connect({ target: 'web*' });
  web.close();
  return (await loadRoster()).hosts.length;
};
export const code = (error: unknown): string => (error instanceof TsaltError ? error.code : '');
// @ts-expect-error a slip in a name
run({ target: '*', fun: 'test.ping', tets: true });
`,
};

test.each(['5.4', '5.9', '7.0'])(
  'the declarations pass TypeScript %s',
  async version => {
    const dir = join(scratch, `types ${version}`);
    mkdirSync(join(dir, 'states/_states'), { recursive: true });
    for (const [name, text] of Object.entries(sources)) writeFileSync(join(dir, name), text);
    writeFileSync(join(dir, 'package.json'), '{"private": true, "type": "module"}\n');
    await install(dir, tarball, `typescript@~${version}.0`, 'vitest@4', '@types/node@20');
    for (const [module, moduleResolution] of [
      ['nodenext', 'nodenext'],
      ['node16', 'node16'],
      ['esnext', 'bundler'],
    ] as const) {
      writeFileSync(
        join(dir, 'tsconfig.json'),
        JSON.stringify({
          compilerOptions: {
            strict: true,
            exactOptionalPropertyTypes: true,
            noUncheckedIndexedAccess: true,
            noEmit: true,
            target: 'es2022',
            types: ['node'],
            allowImportingTsExtensions: true,
            // Of vitest's own declarations; ours are imported, and faults in them are reported.
            skipLibCheck: true,
            module,
            moduleResolution,
          },
          include: ['*.ts', 'states'],
        }),
      );
      const { stdout } = await run(process.execPath, ['node_modules/typescript/bin/tsc'], {
        cwd: dir,
      }).catch((error: { stdout: string }) => error);
      expect(`${moduleResolution}: ${stdout}`).toBe(`${moduleResolution}: `);
    }
    const { stdout } = await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
      cwd: dir,
      env: { PATH: process.env.PATH, HOME: home },
    }).catch((error: { stdout: string }) => error);
    expect(stdout).toMatch(/Tests .*1 passed/);
  },
  240_000,
);

test('a module from module new compiles and passes its tests in a fresh project', async () => {
  const dir = join(scratch, 'skeletons');
  mkdirSync(join(dir, 'states'), { recursive: true });
  writeFileSync(join(dir, 'package.json'), '{"private": true, "type": "module"}\n');
  writeFileSync(join(dir, 'tsalt.yaml'), 'cachedir: cache\nfile_roots: { base: [states] }\n');
  await install(dir, tarball, 'typescript@~5.9.0', 'vitest@4', '@types/node@20');
  const env = { PATH: process.env.PATH, HOME: home };
  for (const kind of skeletonKinds)
    await run(
      process.execPath,
      ['node_modules/tsalt-ssh/dist/tsalt-ssh.cjs', 'module', 'new', kind, `my_${kind}`],
      { cwd: dir, env },
    );
  const { stdout: errors } = await run(process.execPath, ['node_modules/typescript/bin/tsc'], {
    cwd: dir,
    env,
  }).catch((error: { stdout: string }) => error);
  expect(errors).toBe('');
  const { stdout } = await run(process.execPath, ['node_modules/vitest/vitest.mjs', 'run'], {
    cwd: dir,
    env,
  }).catch((error: { stdout: string }) => error);
  expect(stdout).toMatch(new RegExp(`Test Files .*${skeletonKinds.length + 1} passed`));
}, 240_000);

test('publint and "Are the types wrong?" find nothing', async () => {
  const { publint } = await import('publint');
  const { messages } = await publint({ pkgDir: packageRoot, strict: true, pack: false });
  expect(messages).toEqual([]);
  const attw = join(packageRoot, 'node_modules/@arethetypeswrong/cli/dist/index.js');
  const args = [attw, tarball, '--profile', 'esm-only', '--no-color', '--no-emoji'];
  // It exits with 1 where it finds something.
  await run(process.execPath, args);
});
