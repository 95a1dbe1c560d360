// Makes one executable of Node and the package, for machines without Node: sea/tsalt-ssh-OS-ARCH,
// or the file that is named as the argument. It holds what `npm pack` packs, and esbuild with its program. Run `npm run build` first.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { inject } from 'postject';

const root = fileURLToPath(new URL('..', import.meta.url));
const [output = join(root, 'sea', `tsalt-ssh-${process.platform}-${process.arch}`)] =
  process.argv.slice(2);

const refuse = message => {
  process.stderr.write(`build:sea: ${message}\n`);
  process.exit(1);
};

if (process.platform !== 'linux') refuse('single executables are built on Linux.');
if (
  Object.entries(process.config.variables).some(
    ([key, on]) => /^node_shared/.test(key) && on === true,
  )
)
  refuse('this Node is linked against libraries of its distribution. Use an official build.');

/** The package's files that a run reads. */
const [pack] = Object.values(
  JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ),
);
const packed = pack.files.map(({ path }) => path);
if (!packed.includes('dist/main.cjs'))
  refuse('there is no dist/main.cjs. Run "npm run build" first.');
const read = packed.filter(file => !/^docs\/|\.md$|\.d\.[cm]?ts$/.test(file));

const require = createRequire(import.meta.url);
const esbuild = dirname(require.resolve('esbuild/package.json'));
const platform = `@esbuild/${process.platform}-${process.arch}`;
const modules = [
  join(esbuild, 'package.json'),
  join(esbuild, 'lib/main.js'),
  require.resolve(`${platform}/package.json`, { paths: [esbuild] }),
  require.resolve(`${platform}/bin/esbuild`, { paths: [esbuild] }),
];
const nodeModules = dirname(esbuild);

const contents = await Promise.all(
  [
    ...read.map(file => [file, join(root, file)]),
    ...modules.map(path => [join('node_modules', relative(nodeModules, path)), path]),
  ].map(async ([file, path]) => {
    const isProgram = ((await stat(path)).mode & 0o100) !== 0;
    return { file, bytes: await readFile(path), mode: isProgram ? 0o700 : 0o600 };
  }),
);
const index = contents.map(({ file, bytes, mode }) => ({ file, size: bytes.length, mode }));
const archive = Buffer.concat([
  Buffer.from(`${JSON.stringify(index)}\n`),
  ...contents.map(({ bytes }) => bytes),
]);
const id = createHash('sha256').update(process.version).update(archive).digest('hex').slice(0, 32);

const work = await mkdtemp(join(tmpdir(), 'tsalt-sea-'));
try {
  const asset = async (name, bytes) => {
    await writeFile(join(work, name), bytes);
    return join(work, name);
  };
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants;
  const params = { [quality]: 9, [window]: 24 };
  const config = {
    main: join(root, 'scripts/sea-main.cjs'),
    output: join(work, 'blob'),
    disableExperimentalSEAWarning: true,
    assets: {
      id: await asset('id', id),
      package: await asset('package', brotliCompressSync(archive, { params })),
    },
  };
  await writeFile(join(work, 'config.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--experimental-sea-config', join(work, 'config.json')], {
    stdio: ['ignore', 'ignore', 'ignore'],
  });
  await mkdir(dirname(output), { recursive: true });
  const made = join(work, 'program');
  await copyFile(process.execPath, made);
  // postject's LIEF prints a warning for each section of Node without a name.
  const { warn } = console;
  console.warn = () => undefined;
  await inject(made, 'NODE_SEA_BLOB', await readFile(config.output), {
    sentinelFuse: 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2',
  });
  console.warn = warn;
  await chmod(made, 0o755);
  await rm(output, { force: true });
  await copyFile(made, output);
} finally {
  await rm(work, { recursive: true, force: true });
}
const megabytes = ((await stat(output)).size / 2 ** 20).toFixed(1);
process.stdout.write(`${output}: ${megabytes} MB, Node ${process.version}\n`);
