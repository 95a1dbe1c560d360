import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { build } from '../../src/bundle/build.ts';
import { pathsOf } from '../../src/bundle/cache-paths.ts';
import { describeAll } from '../../src/bundle/describe-all.ts';
import { discoverBuiltins } from '../../src/bundle/discover.ts';
import { unpackMeta } from '../../src/bundle/meta-file.ts';
import { prebuiltDescriptions, prebuiltFiles, takePrebuilt } from '../../src/bundle/prebuilt.ts';
import { controlFunctions } from '../../src/wrapper/table.ts';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

let root = '';
const scratch = mkdtempSync(join(tmpdir(), 'tsalt-prebuilt-'));
const key = 'k'.repeat(32);

/** A folder for what is taken or built. */
const folder = (name: string): string => {
  const dir = join(scratch, name);
  mkdirSync(dir, { mode: 0o700 });
  return dir;
};

const take = (name: string, where = root) =>
  takePrebuilt(
    {
      root: where,
      found: discoverBuiltins(where).modules,
      controlFunctions: controlFunctions(),
    },
    folder(name),
    key,
  );

/** Does something to a file of the package, and undoes it. */
const changed = async (file: string, change: () => void, then: () => Promise<void>) => {
  const before = readFileSync(file);
  change();
  await then();
  writeFileSync(file, before);
};

beforeAll(() => {
  // The package as it is now, built by its own script.
  root = join(scratch, 'package one');
  for (const part of ['src', 'scripts', 'package.json', 'tsconfig.json'])
    cpSync(join(packageRoot, part), join(root, part), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(root, 'node_modules'));
  execFileSync(process.execPath, [join(root, 'scripts/build.mjs')]);
}, 240_000);
afterAll(() => removeFolder(scratch));

test('the packaged artifact equals a fresh build', { timeout: 240_000 }, async () => {
  const taken = await take('taken');
  const options = {
    fileRoots: {},
    cacheDir: scratch,
    controlFunctions: controlFunctions(),
    runtime: join(root, 'src/runtime/main.ts'),
  };
  const found = discoverBuiltins(root).modules;
  // Described and bundled from scratch: nothing prebuilt is used.
  const { described } = prebuiltFiles(root);
  renameSync(described, `${described}.away`);
  const built = await build({ root, dir: folder('built'), key, found, options, goal: 'host' });
  renameSync(`${described}.away`, described);
  expect(taken?.sha256).toBe(built.sha256);
  const [one, other] = ['taken', 'built'].map(name => pathsOf(join(scratch, name), key, built));
  if (!one || !other) throw new Error('there are two');
  expect(readFileSync(one.js, 'utf8')).toBe(readFileSync(other.js, 'utf8'));
  expect(unpackMeta(readFileSync(one.meta))).toEqual(unpackMeta(readFileSync(other.meta)));
  expect(readFileSync(one.map, 'utf8')).toBe(readFileSync(other.map, 'utf8'));
  expect(readFileSync(one.packed).length).toBeGreaterThan(100_000);
  // One letter beyond ASCII and each start on a host spends milliseconds on decoding.
  expect(readFileSync(one.js, 'latin1')).not.toMatch(/[^\0-\x7f]/);
  const own = built.inputs.filter(({ path }) => !path.includes('node_modules'));
  expect(taken?.inputs.map(({ path }) => path)).toEqual(own.map(({ path }) => path));
});

test('a package that was moved brings it all the same, with its own paths', async () => {
  const moved = join(scratch, 'package two');
  cpSync(root, moved, { recursive: true });
  const taken = await take('moved', moved);
  if (!taken) throw new Error('nothing was taken');
  const modules = unpackMeta(readFileSync(pathsOf(join(scratch, 'moved'), key, taken).meta));
  expect(modules.length).toBeGreaterThan(100);
  expect(modules.filter(({ path }) => !path.startsWith(`${moved}/src/`))).toEqual([]);
});

test('nothing is taken when a module, the bundler or what is asked for is another', async () => {
  const file = join(root, 'src/modules/x509/exec/acme.ts');
  await changed(
    file,
    () => appendFileSync(file, '// changed\n'),
    async () => expect(await take('module')).toBeUndefined(),
  );
  const bundler = join(root, 'src/bundle/entry.ts');
  await changed(
    bundler,
    () => appendFileSync(bundler, '// changed\n'),
    async () => {
      expect(await take('bundler')).toBeUndefined();
      expect(prebuiltDescriptions(root)).toBeUndefined();
    },
  );
  const more = join(root, 'src/modules/cmd/exec/one_more.ts');
  writeFileSync(more, 'export const one = (): number => 1;\n');
  expect(await take('more')).toBeUndefined();
  rmSync(more);
  const found = discoverBuiltins(root).modules;
  const request = { root, found, controlFunctions: [{ name: 'only.one' }] };
  expect(await takePrebuilt(request, folder('control'), key)).toBeUndefined();
  expect(await take('again')).toBeDefined();
});

test('nothing torn is taken', async () => {
  const files = prebuiltFiles(root);
  for (const [name, file] of Object.entries({
    packed: files.packed,
    meta: files.meta,
    index: files.index,
  }))
    await changed(
      file,
      () => truncateSync(file, 1000),
      async () => expect(await take(`torn-${name}`)).toBeUndefined(),
    );
});

test("the built-in modules need not be parsed for the user's own", async () => {
  const modules = discoverBuiltins(root).modules;
  const text = prebuiltDescriptions(root);
  const begin = process.cpuUsage();
  const { described } = await describeAll(modules, join(folder('known'), 'd.json'), () => text);
  const known = process.cpuUsage(begin).user;
  const next = process.cpuUsage();
  const anew = await describeAll(modules, join(folder('anew'), 'd.json'));
  expect(described).toEqual(anew.described);
  // Parsing takes some twenty times as long.
  expect(known * 4).toBeLessThan(process.cpuUsage(next).user);
});
