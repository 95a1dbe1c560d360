import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { missing, traverse } from '../data/traverse.ts';
import { type Data, type Dict, isDict, toData, toPlainDict } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import type { Vault } from '../sdb/vault.ts';
import { fnmatch } from '../targeting/glob.ts';
import { loadYaml } from '../yaml/load.ts';
import { vaultPillar } from './ext-pillar-vault.ts';
import type { OwnSource } from './own-modules.ts';

/** What an external source may depend on. */
export type ExtPillarInput = {
  readonly id: string;
  readonly pillar: Dict;
  readonly grains: Dict;
  /** The project folder: relative paths start there. */
  readonly dir: string;
  readonly vault: () => Promise<Vault>;
  /** Names of the nodegroups the host is in. */
  readonly nodegroups: () => readonly string[];
  /** Sources of the user's (`_pillar`), by name: they go before those that are built in. */
  readonly own?: ReadonlyMap<string, OwnSource>;
};

type Source = (settings: Plain, input: ExtPillarInput) => Promise<Data>;

/**
 * Runs the sources of `ext_pillar` in order; gives each one's dictionary for the merge.
 * Throws `ext-pillar` naming the source: a pillar that lacks a part must stop the run.
 */
export const extPillar = async (
  sources: readonly PlainDict[],
  input: ExtPillarInput,
): Promise<{ name: string; data: Dict }[]> => {
  const results: { name: string; data: Dict }[] = [];
  for (const entry of sources)
    for (const [name, settings] of Object.entries(entry)) {
      const source = ownSource(input.own?.get(name)) ?? builtIn(name);
      if (!source)
        throw new TsaltError('ext-pillar', `Unknown ext_pillar "${name}".`, {
          kind: 'pillar',
          hint: `Known are: ${[...Object.keys(known), ...(input.own?.keys() ?? [])].join(', ')}.`,
        });
      results.push({ name, data: await runSource(name, source, settings, input) });
    }
  return results;
};

const builtIn = (name: string): Source | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined;

const ownSource = (own: OwnSource | undefined): Source | undefined =>
  own &&
  (async (settings, { id, pillar }) =>
    toData((await own(id, toPlainDict(pillar), settings)) as Plain));

const runSource = async (
  name: string,
  source: Source,
  settings: Plain,
  input: ExtPillarInput,
): Promise<Dict> => {
  try {
    const data = await source(settings, input);
    if (data === null) return new Map();
    if (isDict(data)) return data;
    throw new TsaltError('ext-pillar', 'it gave no dictionary');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new TsaltError('ext-pillar', `ext_pillar ${name} failed for ${input.id}: ${reason}`, {
      kind: 'pillar',
      cause: error,
    });
  }
};

/**
 * The command of cmd_yaml and cmd_json: `%s` is the host's id, which is passed as an argument,
 * never parsed by a shell. What it printed and how it was called may hold secrets: an error
 * shows neither.
 */
const runCommand = (settings: Plain, { id, dir }: ExtPillarInput): Promise<string> => {
  const argv = Array.isArray(settings)
    ? settings.map(part => String(part).replaceAll('%s', id))
    : ['/bin/sh', '-c', String(settings).replaceAll('%s', '"$1"'), 'ext_pillar', id];
  const [command = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { cwd: dir, maxBuffer: 64 * 1024 * 1024, timeout: 60_000 },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else reject(new Error(`${howItEnded(error)}${lastLine(stderr)}`));
      },
    );
  });
};

const howItEnded = ({ code, signal }: { code?: unknown; signal?: unknown }): string => {
  if (typeof code === 'number') return `the command ended with ${code}`;
  if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') return 'the command printed more than 64 MiB';
  if (typeof code === 'string') return `the command could not be started (${code})`;
  return `the command took longer than 60 s and was ended (${String(signal)})`;
};

const lastLine = (stderr: string): string => {
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return line === '' ? '' : `: ${line.slice(0, 300)}`;
};

/** JSON's own errors quote what they read, which may be a secret. */
const parseJson = (text: string): Data => {
  let value: Plain;
  try {
    value = JSON.parse(text) as Plain;
  } catch {
    throw new Error(
      text.trim() === '' ? 'it gave nothing where JSON was expected' : 'what it gave is no JSON',
    );
  }
  return toData(value);
};

/** http_json and http_yaml: a URL, or url, with_grains, header_dict, username, password, namespace. */
const http = async (settings: Plain, input: ExtPillarInput): Promise<string> => {
  const options = isPlainDict(settings) ? settings : { url: settings };
  const url = urlOf(options, input);
  const headers = new Headers();
  const given = isPlainDict(options.header_dict) ? options.header_dict : {};
  for (const [name, value] of Object.entries(given)) headers.set(name, String(value));
  const user = options.username ?? (decodeURIComponent(url.username) || undefined);
  const password = options.password ?? decodeURIComponent(url.password);
  if (user !== undefined && user !== null)
    headers.set('authorization', `Basic ${btoa(`${String(user)}:${String(password)}`)}`);
  url.username = '';
  url.password = '';
  let response: Response;
  try {
    response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : {};
    const why = cause?.code === undefined ? 'no answer within 30 s' : String(cause.code);
    throw new Error(`${url.origin} could not be asked (${why})`);
  }
  if (!response.ok) throw new Error(`${url.origin} answered ${response.status}`);
  return response.text();
};

const urlOf = (options: PlainDict, { id, grains }: ExtPillarInput): URL => {
  const withId = String(options.url ?? '').replaceAll('%s', encodeURIComponent(id));
  const written =
    options.with_grains === true
      ? withId.replace(/<(.*?)>/g, (_, name: string) => encodeURIComponent(grainText(grains, name)))
      : withId;
  if (!URL.canParse(written)) throw new Error('its url is no URL');
  const url = new URL(written);
  if (url.protocol === 'http:' || url.protocol === 'https:') return url;
  throw new Error(`its url must be http or https, not ${url.protocol}`);
};

const grainText = (grains: Dict, name: string): string => {
  const value = traverse(grains, name, ':');
  if (value === missing || value === null || value === '')
    throw new Error(`its url names the grain '${name}', which the host does not have`);
  return String(value);
};

const inNamespace = (settings: Plain, data: Data): Data => {
  const name = isPlainDict(settings) ? settings.namespace : undefined;
  return typeof name === 'string' && name !== '' ? new Map([[name, data]]) : data;
};

/** `root_dir/nodegroups/GROUP` of each group the host is in, `root_dir/hosts/ID` over them. */
const fileTree: Source = async (settings, { id, dir, nodegroups }) => {
  const options = isPlainDict(settings) ? settings : { root_dir: settings };
  const root = path.resolve(dir, String(options.root_dir ?? ''));
  if (!(await isFolder(root))) throw new Error(`its root_dir ${root} is no folder`);
  const kept = options.keep_newline;
  const how = {
    keepsNewline: (file: string) =>
      Array.isArray(kept) ? kept.some(glob => fnmatch(file, String(glob))) : kept === true,
    followLinks: options.follow_dir_links === true,
  };
  const tree: Dict = new Map();
  for (const [kind, name] of [
    ...nodegroups().map(group => ['nodegroups', group] as const),
    ['hosts', id] as const,
  ]) {
    // A name is one folder: no name leads out of the tree.
    if (name !== path.basename(name) || name === '..' || name === '.') continue;
    const folder = path.join(root, kind, name);
    if (await isFolder(folder)) await readTree(folder, '', tree, how);
  }
  return tree;
};

const isFolder = async (file: string): Promise<boolean> =>
  (await stat(file).catch(() => undefined))?.isDirectory() ?? false;

type TreeOptions = {
  /** By the path below the host's or group's folder. */
  readonly keepsNewline: (path: string) => boolean;
  readonly followLinks: boolean;
};

const readTree = async (
  folder: string,
  prefix: string,
  into: Dict,
  how: TreeOptions,
): Promise<void> => {
  if (prefix.split('/').length > 64) throw new Error(`${folder} lies deeper than 64 folders`);
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    const kind = entry.isSymbolicLink() ? await stat(file).catch(() => undefined) : entry;
    if (kind?.isFile()) {
      const text = await readFile(file, 'utf8');
      into.set(entry.name, how.keepsNewline(name) ? text : text.replace(/\n$/, ''));
    } else if (kind?.isDirectory() && (how.followLinks || !entry.isSymbolicLink())) {
      const known = into.get(entry.name);
      const below: Dict = isDict(known) ? known : new Map();
      into.set(entry.name, below);
      await readTree(file, `${name}/`, below, how);
    }
  }
};

const known: Readonly<Record<string, Source>> = {
  file_tree: fileTree,
  vault: vaultPillar,
  cmd_yaml: async (settings, input) =>
    loadYaml(await runCommand(settings, input), { file: 'cmd_yaml' }),
  cmd_json: async (settings, input) => parseJson(await runCommand(settings, input)),
  http_json: async (settings, input) =>
    inNamespace(settings, parseJson(await http(settings, input))),
  http_yaml: async (settings, input) =>
    inNamespace(settings, loadYaml(await http(settings, input), { file: 'http_yaml' })),
};
