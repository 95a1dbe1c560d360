import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { messageOf } from '../../../../protocol/error.ts';
import { getOwn } from '../../../../protocol/plain.ts';
import { runChecked } from '../../../_shared/commands/run-command.ts';
import { isDir } from '../../../_shared/files/file-paths.ts';
import { makeTempFolder, removeTemp } from '../../../_shared/files/temporary.ts';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
} from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { toList } from '../../../_shared/states/values.ts';
import {
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../../api.ts';
import { askEngine } from '../../docker-engine.ts';
import { sizeText } from '../../docker-results.ts';
import { docker } from '../../docker-run.ts';
import { connected } from './looks.ts';

export const __func_alias__ = { export_: 'export', import_: 'import' };

type Target = {
  /** true: also over a file */
  overwrite?: boolean;
  /** true: make its folder */
  makedirs?: boolean;
  /** `gzip`, `bzip2` or `xz`; by default, chosen by the file name */
  compression?: string | null;
};

type Written = { Time_Elapsed: number; Path: string; Size: number; Size_Human: string };

const programs: Readonly<Record<string, string>> = {
  gzip: 'gzip',
  gz: 'gzip',
  bzip2: 'bzip2',
  bz2: 'bzip2',
  xz: 'xz',
  lzma: 'xz',
};

const byName = (path: string): string | undefined =>
  /\.t(?:ar\.)?gz$/.test(path)
    ? 'gzip'
    : /\.t(?:ar\.)?bz2?$/.test(path)
      ? 'bzip2'
      : /\.t(?:ar\.)?xz$/.test(path)
        ? 'xz'
        : undefined;

/**
 * Lets `work` write a file, compresses it, and moves it into place: after a failure, the old file is
 * unchanged.
 */
const written = async (
  path: string,
  { overwrite = false, makedirs = false, compression = null }: Target,
  work: (part: string) => Promise<unknown>,
): Promise<Written> => {
  if (!isAbsolute(path)) throw new SaltInvocationError(`Path '${path}' is not absolute`);
  if (existsSync(path) && !overwrite) throw new CommandExecutionError(`${path} already exists`);
  const program = compression ? getOwn(programs, compression) : byName(path);
  if (compression && !program)
    throw new SaltInvocationError(`Invalid compression type '${compression}'`);
  if (!existsSync(dirname(path)) && !makedirs)
    throw new CommandExecutionError(
      `Parent dir ${dirname(path)} of destination path does not exist. Use makedirs=True to create it.`,
    );
  mkdirSync(dirname(path), { recursive: true });
  const started = performance.now();
  const part = `${path}.${process.pid}.part`;
  const ends: Readonly<Record<string, string>> = { gzip: '.gz', bzip2: '.bz2', xz: '.xz' };
  const packed = program ? part + ends[program] : part;
  try {
    await work(part);
    if (program) await runChecked([program, '--force', part], { cwd: '/' });
    renameSync(packed, path);
  } finally {
    for (const one of [part, packed]) rmSync(one, { force: true });
  }
  const { size } = statSync(path);
  return {
    Time_Elapsed: (performance.now() - started) / 1000,
    Path: path,
    Size: size,
    Size_Human: sizeText(size),
  };
};

/**
 * Writes the files of a container into an archive.
 *
 * @param name the container
 * @param path the archive; `.tar.gz`, `.tar.bz2` and `.tar.xz` are packed
 * @example tsalt-ssh '*' docker.export web /srv/web.tar.gz
 */
export const export_ = async (name: string, path: string, options: Target = {}): Promise<Written> =>
  written(path, options, part => docker('export', `--output=${part}`, '--', name));

/**
 * Writes an image into a file that `docker.load` takes.
 *
 * @param name the image
 * @param path the file; `.tar.gz`, `.tar.bz2` and `.tar.xz` are packed
 * @example tsalt-ssh '*' docker.save app:1.0 /srv/app.tar
 */
export const save = async (name: string, path: string, options: Target = {}): Promise<Written> =>
  written(path, options, part => docker('save', `--output=${part}`, '--', name));

/**
 * Makes an image of an archive of files.
 *
 * @param source the archive, also `salt://` or an address
 * @param repository the image's name
 * @param tag its tag
 * @param api_response accepted, but has no effect
 * @example tsalt-ssh '*' docker.import /srv/web.tar app 1.0
 */
export const import_ = async (
  source: string,
  repository: string | number,
  tag: string | number = 'latest',
  { api_response: _ = false }: { api_response?: boolean } = {},
): Promise<{ Id: string; Image: string }> => {
  const path = await localFile(source);
  const Image = `${repository}:${tag}`;
  return { Id: (await docker('import', '--', path, Image)).trim(), Image };
};

/**
 * Creates an image from the current state of a container.
 *
 * @param name the container
 * @param repository the image's name
 * @param tag its tag
 * @param message the commit message of the image
 * @param author its author
 * @example tsalt-ssh '*' docker.commit web app 1.1
 */
export const commit = async (
  name: string,
  repository: string | number,
  tag: string | number = 'latest',
  { message = null, author = null }: { message?: string | null; author?: string | null } = {},
): Promise<{ Time_Elapsed: number; Id: string }> => {
  const started = performance.now();
  const words = [
    ...(message ? [`--message=${message}`] : []),
    ...(author ? [`--author=${author}`] : []),
  ];
  const Id = (await docker('commit', ...words, '--', name, `${repository}:${tag}`)).trim();
  return { Time_Elapsed: (performance.now() - started) / 1000, Id };
};

const mustRun = async (name: string): Promise<void> => {
  if ((await salt('docker.state')(name)) !== 'running')
    throw new CommandExecutionError(`Container '${name}' is not running`);
};

/**
 * Copies a file out of a container that runs.
 *
 * @param name the container
 * @param source the file, by its path there
 * @param dest a path or a folder here
 * @example tsalt-ssh '*' docker.copy_from web /var/log/nginx/access.log /root
 */
export const copy_from = async (
  name: string,
  source: string,
  dest: string,
  { overwrite = false, makedirs = false }: Omit<Target, 'compression'> = {},
): Promise<true> => {
  await mustRun(name);
  if (!isAbsolute(dest)) throw new SaltInvocationError('Destination path must be absolute');
  if (!isAbsolute(source)) throw new SaltInvocationError('Source path must be absolute');
  const target = isDir(dest) ? join(dest, basename(source)) : dest;
  if (!existsSync(dirname(target)) && !makedirs)
    throw new SaltInvocationError(`Directory ${dirname(target)} does not exist`);
  if (existsSync(target) && !overwrite)
    throw new CommandExecutionError(
      `Destination path ${target} already exists. Use overwrite=True to overwrite it`,
    );
  mkdirSync(dirname(target), { recursive: true });
  await docker('cp', '--', `${name}:${source}`, target);
  return true;
};

/**
 * Copies a file into a container that runs.
 *
 * @param name the container
 * @param source the file here, also `salt://`
 * @param dest its path there; with `/` at its end a folder
 * @param exec_driver accepted, but has no effect
 * @example tsalt-ssh '*' docker.copy_to web salt://web/site.conf /etc/nginx/conf.d/site.conf
 */
export const copy_to = async (
  name: string,
  source: string,
  dest: string,
  {
    exec_driver: _driver = null,
    overwrite = false,
    makedirs = false,
  }: Omit<Target, 'compression'> & { exec_driver?: string | null } = {},
): Promise<true> => {
  await mustRun(name);
  if (!isAbsolute(dest)) throw new SaltInvocationError('Destination path must be absolute');
  const path = await localFile(source);
  const target = dest.endsWith('/') ? join(dest, basename(source)) : dest;
  if (!overwrite && (await isIn(name, target)))
    throw new CommandExecutionError(
      `Destination path ${target} already exists. Use overwrite=True to overwrite it`,
    );
  const missing = makedirs ? await firstMissing(name, dirname(target)) : undefined;
  if (missing === undefined) await docker('cp', '--', path, `${name}:${target}`);
  else await copyBelow(name, path, missing, target);
  return true;
};

/** Asks the engine, because a container may have no program that can check. */
const isIn = async (name: string, path: string): Promise<boolean> => {
  try {
    const where = `/containers/${encodeURIComponent(name)}/archive?path=${encodeURIComponent(path)}`;
    await askEngine('HEAD', where, {});
    return true;
  } catch (error) {
    if (/\b404$/.test(messageOf(error))) return false;
    throw error;
  }
};

const firstMissing = async (name: string, folder: string): Promise<string | undefined> =>
  folder === '/' || (await isIn(name, folder))
    ? undefined
    : ((await firstMissing(name, dirname(folder))) ?? folder);

/** Copies a file with the folders that the container does not have, and no others. */
const copyBelow = async (
  name: string,
  path: string,
  missing: string,
  target: string,
): Promise<void> => {
  const staged = makeTempFolder('.tsalt-');
  try {
    const copy = join(staged, relative(dirname(missing), target));
    mkdirSync(dirname(copy), { recursive: true, mode: 0o755 });
    copyFileSync(path, copy);
    await docker('cp', '--', join(staged, basename(missing)), `${name}:${dirname(missing)}`);
  } finally {
    removeTemp(staged);
  }
};

const localFile = async (source: string): Promise<string> => {
  if (!/^\w+:\/\//.test(source)) return source;
  const path = (await salt('cp.cache_file')(source)) as string | false;
  if (!path) throw new CommandExecutionError(`Source file ${source} does not exist`);
  return path;
};

/**
 * Disconnects all containers from a network and returns their names.
 *
 * @param network_id the network
 * @example tsalt-ssh '*' docker.disconnect_all_containers_from_network front
 */
export const disconnect_all_containers_from_network = async (
  network_id: string,
): Promise<string[]> => {
  const done: string[] = [];
  const errors: string[] = [];
  for (const name of (await connected(network_id)) as string[])
    try {
      await docker('network', 'disconnect', '--', network_id, name);
      done.push(name);
    } catch (error) {
      errors.push(messageOf(error));
    }
  if (errors.length > 0)
    throw new CommandExecutionError(
      `One or more containers failed to be removed: ${errors.join('; ')}`,
    );
  return done;
};

/**
 * Removes what docker does not need: stopped containers, networks without containers, images
 * without a tag, and what was kept of builds. Volumes stay unless they are asked for.
 *
 * @param containers true: stopped containers
 * @param networks true: networks
 * @param images true: images
 * @param build true: the build cache
 * @param volumes true: volumes
 * @param system true: all of them except volumes; the default if none is selected
 * @param filters further ones are filters, as `until=24h`, `label=temporary` or `dangling=false`
 * @example tsalt-ssh '*' docker.prune containers=True until=24h
 */
export const prune = async ({
  containers = false,
  networks = false,
  images = false,
  build = false,
  volumes = false,
  system = null,
  ...filters
}: {
  containers?: boolean;
  networks?: boolean;
  images?: boolean;
  build?: boolean;
  volumes?: boolean;
  system?: boolean | null;
  [filter: string]: Plain | undefined;
} = {}): Promise<PlainDict> => {
  const all = system ?? !(containers || networks || images || build);
  const only = Object.entries(filters).map(([name, value]) => [name, toList(String(value))]);
  const query = encodeURIComponent(JSON.stringify(Object.fromEntries(only)));
  const kinds = { containers, images, networks, build };
  const wanted = [
    ...Object.entries(kinds).flatMap(([kind, isAsked]) => (all || isAsked ? [kind] : [])),
    ...(volumes ? ['volumes'] : []),
  ];
  const answer: PlainDict = {};
  for (const kind of wanted)
    answer[kind] = await askEngine('POST', `/${kind}/prune?filters=${query}`, {});
  return answer;
};
