import { basename, isAbsolute, join, normalize, relative } from 'node:path';
import { fnmatch } from '../../../../data/python/glob.ts';
import { messageOf } from '../../../../protocol/error.ts';
import { isDir, isFile } from '../../../_shared/files/file-paths.ts';
import { readdirSync, realpathSync, rmSync } from '../../../_shared/safe-fs/fs.ts';
import { open } from '../../../_shared/safe-fs/promises.ts';
import { CommandExecutionError, getContext } from '../../../api.ts';

/** Bytes per chunk: encoded as text, a chunk stays well below the limit of one message. */
const pieceSize = 192 * 1024;

/**
 * Sends a file from this host to the control node, which stores it in
 * `cachedir/minions/<id>/files/`. Requires `file_recv: true` in tsalt.yaml; files may be at most
 * `file_recv_max_size` (default 100 MB). Returns false if the file does not exist.
 *
 * @param path the file, absolute
 * @param keep_symlinks true: keep the name of a symbolic link for the file it points at
 * @param upload_path the name that it gets there; its path here by default
 * @param remove_source true: remove it from this host after the transfer
 * @example tsalt-ssh '*' cp.push /etc/fstab
 */
export const push = async (
  path: string,
  {
    keep_symlinks = false,
    upload_path = null,
    remove_source = false,
  }: { keep_symlinks?: boolean; upload_path?: string | null; remove_source?: boolean } = {},
): Promise<boolean> => {
  if (leadsElsewhere(path) || !isAbsolute(path) || !isFile(path)) return false;
  if (upload_path && leadsElsewhere(upload_path)) return false;
  const file = keep_symlinks ? path : realpathSync(path);
  await send(
    file,
    normalize(upload_path || file)
      .split('/')
      .filter(Boolean),
  );
  if (remove_source) rmSync(file);
  return true;
};

/**
 * Sends the files of a folder, see `cp.push`. False when there are none, or one is not taken.
 *
 * @param path the folder, absolute
 * @param glob glob of the files to send
 * @param upload_path the folder that they get there; their path here by default
 * @example tsalt-ssh '*' cp.push_dir /etc/apt glob='*.list'
 */
export const push_dir = async (
  path: string,
  { glob = null, upload_path = null }: { glob?: string | null; upload_path?: string | null } = {},
): Promise<boolean> => {
  if (leadsElsewhere(path) || !isAbsolute(path)) return false;
  if (isFile(path)) return push(path, { upload_path });
  if (!isDir(path)) return false;
  const folder = realpathSync(path);
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(file => isFile(file) && (glob === null || fnmatch(basename(file), glob)))
    .sort();
  for (const file of names) {
    const place = upload_path ? join('/', upload_path, relative(folder, file)) : null;
    if (!(await push(file, { upload_path: place }))) return false;
  }
  return names.length > 0;
};

const leadsElsewhere = (path: string): boolean => path.split('/').includes('..');

const send = async (file: string, path: readonly string[]): Promise<void> => {
  const { control } = getContext();
  if (!control) throw new CommandExecutionError('there is no control node to send files to');
  const source = await open(file, 'r');
  try {
    const { size } = await source.stat();
    let offset = 0;
    do {
      const wanted = Math.min(pieceSize, size - offset);
      const { bytesRead, buffer } = await source.read(Buffer.alloc(wanted), 0, wanted, offset);
      if (bytesRead < wanted)
        throw new CommandExecutionError(`${file} became shorter while it was sent`);
      const data = buffer.toString('base64');
      await control.request('file.push', { path, offset, size, data });
      offset += bytesRead;
    } while (offset < size);
  } catch (error) {
    throw new CommandExecutionError(`${file} was not sent: ${messageOf(error)}`);
  } finally {
    await source.close();
  }
};
