import { basename, join } from 'node:path';
import { readNames, readOr } from '../_shared/files/read-file.ts';
import { replaceFile } from '../_shared/files/write-file.ts';
import { readFile, rm } from '../_shared/safe-fs/promises.ts';
import { salt } from '../_shared/states/call.ts';
import { toList } from '../_shared/states/values.ts';
import { __grains__, CommandExecutionError, type Plain, SaltInvocationError } from '../api.ts';
import {
  type AptPiece,
  type AptSource,
  formatAptLine,
  formatStanza,
  isMeant,
  parseAptLine,
  readListFile,
  readSourcesFile,
  sameArchitectures,
} from './apt-sources.ts';
import { dearmor, fingerprints, isArmored } from './openpgp.ts';

/** A source as the pkg functions return it. */
export type AptRepo = {
  file: string;
  type: string;
  uri: string;
  dist: string;
  comps: string[];
  architectures: string[];
  signedby: string;
  trusted: string;
  disabled: boolean;
  comments: string;
  line: string;
};

/** Properties of a source in addition to its line. */
export type RepoOptions = {
  file?: string | null;
  comps?: Plain;
  dist?: string | null;
  architectures?: Plain;
  comments?: Plain;
  disabled?: boolean | null;
  enabled?: boolean | null;
  signedby?: string | null;
  trusted?: boolean | null;
};

const defaultFile = '/etc/apt/sources.list';
const listFolder = '/etc/apt/sources.list.d';

type SourceFile = { readonly path: string; readonly pieces: AptPiece[] };

const isStanzas = (path: string): boolean => path.endsWith('.sources');

const readSourceFiles = (): SourceFile[] =>
  [
    defaultFile,
    ...readNames(listFolder)
      .filter(name => /\.(?:list|sources)$/.test(name))
      .map(name => join(listFolder, name)),
  ].flatMap(path => {
    const text = readOr(path);
    return text === undefined ? [] : [readSourceFile(path, text)];
  });

const readSourceFile = (path: string, text: string): SourceFile => ({
  path,
  pieces: isStanzas(path) ? readSourcesFile(text) : readListFile(text),
});

const toRepo = (file: string, source: AptSource): AptRepo => ({
  file,
  type: source.type,
  uri: source.uri,
  dist: source.dist,
  comps: [...source.comps],
  architectures: (source.options.arch ?? '').split(',').filter(part => part !== ''),
  signedby: source.options['signed-by'] ?? '',
  trusted: source.options.trusted ?? '',
  disabled: source.disabled,
  comments: source.comment,
  line: formatAptLine({ ...source, disabled: false }),
});

/** Lists all sources of this system, in order. */
export const listRepos = (): AptRepo[] =>
  readSourceFiles().flatMap(({ path, pieces }) =>
    pieces.flatMap(({ sources }) => sources.map(source => toRepo(path, source))),
  );

/** Returns the source that a line and its options describe. */
export const desiredSource = (repo: string, options: RepoOptions): AptSource => {
  const line = repo.startsWith('ppa:') ? ppaLine(repo) : repo;
  const source = parseAptLine(line);
  const architectures = toList(options.architectures);
  const comps = toList(options.comps);
  const isDisabled = options.disabled ?? (options.enabled === false ? true : source.disabled);
  return {
    ...source,
    dist: options.dist || source.dist,
    comps: comps.length > 0 ? comps : source.comps,
    disabled: isDisabled,
    comment: options.comments ? toList(options.comments).join(' ') : source.comment,
    options: {
      ...source.options,
      ...(architectures.length > 0 ? { arch: architectures.join(',') } : {}),
      ...(options.signedby ? { 'signed-by': options.signedby } : {}),
      ...(options.trusted === true ? { trusted: 'yes' } : {}),
    },
  };
};

const ppaLine = (repo: string): string => {
  const [owner, name = 'ppa'] = repo.slice('ppa:'.length).split('/');
  const codename: unknown = __grains__.oscodename;
  if (!owner || typeof codename !== 'string')
    throw new SaltInvocationError(`Cannot tell what ${repo} stands for: write ppa:OWNER/NAME.`);
  return `deb https://ppa.launchpadcontent.net/${owner}/${name}/ubuntu ${codename} main`;
};

export const desiredRepo = (repo: string, options: RepoOptions): AptRepo => {
  const os = String(__grains__.os);
  if (repo.startsWith('ppa:') && !['Ubuntu', 'Mint', 'neon'].includes(os))
    throw new CommandExecutionError(
      `Personal archives (ppa:) are made for Ubuntu, and this is ${os}: write the whole line of a source that is meant for it.`,
    );
  return toRepo(options.file ?? defaultFile, desiredSource(repo, options));
};

/** Returns the source to search for: with the components of its line and those of the options. */
const soughtSource = (repo: string, options: RepoOptions): AptSource => {
  const wanted = desiredSource(repo, options);
  const { comps } = desiredSource(repo, {});
  return { ...wanted, comps: [...new Set([...wanted.comps, ...comps])] };
};

/** Finds the source of this system that a line describes. */
export const findRepo = (repo: string, options: RepoOptions = {}): AptRepo | undefined => {
  const sought = soughtSource(repo, options);
  for (const { path, pieces } of readSourceFiles())
    for (const { sources } of pieces)
      for (const source of sources) if (isMeant(source, sought)) return toRepo(path, source);
  return undefined;
};

/**
 * Whether this system has the source of a line, with exactly the same architectures. False for
 * other text.
 */
export const hasRepo = (repo: string): boolean => {
  const wanted = sourceOr(repo);
  if (!wanted) return false;
  return readSourceFiles().some(({ pieces }) =>
    pieces.some(({ sources }) => sources.some(source => isTaken(source, wanted))),
  );
};

const sourceOr = (repo: string): AptSource | undefined => {
  try {
    return desiredSource(repo, {});
  } catch (error) {
    if (error instanceof SaltInvocationError) return undefined;
    throw error;
  }
};

const isTaken = (entry: AptSource, wanted: AptSource): boolean =>
  isMeant(entry, wanted) && sameArchitectures(entry, wanted);

/** Writes a source: in its current file, or else in `file` or sources.list. */
export const saveRepo = async (
  repo: string,
  options: RepoOptions & { clean_file?: boolean },
): Promise<void> => {
  const wanted = desiredSource(repo, options);
  const sought = soughtSource(repo, options);
  if (options.clean_file && options.file) await replaceFile(options.file, '');
  const files = readSourceFiles();
  const holder = files.find(({ pieces }) =>
    pieces.some(({ sources }) => sources.some(source => isMeant(source, sought))),
  );
  const path = holder?.path ?? options.file ?? defaultFile;
  const file = holder ?? readSourceFile(path, readOr(path) ?? '');
  let isPlaced = false;
  const pieces = file.pieces.flatMap((piece): string[] => {
    const place = isPlaced ? -1 : piece.sources.findIndex(source => isMeant(source, sought));
    if (place === -1) return [piece.text];
    isPlaced = true;
    const { comment } = piece.sources[place] ?? wanted;
    const kept = { ...wanted, comment: wanted.comment || comment };
    return piece.sources.map((source, at) => written(path, at === place ? kept : source));
  });
  await writeSourceFile(
    path,
    isPlaced ? pieces : [...withoutLastBlanks(pieces), written(path, wanted)],
  );
};

const withoutLastBlanks = (pieces: readonly string[]): readonly string[] =>
  pieces.slice(0, pieces.findLastIndex(piece => piece.trim() !== '') + 1);

const written = (path: string, source: AptSource): string =>
  isStanzas(path) ? formatStanza(source) : formatAptLine(source);

const writeSourceFile = async (path: string, pieces: readonly string[]): Promise<void> => {
  const separator = isStanzas(path) ? '\n\n' : '\n';
  const kept = isStanzas(path)
    ? pieces.map(piece => piece.trim()).filter(piece => piece !== '')
    : pieces.filter(
        (piece, at) => piece !== '' || (at > 0 && at < pieces.length - 1 && pieces[at + 1] !== ''),
      );
  await replaceFile(path, kept.length === 0 ? '' : `${kept.join(separator).trimEnd()}\n`);
};

/**
 * Removes a source, or those of its components that are named; removes a file of sources.list.d
 * that becomes empty. Returns the changed files.
 */
export const removeRepo = async (repo: string): Promise<string[]> => {
  const wanted = desiredSource(repo, {});
  const touched: string[] = [];
  for (const { path, pieces } of readSourceFiles()) {
    const isIn = ({ sources }: AptPiece): boolean =>
      sources.some(source => isTaken(source, wanted));
    if (!pieces.some(isIn)) continue;
    touched.push(path);
    const kept = pieces.flatMap(piece =>
      isIn(piece)
        ? piece.sources
            .flatMap(source => (isTaken(source, wanted) ? without(source, wanted.comps) : [source]))
            .map(source => written(path, source))
        : [piece.text],
    );
    await writeSourceFile(path, kept);
    const isEmpty = kept.every(text => text.trim() === '');
    if (isEmpty && path.startsWith(`${listFolder}/`)) await rm(path, { force: true });
  }
  return touched;
};

/** Returns a source without these components; none if no component is left. */
const without = (source: AptSource, gone: readonly string[]): AptSource[] => {
  const comps = gone.length === 0 ? [] : source.comps.filter(comp => !gone.includes(comp));
  return comps.length === 0 ? [] : [{ ...source, comps }];
};

export type KeyOptions = {
  key_url?: string | null;
  key_text?: string | null;
  keyid?: Plain;
  keyserver?: string | null;
  saltenv?: string;
};

/** Whether the key that a source names exists, so that it need not be fetched. */
export const hasKey = (wanted: AptRepo): boolean =>
  wanted.signedby === '' ||
  !wanted.signedby.startsWith('/') ||
  (readOr(wanted.signedby)?.length ?? 0) > 0;

/**
 * Fetches a source's key and stores it in the file that the source names, or else among the trusted
 * keys.
 */
export const saveKey = async (
  wanted: Pick<AptRepo, 'signedby'>,
  options: KeyOptions,
): Promise<void> => {
  const ids = toList(options.keyid);
  const key = await fetchKey(options, ids);
  if (!key) return;
  const found = fingerprints(key);
  if (found.length === 0)
    throw new CommandExecutionError(
      `What came from ${options.key_url ?? options.keyserver ?? 'key_text'} is no OpenPGP public key.`,
    );
  const isOf = (print: string, id: string): boolean =>
    print.endsWith(id.replace(/^0x/i, '').toUpperCase());
  for (const id of ids)
    if (!found.some(print => isOf(print, id)))
      throw new CommandExecutionError(
        `The key that was fetched is not ${id}: its fingerprint is ${found.join(', ')}.`,
      );
  // A key server may return any key, so only the requested one is trusted.
  const others = found.filter(print => !ids.some(id => isOf(print, id)));
  if (others.length > 0 && !options.key_url && !options.key_text)
    throw new CommandExecutionError(
      `The key server sent keys that were not asked for: ${others.join(', ')}.`,
    );
  const path = wanted.signedby.startsWith('/')
    ? wanted.signedby
    : join('/etc/apt/trusted.gpg.d', trustedName(options, found[0] ?? '', key));
  await replaceFile(path, path.endsWith('.asc') ? key : dearmor(key));
};

const trustedName = ({ key_url }: KeyOptions, print: string, key: Uint8Array): string => {
  const name = key_url ? basename(new URL(key_url).pathname) : print;
  const stem =
    name.replace(/\.(?:asc|gpg|key|pub|txt)$/, '').replace(/[^A-Za-z0-9_.-]/g, '_') || print;
  return `${stem}.${isArmored(key) ? 'asc' : 'gpg'}`;
};

const fetchKey = async (
  { key_url, key_text, keyserver, saltenv = 'base' }: KeyOptions,
  ids: readonly string[],
): Promise<Buffer | undefined> => {
  if (key_text) return Buffer.from(key_text);
  if (key_url) return fetchUrl(key_url, saltenv);
  if (ids.length === 0) return undefined;
  const keys: Buffer[] = [];
  for (const id of ids) keys.push(await fetchById(id.replace(/^0x/i, ''), keyserver, saltenv));
  return Buffer.concat(keys);
};

/**
 * Fetches a key by its id, over HTTPS. A key server without HTTPS is asked over HTTP only for an id
 * that cannot be forged: the key is compared with it.
 */
const fetchById = async (
  id: string,
  keyserver: string | null | undefined,
  saltenv: string,
): Promise<Buffer> => {
  const server = keyserver ?? 'keyserver.ubuntu.com';
  const query = `/pks/lookup?op=get&options=mr&search=0x${id}`;
  if (/^https?:/.test(server)) return fetchUrl(`${server}${query}`, saltenv);
  const host = server.replace(/^hkps?:\/\//, '');
  try {
    return await fetchUrl(`https://${host.replace(/:\d+$/, '')}${query}`, saltenv);
  } catch (error) {
    if (!server.startsWith('hkp:') || id.length < 16) throw error;
    return fetchUrl(`http://${/:\d+$/.test(host) ? host : `${host}:11371`}${query}`, saltenv);
  }
};

const fetchUrl = async (url: string, saltenv: string): Promise<Buffer> => {
  if (/^https?:/.test(url)) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(60_000) }).catch(
      (error: unknown) => {
        throw new CommandExecutionError(
          `Cannot fetch ${url}: ${error instanceof Error ? error.message : error}`,
        );
      },
    );
    if (!answer.ok) throw new CommandExecutionError(`Cannot fetch ${url}: HTTP ${answer.status}`);
    return Buffer.from(await answer.arrayBuffer());
  }
  if (url.startsWith('/')) return readFile(url);
  const cached: unknown = await salt('cp.cache_file')(url, saltenv);
  if (typeof cached !== 'string' || cached === '')
    throw new CommandExecutionError(`Unable to cache ${url}: file not found`);
  return readFile(cached);
};
