import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { removeFolder } from '../../helpers/remove-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const dir = mkdtempSync(join(root, 'test/.user-types-'));
afterAll(() => removeFolder(dir));

const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
};

const tsalt = (...args: string[]) =>
  spawnSync(process.execPath, [join(root, 'dist/tsalt-ssh.cjs'), '-c', dir, ...args], {
    cwd: dir,
    encoding: 'utf8',
  });

/** The errors of the compiler: file, line and code. */
const compile = (): string[] => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout, stderr } = spawnSync(process.execPath, [tsc, '-p', dir], {
    cwd: dir,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return stdout.split('\n').flatMap(line => {
    if (line.startsWith('error')) throw new Error(line);
    const [, file, at, code] = /^(\S+)\((\d+),\d+\): error (TS\d+)/.exec(line) ?? [];
    return file === undefined ? [] : [`${file}:${at} ${code}`];
  });
};

write('tsalt.yaml', 'file_roots: { base: [states, more] }\nmodule_dirs: [extra]\n');
write(
  'tsconfig.json',
  JSON.stringify({
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      skipLibCheck: false,
      paths: {
        'tsalt-ssh/module': [join(root, 'src/modules/api.ts')],
        'tsalt-ssh/testing': [join(root, 'src/modules/testing.ts')],
      },
    },
    include: ['**/*.ts'],
    exclude: [],
  }),
);
write(
  'states/_modules/note.ts',
  `import { __salt__ } from 'tsalt-ssh/module';

export type Mode = 'plain' | 'rich';
export const __func_alias__ = { list_: 'list' };

/** Returns a note. It has a second sentence. */
export const get = async (path: string, { mode = 'plain' }: { mode?: Mode } = {}) => {
  const text = await __salt__['cmd.run'](['cat', path]);
  return { text, mode };
};

/** Lists notes. */
export const list_ = (...folders: string[]): string[] => folders;

/** Takes what only its file can name. */
export const pick = (by: ReturnType<typeof list_>) => by.length;
`,
);
write('states/_modules/pkg.ts', 'export const install = (name: string): number => name.length;\n');
write('states/_modules/plain.js', 'exports.twice = (value, { more = 1 } = {}) => value + more;\n');
write('states/_modules/made.js', 'Object.assign(exports, { later: () => 1 });\n');
write('more/_modules/cloud/disk.ts', 'export const size = (): number => 1;\n');
write('extra/outside.ts', 'export const here = async (): Promise<boolean> => true;\n');
write('states/_modules/old.py', 'def run(): pass\n');
write(
  'states/_utils/words.ts',
  'export const join = (words: readonly string[]) => words.join();\n',
);
write(
  'states/_grains/role.ts',
  `import { __grains__ } from 'tsalt-ssh/module';
export const role = (): { role: 'db' | 'web' } => ({ role: __grains__.id === 'a' ? 'db' : 'web' });
export const guessed = () => ({ guessed: __grains__.role });
`,
);
write(
  'states/_modules/thing.ts',
  `export const __contracts__ = ['auto_state'];
const done = <T>(ret: T) => ({ result: true, comment: '', ret });
export const get = async (name: string) => done({ name });
export const list = async () => done({});
export const create = async (name: string, { size = 1 }: { size?: number } = {}) => done(name + size);
export const update = create;
export const delete_ = async (name: string) => done(name);
export const __func_alias__ = { delete_: 'delete' };
`,
);
write(
  'states/_states/note.ts',
  `import { __grains__, __opts__, __salt__, __states__, __utils__, type StateReturn } from 'tsalt-ssh/module';

/** Makes sure that a note has this text. */
export const present = async (name: string, { text }: { text: string }): Promise<StateReturn> => {
  const old = (await __salt__['note.get'](name, { mode: 'rich' })).text satisfies string;
  if (old === text || __opts__.test) return { name, changes: {}, result: true, comment: '' };
  const sizes: number[] = [await __salt__['cloud.disk.size'](), await __salt__['pkg.install']('a')];
  const all: string[] = await __salt__['note.list']('a', 'b');
  await __salt__['note.pick'](all);
  await __salt__['plain.twice'](1, { more: 2 });
  await __salt__['made.later']('anything');
  await __salt__['old.run']();
  const here: boolean = await __salt__['outside.here']();
  const role: 'db' | 'web' = __grains__.role;
  await __states__['thing.present']('x', { size: 3 });
  return __states__['note.present'](__utils__['words.join']([role]), { text: String([sizes, here]) });
};
`,
);

test('tsalt-ssh types declares the modules of all file roots and folders', () => {
  const { status, stdout, stderr } = tsalt('types');
  expect(stderr).toBe('');
  expect(status).toBe(0);
  expect(stdout).toMatch(/^wrote tsalt-ssh\.d\.ts: 16 functions of \d+ modules\n/);
  expect(stdout).toMatch(/untyped: \S*old\.py: it is written in Python/);
  expect(stdout).toMatch(/untyped: \S*made\.js: some of its functions only exist when it runs/);
  const text = readFileSync(join(dir, 'tsalt-ssh.d.ts'), 'utf8');
  expect(text).toContain('/** Returns a note. */');
  expect(text).toContain('interface ReplacedModules {\n    "pkg": true;\n  }');
  expect(tsalt('types').stdout).toMatch(/^unchanged tsalt-ssh\.d\.ts/);
});

test('modules that use one another compile with these declarations', { tags: 'slow' }, () => {
  expect(compile()).toEqual([]);
});

test('a misspelt name, a wrong argument and a replaced function are errors', {
  tags: 'slow',
}, () => {
  write(
    'wrong.ts',
    `import { __salt__, __states__, __utils__ } from 'tsalt-ssh/module';
export const wrong = async () => [
  await __salt__['note.gte']('x'),
  await __states__['note.presnet']('x', { text: '' }),
  __utils__['words.jion']([]),
  await __salt__['note.get'](5),
  await __salt__['note.get']('x', { mode: 'loud' }),
  await __salt__['note.get']('x', { mdoe: 'rich' }),
  await __salt__['pkg.remove']('x'),
];
`,
  );
  expect(compile().sort()).toEqual(
    [
      'wrong.ts:3 TS2551',
      'wrong.ts:4 TS2551',
      'wrong.ts:5 TS2551',
      'wrong.ts:6 TS2769',
      'wrong.ts:7 TS2322',
      'wrong.ts:8 TS2353',
      'wrong.ts:9 TS7053',
    ].sort(),
  );
});

test('a file that somebody else wrote is left alone', () => {
  write('own.d.ts', 'export {};\n');
  const refused = tsalt('types', 'own.d.ts');
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain('was not written by tsalt-ssh types');
  expect(readFileSync(join(dir, 'own.d.ts'), 'utf8')).toBe('export {};\n');
  expect(tsalt('types', 'types.ts').stderr).toContain('It must end in .d.ts');
  expect(tsalt('types', 'none/x.d.ts').stderr).toContain('does not exist');
  expect(tsalt('types', 'a.d.ts', 'b.d.ts').stderr).toContain('types takes one file');
});
