import { spawn } from 'node:child_process';
import { dirname, join, normalize, sep } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../../protocol/error.ts';
import { writeBytes } from '../_shared/files/atomic-write.ts';
import {
  chmodSync,
  closeSync,
  constants,
  createReadStream,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
} from '../_shared/safe-fs/fs.ts';
import { followLinks } from '../_shared/safe-fs/open-parent.ts';
import { CommandExecutionError } from '../api.ts';
import { readTar } from './tar-reader.ts';
import { withZip } from './zip-reader.ts';

export type Member = { readonly path: string; readonly kind: 'file' | 'dir' | 'symlink' | 'link' };

export type ArchiveFormat = 'tar' | 'zip';

/** Guesses an archive's format from its file name. */
export const guessFormat = (name: string): ArchiveFormat | undefined => {
  const lower = name.toLowerCase().replace(/[?#].*$/, '');
  if (/\.(zip|jar|war|whl)$/.test(lower)) return 'zip';
  return /\.(tar|tgz|tbz2?|txz|tlz|tzst)$|\.tar\.\w+$/.test(lower) ? 'tar' : undefined;
};

type Item = Member & {
  readonly mode: number | undefined;
  readonly mtime?: number;
  readonly target: string;
  readonly body: () => AsyncIterable<Buffer>;
};

/** Selects the members of an archive, their names, and how they are read. */
type Choice = {
  /** The number of leading path components to remove. */
  readonly strip?: number | undefined;
  readonly password?: string | undefined;
  /** Called with the member's name in the archive. */
  readonly isWanted?: ((name: string) => boolean) | undefined;
};

/** Lists the members of an archive. */
export const listArchive = async (
  file: string,
  format: ArchiveFormat,
  choice: Choice = {},
): Promise<Member[]> => {
  const members: Member[] = [];
  await eachItem(file, format, choice, async ({ path, kind }) => {
    members.push({ path, kind });
  });
  return members;
};

/**
 * Unpacks an archive below a directory. Nothing is written outside of it: absolute paths, `..`
 * and devices are refused, and links that the archive brings are never written through.
 */
export const unpackArchive = async (
  file: string,
  format: ArchiveFormat,
  dest: string,
  {
    keepModes = true,
    exclude = [],
    ...choice
  }: Choice & {
    keepModes?: boolean;
    /** Full names of members that are left out. */
    exclude?: readonly string[];
  } = {},
): Promise<string[]> => {
  mkdirSync(dest, { recursive: true });
  const root = followLinks(dest);
  const done: string[] = [];
  await eachItem(file, format, choice, async item => {
    const name = item.kind === 'dir' ? `${item.path}/` : item.path;
    if (exclude.includes(name)) return;
    await place(item, root, keepModes);
    done.push(name);
  });
  return done;
};

const eachItem = async (
  file: string,
  format: ArchiveFormat,
  { strip = 0, password, isWanted = () => true }: Choice,
  visit: (item: Item) => Promise<void>,
): Promise<void> => {
  const accept = async (
    name: string,
    kind: string,
    item: Omit<Item, 'path' | 'kind'>,
  ): Promise<void> => {
    const path = safePath(name, strip);
    if (path === undefined || !isWanted(name)) return;
    if (kind === 'other')
      throw new CommandExecutionError(`The archive holds a device or pipe, ${name}: refused`);
    await visit({ ...item, path, kind: kind as Member['kind'] });
  };
  if (format === 'zip')
    return withZip(file, async entries => {
      for (const { name, kind, mode, content } of entries) {
        const target = kind === 'symlink' ? content(password).toString('utf8') : '';
        await accept(name, kind, {
          mode,
          target,
          body: () => once(kind === 'file' ? content(password) : undefined),
        });
      }
    });
  for await (const { entry, body } of readTar(decompressed(file))) {
    const target = entry.kind === 'link' ? (safePath(entry.target, strip) ?? '') : entry.target;
    await accept(entry.name, entry.kind, { mode: entry.mode, mtime: entry.mtime, target, body });
  }
};

async function* once(content: Buffer | undefined): AsyncGenerator<Buffer> {
  if (content) yield content;
}

const safePath = (name: string, strip: number): string | undefined => {
  if (name.startsWith('/') || name.split('/').includes('..') || name.includes('\0'))
    throw new CommandExecutionError(
      `The archive contains a path outside of its folder, ${JSON.stringify(name)}: refused`,
    );
  const parts = normalize(name)
    .split('/')
    .filter(part => part !== '' && part !== '.')
    .slice(strip);
  return parts.length === 0 ? undefined : parts.join('/');
};

const place = async (item: Item, root: string, keepModes: boolean): Promise<void> => {
  const path = join(root, item.path);
  mkdirSync(dirname(path), { recursive: true });
  const parent = realpathSync(dirname(path));
  if (parent !== root && !parent.startsWith(root + sep))
    throw new CommandExecutionError(
      `The archive would write through a link, at ${item.path}: refused`,
    );
  const there = lstatSync(path, { throwIfNoEntry: false });
  if (item.kind === 'dir') {
    if (there && !there.isDirectory()) rmSync(path);
    mkdirSync(path, { recursive: true });
    if (keepModes && item.mode !== undefined) chmodSync(path, item.mode | 0o700);
    return;
  }
  if (there) clear(path, there.isDirectory());
  if (item.kind === 'symlink') return symlinkSync(item.target, path);
  if (item.kind === 'link') {
    const target = join(root, item.target);
    const real = realpathSync(target);
    if (!real.startsWith(root + sep) || lstatSync(target).isSymbolicLink())
      throw new CommandExecutionError(
        `The archive links to a file outside, at ${item.path}: refused`,
      );
    return linkSync(real, path);
  }
  const { O_CREAT, O_EXCL, O_WRONLY, O_NOFOLLOW } = constants;
  const mode = keepModes && item.mode !== undefined ? item.mode & 0o777 : undefined;
  // A file with restricted permissions must not be readable by others before it is complete.
  const fd = openSync(
    path,
    O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW,
    mode === undefined ? 0o666 : mode & 0o600,
  );
  try {
    for await (const part of item.body()) writeBytes(fd, part);
  } catch (error) {
    // Removes a partial file, which the next run would take for the complete one.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
  if (mode !== undefined) chmodSync(path, mode);
  if (item.mtime !== undefined) utimesSync(path, item.mtime, item.mtime);
};

/** Removes an existing path in a member's place, like tar: a folder only if it is empty. */
const clear = (path: string, isFolder: boolean): void => {
  try {
    if (isFolder) rmdirSync(path);
    else rmSync(path);
  } catch (error) {
    throw new CommandExecutionError(
      `${path} is in the way of a file of the archive, and cannot be removed: ${messageOf(error)}`,
    );
  }
};

const magic: readonly [Buffer, string[] | 'gzip'][] = [
  [Buffer.of(0x1f, 0x8b), 'gzip'],
  [Buffer.from('BZh'), ['bzip2', '-dc']],
  [Buffer.of(0xfd, 0x37, 0x7a, 0x58, 0x5a), ['xz', '-dc']],
  [Buffer.of(0x28, 0xb5, 0x2f, 0xfd), ['zstd', '-dc']],
  [Buffer.from('LZIP'), ['lzip', '-dc']],
];

/**
 * Returns a tar file's decompressed bytes. The compression is detected from its first bytes, not
 * from its name.
 */
async function* decompressed(file: string): AsyncGenerator<Uint8Array> {
  let head: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { end: 15 })) head = chunk as Buffer;
  const how = magic.find(([start]) => head.subarray(0, start.length).equals(start))?.[1];
  // Either stream's end and errors are handled by the other.
  if (how === 'gzip') yield* pipeline(createReadStream(file), createGunzip(), () => {});
  else if (how) yield* throughProgram(how, file);
  else yield* createReadStream(file);
}

async function* throughProgram(
  [program = '', ...args]: string[],
  file: string,
): AsyncGenerator<Uint8Array> {
  const child = spawn(program, [...args, '--', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<string>(resolve => {
    let said = '';
    child.stderr.on('data', (text: Buffer) => {
      said += text.toString();
    });
    child.on('error', error =>
      resolve(`${program} cannot be started (${error.message}); install it`),
    );
    child.on('close', code => resolve(code === 0 ? '' : `${program} failed: ${said.trim()}`));
  });
  for await (const chunk of child.stdout) yield chunk as Buffer;
  const problem = await ended;
  if (problem) throw new CommandExecutionError(problem);
}
