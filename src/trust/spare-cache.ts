import { accessSync, constants, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { messageOf, TsaltError } from '../protocol/error.ts';

const codes: ReadonlySet<unknown> = new Set(
  'EACCES EDQUOT EEXIST EFBIG EIO ENOENT ENOSPC ENOTDIR EPERM EROFS'.split(' '),
);

/** Whether an error means that this folder cannot be written: it is full, read-only or not ours. */
export const cannotWrite = (dir: string, error: unknown): error is NodeJS.ErrnoException => {
  if (!(error instanceof Error) || error instanceof TsaltError) return false;
  const { code, path } = error as NodeJS.ErrnoException;
  return codes.has(code) && (path === undefined || path.startsWith(dir) || dir.startsWith(path));
};

/** Cache folders that cannot be written, with the reason. */
const unwritable = new Map<string, string>();
const spares = new Map<string, string>();
/** Reports the state of a run's cache folder. */
type Reporter = { readonly cachedir: string; readonly report: (message: string) => void };

const reporters = new Set<Reporter>();

/**
 * Reports folders of a run's cache that cannot be written, each once; those already known at once.
 *
 * @param cachedir the cache of the run
 * @param report is called with a sentence for the user
 * @returns a function that stops this
 */
export const reportUnwritableCaches = (
  cachedir: string,
  report: (message: string) => void,
): (() => void) => {
  const reporter = { cachedir, report };
  reporters.add(reporter);
  for (const [dir, reason] of unwritable) tell(reporter, dir, reason);
  return () => void reporters.delete(reporter);
};

const tell = ({ cachedir, report }: Reporter, dir: string, reason: string): void => {
  if (dir === cachedir || dir.startsWith(`${cachedir}/`)) report(warning(dir, reason));
};

const warning = (dir: string, reason: string): string =>
  `The cache folder ${dir} cannot be written: ${reason}. The run goes on without it, which is slower. Free some space, or name another folder by cachedir in tsalt.yaml.`;

/**
 * Whether an error means that a cache folder cannot be written, which is then reported. The run
 * continues if it does not need the data.
 */
export const isUnwritable = (dir: string, error: unknown): boolean => {
  if (!cannotWrite(dir, error)) return false;
  if (unwritable.has(dir)) return true;
  const reason = messageOf(causeOf(error)).replace(/, \w+( .*)?$/, '');
  unwritable.set(dir, reason);
  for (const reporter of reporters) tell(reporter, dir, reason);
  return true;
};

/**
 * Returns why a folder cannot be created: on a read-only disk, Node only reports that it is
 * missing.
 */
const causeOf = (error: NodeJS.ErrnoException): unknown => {
  if (error.code !== 'ENOENT' || error.path === undefined) return error;
  let parent = error.path;
  while (!existsSync(parent)) parent = dirname(parent);
  try {
    accessSync(parent, constants.W_OK);
    return error;
  } catch (cause) {
    return cause;
  }
};

/**
 * Works with a cache folder, or with a temporary one if it cannot be written. The temporary folder
 * is removed when the process ends.
 *
 * @throws TsaltError `cache-dir` if that cannot be written either
 */
export const withSpareCache = async <T>(
  dir: string,
  work: (dir: string) => Promise<T>,
): Promise<T> => {
  const known = spares.get(dir);
  if (known !== undefined) return work(known);
  try {
    return await work(dir);
  } catch (error) {
    if (!isUnwritable(dir, error)) throw error;
  }
  const failures: string[] = [];
  for (const place of new Set([tmpdir(), '/dev/shm', '/var/tmp'])) {
    try {
      const spare = spares.get(dir) ?? newSpare(place);
      const result = await work(spare);
      spares.set(dir, spare);
      return result;
    } catch (error) {
      if (!cannotWrite(place, error)) throw error;
      failures.push(`${place} (${error.code})`);
    }
  }
  throw new TsaltError(
    'cache-dir',
    `The cache folder ${dir} cannot be written: ${unwritable.get(dir)}. Nor can temporary files: ${failures.join(', ')}.`,
    { hint: 'Free some space, or name another folder by cachedir in tsalt.yaml.' },
  );
};

const newSpare = (place: string): string => {
  const spare = mkdtempSync(join(place, 'tsalt-cache-'));
  process.once('exit', () => rmSync(spare, { recursive: true, force: true }));
  return spare;
};
