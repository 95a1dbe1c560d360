import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import type { Plain, PlainDict } from '../../src/protocol/plain.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import type { Files, GoldenCase } from './case.ts';

/** The folders cases are laid out in, one case after the other: stable paths keep builds cached. */
export type Workspace = {
  readonly root: string;
  readonly fileRoots: string;
  readonly pillarRoots: string;
  readonly tmp: string;
  readonly cache: string;
  readonly thin: string;
  /** The static grains that a case's calls write: not this machine's own. */
  readonly grains: string;
  readonly remove: () => void;
};

export const openWorkspace = (): Workspace => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tsalt-golden-')));
  return {
    root,
    fileRoots: join(root, 'srv/files'),
    pillarRoots: join(root, 'srv/pillar'),
    tmp: join(root, 'tmp'),
    cache: join(root, 'cache'),
    thin: join(root, 'thin'),
    grains: join(root, 'grains'),
    // The last runtime may still be writing its code cache.
    remove: () => removeFolder(root),
  };
};

/** Returns the value of a placeholder in the cases. */
const placeholders = (workspace: Workspace): readonly [string, string][] => [
  ['{{TMPDIR}}', workspace.tmp],
  ['{{FILE_ROOTS}}', workspace.fileRoots],
  ['{{PILLAR_ROOTS}}', workspace.pillarRoots],
  ['{{CACHEDIR}}', workspace.cache],
  ['{{ROOT}}', workspace.root],
];

export const fillText = (workspace: Workspace, text: string): string =>
  placeholders(workspace).reduce((all, [name, path]) => all.replaceAll(name, path), text);

/** The other way: paths of this workspace as placeholders. */
export const hideText = (workspace: Workspace, text: string): string =>
  placeholders(workspace).reduce((all, [name, path]) => all.replaceAll(path, name), text);

export const mapTexts = (value: Plain, change: (text: string) => string): Plain => {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map(item => mapTexts(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [change(key), mapTexts(item, change)]),
  );
};

/** Lays a case out; what the case before left is gone. */
export const layOut = (workspace: Workspace, golden: GoldenCase): void => {
  for (const dir of [workspace.fileRoots, workspace.pillarRoots, workspace.tmp]) removeFolder(dir);
  rmSync(workspace.grains, { force: true });
  mkdirSync(workspace.tmp, { recursive: true });
  forgetPending(workspace.thin);
  const put = (dir: string, files: Files): void => {
    mkdirSync(dir, { recursive: true });
    for (const [path, text] of Object.entries(files)) {
      if (path.endsWith('.py')) continue;
      const file = join(dir, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, fillText(workspace, text));
    }
  };
  put(join(workspace.fileRoots, 'base'), { ...golden.files, ...golden.twins });
  put(join(workspace.pillarRoots, 'base'), golden.pillarFiles);
  for (const [env, { files = {}, pillar_files = {} }] of Object.entries(golden.envs)) {
    put(join(workspace.fileRoots, env), files);
    put(join(workspace.pillarRoots, env), pillar_files);
  }
  put(workspace.tmp, golden.setup);
};

/** Reactions that a failed case owes must not run in the next. */
const forgetPending = (dir: string): void => {
  try {
    for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
      if (/(^|\/)reactions\.[\d.]+$/.test(path)) rmSync(join(dir, path));
  } catch {}
};

/** Returns the current content of `RUN`, in the form of the cases. */
export const readTmp = ({ tmp }: Workspace): PlainDict => {
  const found: PlainDict = {};
  for (const entry of readdirSync(tmp, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const stat = lstatSync(path);
    const mode = (stat.mode & 0o7777).toString(8).padStart(4, '0');
    const name = relative(tmp, path);
    if (stat.isSymbolicLink()) found[name] = { symlink: readlinkSync(path) };
    else if (stat.isDirectory()) found[name] = { mode, dir: true };
    else found[name] = { mode, content: readFileSync(path, 'utf8') };
  }
  return found;
};
