import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { requirementsNamed, saltRequirementsNamed } from '../../data/requirements-files.ts';
import { readAccounts } from '../_shared/commands/accounts.ts';
import { exists } from '../_shared/files/file-paths.ts';
import { makeTempFolder, removeTemp } from '../_shared/files/temporary.ts';
import { chownSync, copyFileSync, mkdirSync, readFileSync } from '../_shared/safe-fs/fs.ts';
import { salt } from '../_shared/states/call.ts';
import { toList } from '../_shared/states/values.ts';
import { CommandExecutionError, type Plain } from '../api.ts';

type Where = { user?: string | null; cwd?: string | null; saltenv?: string | null };

/**
 * Calls `work` with the paths of requirements files. Those of `salt://` are fetched, with the files
 * that they name by `-r` and `-c`; for another account all are copied to where it can read them.
 */
export const withRequirements = async <T>(
  given: Plain | undefined,
  { user, cwd, saltenv }: Where,
  work: (paths: string[]) => Promise<T>,
): Promise<T> => {
  const paths: string[] = [];
  for (const one of toList(given))
    paths.push(one.startsWith('salt://') ? await fetchChain(one, saltenv ?? null) : one);
  const isOnHost = (path: string): boolean => !/^[a-z][a-z+]*:\/\//i.test(path);
  const here = paths.filter(isOnHost).map(path => resolve(cwd ?? '/', path));
  return user && here.length > 0 && process.getuid?.() === 0
    ? withCopies(here, user, copies => {
        const left = [...copies];
        return work(paths.map(path => (isOnHost(path) ? (left.shift() ?? path) : path)));
      })
    : work(paths);
};

const fetchChain = async (
  url: string,
  saltenv: string | null,
  seen = new Set<string>(),
): Promise<string> => {
  const path = (await salt('cp.cache_file')(url, ...(saltenv ? [saltenv] : []))) as string | false;
  if (!path) throw new CommandExecutionError(`pip requirements file '${url}' not found`);
  seen.add(url);
  for (const next of saltRequirementsNamed(url, readFileSync(path, 'utf8')))
    if (!seen.has(next)) await fetchChain(next, saltenv, seen);
  return path;
};

const withCopies = async <T>(
  paths: readonly string[],
  user: string,
  work: (paths: string[]) => Promise<T>,
): Promise<T> => {
  const account = (await readAccounts()).find(({ name }) => name === user);
  if (!account) throw new CommandExecutionError(`User ${user} does not exist`);
  const folder = makeTempFolder('.tsalt-');
  try {
    const files = [...new Set(paths.flatMap(path => chainOf(path)))];
    const top = commonFolder(files);
    const copyOf = (path: string): string => join(folder, relative(top, path));
    for (const file of files) {
      mkdirSync(dirname(copyOf(file)), { recursive: true, mode: 0o755 });
      copyFileSync(file, copyOf(file));
      chownSync(copyOf(file), account.uid, account.gid);
    }
    // Not before: what the account can write to, it could lead elsewhere by a link.
    chownSync(folder, account.uid, account.gid);
    return await work(paths.map(copyOf));
  } finally {
    removeTemp(folder);
  }
};

const chainOf = (path: string, seen: readonly string[] = []): string[] => {
  if (!exists(path)) throw new CommandExecutionError(`pip requirements file '${path}' not found`);
  const known = [...seen, path];
  const children = named(path)
    .filter(child => !isAbsolute(child))
    .map(child => resolve(dirname(path), child));
  return [path, ...children.flatMap(child => (known.includes(child) ? [] : chainOf(child, known)))];
};

const named = (path: string): string[] => requirementsNamed(readFileSync(path, 'utf8'));

const commonFolder = (files: readonly string[]): string => {
  let top = dirname(files[0] ?? '/');
  while (files.some(file => relative(top, file).startsWith('..'))) top = dirname(top);
  return top;
};
