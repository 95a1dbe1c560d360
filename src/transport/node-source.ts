import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { TsaltError } from '../protocol/error.ts';
import { isUnwritable, withSpareCache } from '../trust/spare-cache.ts';
import { binaryName, type NodeTarget, nodeFolder } from './node-cache.ts';
import type { Mirror } from './node-mirror.ts';
import type { Releases } from './node-release.ts';

/** The platform of a host without a usable Node, as reported by `uname` or by its too old Node. */
export type Platform = {
  readonly os: string;
  readonly arch: string;
  readonly libc: 'glibc' | 'musl' | 'unknown';
  /** The version of its Node, if that is too old. */
  readonly have?: string;
};

/** A Node binary ready to be sent. */
export type NodeBinary = {
  /** Hex SHA-256 of the binary itself. */
  readonly sha256: string;
  /** The gzipped binary, a file on the control node. */
  readonly gz: string;
  readonly gzSize: number;
  readonly version: string;
};

export type NodeSource = {
  /**
   * Finds the binary for a platform; it is made or fetched once, however many hosts ask.
   * @throws {TsaltError} `node-platform` if there is none, with advice
   */
  readonly find: (platform: Platform, hostId: string) => Promise<NodeBinary>;
  /** Where a host of this platform can download Node itself. */
  readonly mirror?: (platform: Platform) => Mirror | undefined;
};

export type NodeSourceOptions = {
  /** The control node's cache directory; it is made private to this user. */
  readonly cacheDir: string;
  /** Whether npm may fetch an official binary if the cache has none. Default: yes. */
  readonly mayFetch?: boolean;
  readonly mirrors?: ReadonlyMap<NodeTarget, Mirror>;
  /** Releases that the user configured: they take precedence over this process's own binary. */
  readonly releases?: Releases;
  readonly log?: (message: string) => void;
};

/**
 * Supplies binaries for hosts: from the cache, from this process if it fits, or else through npm.
 */
export const nodeSource = ({
  cacheDir,
  mayFetch = true,
  mirrors,
  releases = new Map(),
  log,
}: NodeSourceOptions): NodeSource => {
  const known = new Map<NodeTarget, Promise<NodeBinary>>();
  const make = async (
    target: NodeTarget,
    hostId: string,
    platform: Platform,
  ): Promise<NodeBinary> => {
    const wanted = releases.get(target)?.version;
    const prepared = await preparedBinary(cacheDir, target, wanted);
    return withSpareCache(cacheDir, async dir => {
      const folder = await nodeFolder(dir);
      if (prepared) return await compressed(folder, prepared);
      if (wanted === undefined && isLocalTarget(target))
        return await compressed(folder, await realpath(process.execPath));
      if (!mayFetch) throw noBinary(hostId, platform, target);
      log?.(`${hostId}: fetching Node for ${target}`);
      const { fetchNode } = await import('./fetch-node.ts');
      return await compressed(folder, await fetchNode(dir, target, releases));
    });
  };
  return {
    mirror: platform => {
      const target = targetOf(platform);
      return target && mirrors?.get(target);
    },
    find: async (platform, hostId) => {
      const target = targetOf(platform);
      if (!target) throw unsupported(hostId, platform);
      const binary = known.get(target) ?? make(target, hostId, platform);
      known.set(target, binary);
      return await binary;
    },
  };
};

/** Returns the platform as the official builds name it; undefined if there is no official build. */
export const targetOf = ({ os, arch, libc }: Platform): NodeTarget | undefined => {
  if (os !== 'Linux' || libc === 'musl') return;
  if (arch === 'x86_64' || arch === 'x64') return 'linux-x64';
  if (arch === 'aarch64' || arch === 'arm64') return 'linux-arm64';
  return;
};

/**
 * Whether this process's own binary can run elsewhere. Official builds contain their libraries;
 * those of distributions are linked against the distribution's.
 */
export const isLocalTarget = (target: NodeTarget): boolean => {
  if (process.platform !== 'linux' || `linux-${process.arch}` !== target) return false;
  const variables = process.config.variables as Readonly<Record<string, unknown>>;
  const shared = Object.keys(variables).some(
    key => key.startsWith('node_shared') && variables[key] === true,
  );
  return !shared && runsOnGlibc() && !needsLibatomic();
};

const reportHeader = (): { glibcVersionRuntime?: string } =>
  (process.report.getReport() as unknown as { header: { glibcVersionRuntime?: string } }).header;

const runsOnGlibc = (): boolean => reportHeader().glibcVersionRuntime !== undefined;

/** Node 26 needs libatomic, which bare hosts lack. */
const needsLibatomic = (): boolean => Number.parseInt(process.versions.node, 10) >= 26;

/** Returns a prepared binary. A cache that is not writable may still contain one. */
const preparedBinary = async (
  cacheDir: string,
  target: NodeTarget,
  wanted: string | undefined,
): Promise<string | undefined> => {
  try {
    return await cachedBinary(await nodeFolder(cacheDir), target, wanted);
  } catch (error) {
    if (!isUnwritable(cacheDir, error)) throw error;
    return undefined;
  }
};

/**
 * Returns a prepared `node-v…-linux-x64` from the cache: the requested version, or else the newest.
 */
const cachedBinary = async (
  folder: string,
  target: NodeTarget,
  wanted: string | undefined,
): Promise<string | undefined> => {
  const names = (await readdir(folder)).filter(name =>
    wanted === undefined
      ? name.startsWith('node-v') && name.endsWith(`-${target}`)
      : name === binaryName(wanted, target),
  );
  const newest = names.sort((a, b) => a.localeCompare(b, 'en', { numeric: true })).at(-1);
  return newest && join(folder, newest);
};

/** Returns hash and gzipped copy of a binary, cached by the binary's size and time. */
const compressed = async (folder: string, binary: string): Promise<NodeBinary> => {
  const { size, mtimeMs } = await stat(binary);
  const stamp = createHash('sha256')
    .update(JSON.stringify([binary, size, mtimeMs]))
    .digest('hex')
    .slice(0, 16);
  const gz = join(folder, `${stamp}.gz`);
  const note = join(folder, `${stamp}.json`);
  const version = /node-(v[\d.]+)-/.exec(binary)?.[1] ?? process.version;
  try {
    const { sha256, gzSize } = JSON.parse(await readFile(note, 'utf8')) as NodeBinary;
    if ((await stat(gz)).size === gzSize && /^[0-9a-f]{64}$/.test(sha256))
      return { sha256, gz, gzSize, version };
  } catch {
    // Missing or incomplete.
  }
  const temporary = `${gz}.${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    const hash = createHash('sha256');
    const source = createReadStream(binary);
    source.on('data', chunk => hash.update(chunk));
    await pipeline(source, createGzip({ level: 6 }), createWriteStream(temporary, { mode: 0o600 }));
    const gzSize = (await stat(temporary)).size;
    const sha256 = hash.digest('hex');
    await rename(temporary, gz);
    await writeFile(note, JSON.stringify({ sha256, gzSize }), { mode: 0o600 });
    return { sha256, gz, gzSize, version };
  } finally {
    await rm(temporary, { force: true });
  }
};

const unsupported = (hostId: string, { os, arch, libc, have }: Platform): TsaltError => {
  if (os === '')
    return new TsaltError(
      'node-platform',
      `${hostId}: the host's shell cannot run programs: uname returned nothing.`,
      {
        kind: 'host',
        hint: 'Look at NOEXEC in sudoers, and at a restricted shell; or set node_bin in the roster.',
      },
    );
  return new TsaltError(
    'node-platform',
    `${hostId}: ${have ? `Node ${have} is too old` : 'there is no Node'}, and none can be sent for ${os} ${arch}${libc === 'musl' ? ' with musl' : ''}.`,
    {
      kind: 'host',
      hint: `${libc === 'musl' ? 'Install it there (apk add nodejs)' : 'Install Node 18 or later there'}, or set node_bin in the roster to one.`,
    },
  );
};

const noBinary = (hostId: string, { have }: Platform, target: NodeTarget): TsaltError =>
  new TsaltError(
    'node-platform',
    `${hostId}: ${have ? `Node ${have} is too old` : 'there is no Node'}, and this machine has none for ${target}.`,
    {
      kind: 'host',
      hint: `Prepare one by "tsalt-ssh node fetch ${target}", or set node_bin in the roster.`,
    },
  );
