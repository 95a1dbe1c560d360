import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
let cache = '';
let temporary = '';

const isRoot = process.getuid?.() === 0;

beforeAll(async () => {
  project = await startProject({
    files: { 'states/_modules/own.ts': "export const hello = () => 'hello';\n" },
  });
  cache = join(project.dir, 'cache');
  temporary = join(project.dir, 'temporary');
  mkdirSync(temporary);
});
afterAll(() => project.close());

beforeEach(() => {
  if (existsSync(cache)) chmodSync(cache, 0o700);
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { mode: 0o700 });
});

type Result = { readonly code: number; readonly stdout: string; readonly stderr: string };

/** Runs a shell in a mount namespace of its own, where `tsalt` is the command line. */
const apart = (lines: string, temporaryFolder = temporary): Promise<Result> =>
  new Promise(resolve => {
    const program = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const env = {
      ...process.env,
      HOME: join(project.dir, 'home'),
      NO_COLOR: '1',
      TMPDIR: temporaryFolder,
    };
    const script = `tsalt() { "${process.execPath}" "${program}" "$@"; }\n${lines}`;
    const words = isRoot ? ['unshare', '-m'] : [];
    const [command = '', ...args] = [...words, 'bash', '-ec', script];
    execFile(command, args, { cwd: project.dir, env }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    );
  });

const hello = 'web1:\n    hello\n';

const expectWarning = (stderr: string, reason: string): void => {
  const found = stderr.match(/^\[WARNING \] The cache folder .*$/gm);
  expect(found, stderr).toEqual([
    `[WARNING ] The cache folder ${cache} cannot be written: ${reason}. The run goes on without it, which is slower. Free some space, or name another folder by cachedir in tsalt.yaml.`,
  ]);
};

test.runIf(isRoot)('a full cache folder is reported once, and the run goes on', async () => {
  const { code, stdout, stderr } = await apart(
    `mount -t tmpfs -o size=64k,mode=700 none ${cache}; tsalt web1 own.hello`,
  );

  expect([code, stdout]).toEqual([0, hello]);
  expectWarning(stderr, 'ENOSPC: no space left on device');
  expect(readdirSync(temporary)).toEqual([]);
});

test.runIf(isRoot)('a read-only cache folder is reported once, and the run goes on', async () => {
  const { code, stdout, stderr } = await apart(
    `mount --bind ${cache} ${cache}; mount -o remount,ro,bind ${cache}; tsalt web1 own.hello`,
  );

  expect([code, stdout]).toEqual([0, hello]);
  expectWarning(stderr, 'EROFS: read-only file system');
  expect(readdirSync(temporary)).toEqual([]);
});

test.runIf(isRoot)('the contents of a read-only cache folder are used', async () => {
  expect((await project.run('web1', 'own.hello')).stdout).toBe(hello);
  const { code, stdout, stderr } = await apart(
    `mount --bind ${cache} ${cache}; mount -o remount,ro,bind ${cache}
for place in ${temporary} /dev/shm /var/tmp; do mount -t tmpfs -o ro none $place; done
tsalt web1 own.hello`,
  );

  expect([code, stdout, stderr]).toEqual([0, hello, '']);
});

test('a cache folder that its user must not write is reported once, and the run goes on', {
  tags: 'slow',
}, async () => {
  chmodSync(cache, 0o500);
  // Root without this capability is bound by the mode, as everybody else.
  const words = isRoot ? 'setpriv --bounding-set=-dac_override,-dac_read_search' : '';
  const program = `"${process.execPath}" "${join(packageRoot, 'dist/tsalt-ssh.cjs')}"`;
  const { code, stdout, stderr } = await apart(`${words} ${program} web1 own.hello`);

  expect([code, stdout]).toEqual([0, hello]);
  expectWarning(stderr, 'EACCES: permission denied');
  expect(readdirSync(temporary)).toEqual([]);
});

test.runIf(isRoot)('where no folder at all can be written, the error names them', async () => {
  const { code, stdout, stderr } = await apart(
    `for place in ${cache} /dev/shm /var/tmp; do mount -t tmpfs -o ro,mode=700 none $place; done
tsalt web1 own.hello`,
    '/dev/shm',
  );

  expect([code, stdout]).toEqual([64, '']);
  expect(stderr).toContain(
    `The cache folder ${cache} cannot be written: EROFS: read-only file system. Nor can temporary files: /dev/shm (EROFS), /var/tmp (EROFS).
Free some space, or name another folder by cachedir in tsalt.yaml.`,
  );
});

test('"node fetch" names a cache folder that cannot be written', () => {
  chmodSync(cache, 0o500);
  const words = isRoot ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
  const [command = '', ...args] = [...words, process.execPath];
  let result: { status?: number; stderr?: string } = {};
  try {
    execFileSync(
      command,
      [...args, join(packageRoot, 'dist/tsalt-ssh.cjs'), 'node', 'fetch', 'linux-x64'],
      { cwd: project.dir, encoding: 'utf8', stdio: 'pipe' },
    );
  } catch (error) {
    result = error as typeof result;
  }
  expect([result.status, result.stderr]).toEqual([
    64,
    expect.stringMatching(
      /^tsalt-ssh: The cache folder \S+ cannot be written: EACCES: permission den/,
    ),
  ]);
});

test.each(['/proc/tsalt/cache', '/sys/tsalt/cache', '/proc/version/cache'])(
  'a cache folder where none can be made is reported, and the run ends: %s',
  { timeout: 60_000 },
  async place => {
    const settings = join(project.dir, 'tsalt.yaml');
    const before = readFileSync(settings, 'utf8');
    project.write({ 'tsalt.yaml': before.replace('cachedir: cache', `cachedir: ${place}`) });
    try {
      const { code, stdout, stderr } = await apart('tsalt web1 own.hello');
      expect([code, stdout]).toEqual([0, hello]);
      expect(stderr).toContain(`The cache folder ${place} cannot be written: E`);
      expect(stderr.match(/ cannot be written/g)).toHaveLength(1);
    } finally {
      project.write({ 'tsalt.yaml': before });
    }
  },
);
