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
import { findModules } from '../../../src/bundle/artifact.ts';
import { build } from '../../../src/bundle/build.ts';
import { pathsOf } from '../../../src/bundle/cache/cache-paths.ts';
import { describeAll } from '../../../src/bundle/describe-all.ts';
import { discoverBuiltins } from '../../../src/bundle/discover.ts';
import { unpackMeta } from '../../../src/bundle/meta-file.ts';
import { prebuiltDescriptions, prebuiltFiles, takePrebuilt } from '../../../src/bundle/prebuilt.ts';
import { openTrace } from '../../../src/bundle/trace.ts';
import { headOf } from '../../../src/protocol/artifact-head.ts';
import { artifactHead } from '../../../src/protocol/stack.ts';
import { controlFunctions } from '../../../src/wrapper/table.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

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

/** Does something that nothing prebuilt is used for. */
const withoutPrebuilt = async <T>(then: () => Promise<T>): Promise<T> => {
  const { index } = prebuiltFiles(root);
  renameSync(index, `${index}.away`);
  try {
    return await then();
  } finally {
    renameSync(`${index}.away`, index);
  }
};

/** Builds the artifact of a project with these modules of its own. */
const buildWith = async (name: string, modules: Readonly<Record<string, string>>) => {
  const states = join(folder(name), 'states');
  for (const [file, text] of Object.entries(modules)) {
    mkdirSync(join(states, file, '..'), { recursive: true });
    writeFileSync(join(states, file), text);
  }
  const options = {
    fileRoots: { base: [states] },
    cacheDir: scratch,
    controlFunctions: controlFunctions(),
  };
  const { modules: found } = findModules(root, options);
  const dir = folder(`${name}-built`);
  const built = await build({ root, dir, key, found, options, goal: 'host' });
  const { js, meta, map } = pathsOf(dir, key, built);
  return {
    sha: built.sha256,
    inputs: built.inputs.map(({ path }) => path),
    text: readFileSync(js, 'latin1'),
    broken: unpackMeta(readFileSync(meta)).flatMap(({ broken }) => broken ?? []),
    trace: openTrace(root, map),
  };
};

/** The position of the first of these characters, as a stack on a host has it. */
const positionOf = (text: string, part: string): [number, number] => {
  const before = text.slice(0, text.indexOf(part)).split('\n');
  return [before.length, (before.at(-1) ?? '').length + 1];
};

const greet = {
  '_modules/greet.ts': `import { CommandExecutionError, __salt__ } from 'tsalt-ssh/module';
import { word } from './lib/word.ts';
export const hello = (): string => {
  if (!word) throw new CommandExecutionError('there is no word');
  return String(__salt__['test.echo'](word));
};
`,
  '_modules/lib/word.ts': "export const word = 'good morning';\n",
  '_modules/cmd.ts': "export const run = (): string => 'mine';\n",
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

test('the packaged artifact equals a fresh build', { tags: 'slow', timeout: 240_000 }, async () => {
  const taken = await take('taken');
  const options = {
    fileRoots: {},
    cacheDir: scratch,
    controlFunctions: controlFunctions(),
    runtime: join(root, 'src/runtime/main.ts'),
  };
  const found = discoverBuiltins(root).modules;
  // Described and bundled from scratch: nothing prebuilt is used.
  const built = await withoutPrebuilt(() =>
    build({ root, dir: folder('built'), key, found, options, goal: 'host' }),
  );
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

test('an artifact with modules of a user is the same if its base is prebuilt', {
  tags: 'slow',
}, async () => {
  const { '_modules/cmd.ts': _, ...files } = greet;
  const linked = await buildWith('linked', files);
  const anew = await withoutPrebuilt(() => buildWith('without-base', files));
  expect(linked.sha).toBe(anew.sha);
  // The base has the built-in modules in the form of the prebuilt artifact.
  const { base } = JSON.parse(readFileSync(prebuiltFiles(root).index, 'utf8'));
  const taken = await take('for-its-base');
  if (!taken) throw new Error('nothing was taken');
  const js = readFileSync(pathsOf(join(scratch, 'for-its-base'), key, taken).js, 'latin1');
  expect(linked.text.slice(base.from, base.size)).toBe(js.slice(base.from, base.size));
  const blocks = js.slice(headOf(js)?.bytes);
  expect(blocks.length).toBeGreaterThan(1_000_000);
  expect(linked.text.endsWith(blocks)).toBe(true);
  expect(linked.inputs).toContain(join(root, 'src/modules/x509/exec/acme.ts'));
  expect(linked.inputs).toContain(join(scratch, 'linked/states/_modules/lib/word.ts'));
});

test('positions in both parts of a linked artifact lead to their sources', async () => {
  const { text, trace } = await buildWith('traced', greet);
  const own = trace([positionOf(text, '"there is no word"')]);
  expect(own).toMatchObject([
    { file: join(scratch, 'traced/states/_modules/greet.ts'), line: 4, own: true },
  ]);

  const [row, column] = positionOf(text, 'pip_bin');
  const [place] = trace([[row, column + (row === 1 ? artifactHead.length : 0)]]);
  expect(place?.file).toMatch(/\/src\/modules\/python_pkg\//);
});

test('a module that imports a source of tsalt-ssh has it only once', { tags: 'slow' }, async () => {
  const deep = join(root, 'src/modules/api.ts');
  const { text, broken } = await buildWith('deep', {
    '_modules/deep.ts': `import { currentLow } from ${JSON.stringify(deep)};\nexport const low = () => currentLow();\n`,
  });
  expect(broken).toEqual([]);
  expect(text).not.toContain('tsaltLink');
});

test('a build reports a name that tsalt-ssh/module does not export, and leaves out one module only', async () => {
  const { broken, text } = await buildWith('typo', {
    ...greet,
    '_modules/typo.ts':
      "import { __sal__ } from 'tsalt-ssh/module';\nexport const x = () => __sal__;\n",
  });
  expect(broken).toEqual([
    expect.stringMatching(
      /^There is no export '__sal__' in tsalt-ssh\/module \(.*typo\.ts:1:10\)$/,
    ),
  ]);
  expect(text).toContain('good morning');
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

test("the built-in modules need not be parsed for the user's own", { tags: 'slow' }, async () => {
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
