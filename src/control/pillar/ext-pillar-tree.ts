import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { fnmatch } from '../../data/python/glob.ts';
import { mergeRecursive } from '../../data/values/merge.ts';
import type { Data, Dict } from '../../data/values/value.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { checkTrusted } from '../../trust/check.ts';
import { argumentsOf, type ExtPillarInput, type ExtPillarSource } from './ext-pillar-source.ts';

/**
 * file_tree: `root_dir/nodegroups/GROUP` of each group that contains the host, overridden by
 * `root_dir/hosts/ID`. A folder becomes a mapping, a file its text, or the data that it renders to.
 */
export const fileTree: ExtPillarSource = async (settings, input) => {
  const options = argumentsOf(settings, names);
  const how = howToRead(options, input);
  let tree: Dict = new Map();
  for (const root of await rootsOf(options, input)) {
    for (const group of input.nodegroups())
      tree = mergeRecursive(tree, await subtree(root, 'nodegroups', group, how), false);
    tree = mergeRecursive(tree, await subtree(root, 'hosts', input.id, how), false);
  }
  return tree;
};

const names = [
  'root_dir',
  'follow_dir_links',
  'debug',
  'keep_newline',
  'render_default',
  'renderer_blacklist',
  'renderer_whitelist',
  'template',
];

type Reading = {
  /** By the path below the host's or group's folder. */
  readonly keepsNewline: (path: string) => boolean;
  readonly followLinks: boolean;
  readonly content: (text: string, file: string) => Promise<Data>;
  readonly debug: (message: string) => void;
  readonly warn: (message: string) => void;
};

const howToRead = (options: PlainDict, { render, log }: ExtPillarInput): Reading => {
  const pipe = options.render_default ?? undefined;
  const whitelist = namesIn(options, 'renderer_whitelist');
  const blacklist = namesIn(options, 'renderer_blacklist');
  return {
    keepsNewline: keeping(options.keep_newline ?? false),
    followLinks: options.follow_dir_links === true,
    content: async (text, file) =>
      options.template === true
        ? render({
            text,
            file,
            pipe: pipe === undefined ? undefined : String(pipe),
            whitelist,
            blacklist,
          })
        : text,
    debug: message => {
      if (options.debug === true) log('debug', message);
    },
    warn: message => log('warning', message),
  };
};

const namesIn = (options: PlainDict, name: string): string[] => {
  const list = options[name] ?? [];
  if (Array.isArray(list)) return list.map(String);
  throw new Error(`its ${name} is no list`);
};

/** Salt's globs match a file at the top as `./name`. */
const keeping = (kept: Plain): Reading['keepsNewline'] => {
  if (typeof kept === 'boolean') return () => kept;
  if (!Array.isArray(kept))
    throw new Error('its keep_newline must be true, false or a list of file globs');
  const globs = kept.map(String);
  return file => globs.some(glob => fnmatch(file, glob) || fnmatch(`./${file}`, glob));
};

/** A relative root is below the roots of the pillar environment, or else below the project. */
const rootsOf = async (options: PlainDict, input: ExtPillarInput): Promise<string[]> => {
  const written = options.root_dir ?? '';
  if (typeof written !== 'string' || written === '') throw new Error('it needs a root_dir');
  const bases = path.isAbsolute(written) || !input.pillarDirs ? [input.dir] : [...input.pillarDirs];
  const roots = [...new Set(bases.map(base => path.resolve(input.dir, base, written)))];
  const found: string[] = [];
  for (const root of roots) if (await isFolder(root)) found.push(root);
  if (found.length === 0) throw new Error(`its root_dir ${roots.join(', ')} is not a folder`);
  return found;
};

const isFolder = async (file: string): Promise<boolean> =>
  (await stat(file).catch(() => undefined))?.isDirectory() ?? false;

const subtree = async (root: string, kind: string, name: string, how: Reading): Promise<Dict> => {
  const folder = path.join(root, kind, name);
  // A name is one folder and cannot lead out of the tree.
  if (name !== path.basename(name) || name === '..' || name === '.') return new Map();
  if (await isFolder(folder)) return readTree(folder, '', how);
  how.debug(`file_tree: there is no ${folder}`);
  return new Map();
};

const readTree = async (folder: string, prefix: string, how: Reading): Promise<Dict> => {
  if (prefix.split('/').length > 64) throw new Error(`${folder} lies deeper than 64 folders`);
  const tree: Dict = new Map();
  const entries = await readdir(folder, { withFileTypes: true });
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    const name = `${prefix}${entry.name}`;
    const isLink = entry.isSymbolicLink();
    const kind = isLink ? await stat(file).catch(() => undefined) : entry;
    if (kind?.isFile()) tree.set(entry.name, await readOne(file, how.keepsNewline(name), how));
    else if (kind?.isDirectory())
      // As in Salt, a link that is not followed is an empty folder.
      tree.set(
        entry.name,
        isLink && !how.followLinks ? new Map() : await readTree(file, `${name}/`, how),
      );
    else how.warn(`file_tree: ${file} is neither a file nor a folder and is left out`);
  }
  return tree;
};

const readOne = async (file: string, keepsNewline: boolean, how: Reading): Promise<Data> => {
  checkTrusted(file, 'The pillar file');
  const bytes = await readFile(file);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error(`${file} is not UTF-8 text: serve it from the file roots`);
  }
  return how.content(keepsNewline ? text : text.replace(/\n$/, ''), file);
};
