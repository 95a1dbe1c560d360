import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { moduleFolders } from '../../config/module-dirs.ts';
import { FileRoots } from '../../fileserver/file-roots.ts';
import { TsaltError } from '../../protocol/error.ts';
import { type Blob, blobName } from '../../queue/blobs.ts';
import { keyedName } from '../../queue/cipher.ts';
import { type PublicKey, type QueueKeys, workerId } from '../../queue/keys.ts';

/** The files of a project as remote workers receive them: without the pillar. */
export type SentProject = {
  /** The key of the contents, base64. */
  readonly key: string;
  /** The folder in which the run was started: messages show paths relative to it. */
  readonly cwd: string;
  /** Absolute path on the control node, name of the content, permission bits. */
  readonly files: readonly (readonly [path: string, blob: string, mode: number])[];
  /** Empty folders. */
  readonly folders: readonly string[];
  /** The known host keys. */
  readonly knownHosts?: string;
};

/** Bytes of all files of a project. Redis holds them in memory. */
const mostBytes = 512 * 1024 * 1024;

/**
 * Collects the files that a run may need on a remote worker: the file roots and the folders of
 * modules. The pillar is not sent.
 *
 * @returns the project, and the contents for the queue
 * @throws TsaltError `queue-project` if it is too large
 */
export const collectProject = async (
  config: Config,
  key: Buffer,
): Promise<{ readonly project: SentProject; readonly blobs: readonly Blob[] }> => {
  const { fileRoots, extraDirs } = moduleFolders(config);
  const roots = [
    ...new Set([...Object.values(fileRoots).flat(), ...Object.values(extraDirs).flat()]),
  ];
  const files = new Map<string, readonly [string, string, number]>();
  const folders: string[] = [];
  const blobs = new Map<string, Blob>();
  let bytes = 0;
  for (const root of roots) {
    // Each root by itself: the worker decides as the control node does which root provides a
    // file.
    const tree = new FileRoots({ base: [root] }, config);
    for (const folder of tree.listEmptyDirs('base')) folders.push(join(root, folder));
    for (const rel of tree.list('base')) {
      const found = tree.find(rel, 'base');
      if (!found) continue;
      bytes += found.size;
      if (bytes > mostBytes) throw tooLarge();
      const name = blobName(key, await tree.hash(rel, 'base'));
      const path = join(root, rel);
      files.set(path, [path, name, found.mode & 0o777]);
      blobs.set(name, { name, read: async () => readFileSync(found.path) });
    }
  }
  const knownHosts = config.known_hosts_file === undefined ? '' : textOf(config.known_hosts_file);
  return {
    project: {
      key: key.toString('base64'),
      cwd: process.cwd(),
      files: [...files.values()],
      folders,
      ...(knownHosts === '' ? {} : { knownHosts }),
    },
    blobs: [...blobs.values()],
  };
};

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const tooLarge = (): TsaltError =>
  new TsaltError(
    'queue-project',
    `The file roots have more than ${mostBytes / 1024 / 1024} MB: they do not go through a queue.`,
    { hint: 'Put large files where hosts can fetch them: https:// with source_hash.' },
  );

/**
 * The key of the project's files in the queue. It differs as soon as a worker is added or removed: one
 * that was removed can read no file that is sent after that.
 */
export const projectKey = (
  keys: QueueKeys,
  workers: ReadonlyMap<string, readonly PublicKey[]>,
): Buffer => {
  const seed = Buffer.from(keys.identity, 'utf8');
  const recipients = [...workers.values()].flat().map(workerId);
  return Buffer.from(
    keyedName(seed, ['tsalt-ssh project', ...recipients.sort()].join('\n')),
    'hex',
  );
};
