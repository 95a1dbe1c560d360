import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Data, type Dict, isDict, toData } from '../data/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import { loadYaml } from '../yaml/load.ts';

/** What an external source may depend on. */
export type ExtPillarInput = {
  readonly id: string;
  readonly pillar: Dict;
  readonly grains: Dict;
  /** The project folder: relative paths start there. */
  readonly dir: string;
  readonly nodegroups: Readonly<Record<string, readonly string[]>>;
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
      const source = known[name];
      if (!source)
        throw new TsaltError('ext-pillar', `Unknown ext_pillar "${name}".`, {
          kind: 'pillar',
          hint: `Known are: ${Object.keys(known).join(', ')}.`,
        });
      results.push({ name, data: await runSource(name, source, settings, input) });
    }
  return results;
};

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

/** The command of cmd_yaml and cmd_json: `%s` is the host's id, which is passed as an argument, never parsed by a shell. */
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
        if (error) reject(new Error(`${stderr.trim().split('\n').at(-1) || error.message}`));
        else resolve(stdout);
      },
    );
  });
};

const parseJson = (text: string): Data => toData(JSON.parse(text) as Plain);

const http = async (settings: Plain, { id }: ExtPillarInput): Promise<string> => {
  const options = isPlainDict(settings) ? settings : { url: settings };
  const url = String(options.url ?? '')
    .replaceAll('%s', encodeURIComponent(id))
    .replaceAll('<id>', encodeURIComponent(id));
  const headers = isPlainDict(options.header_dict)
    ? (options.header_dict as Record<string, string>)
    : {};
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(30_000) });
  if (!response.ok) throw new Error(`${new URL(url).origin} answered ${response.status}`);
  return response.text();
};

const fileTree: Source = async (settings, { id, dir, nodegroups }) => {
  const options = isPlainDict(settings) ? settings : { root_dir: settings };
  const root = path.resolve(dir, String(options.root_dir ?? ''));
  const keepNewline = options.keep_newline === true;
  const groups = Object.keys(nodegroups).filter(name => nodegroups[name]?.includes(id));
  const tree: Dict = new Map();
  for (const folder of [
    ...groups.map(name => path.join(root, 'nodegroups', name)),
    path.join(root, 'hosts', id),
  ])
    await readTree(folder, tree, keepNewline);
  return tree;
};

const readTree = async (folder: string, into: Dict, keepNewline: boolean): Promise<void> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) {
      const known = into.get(entry.name);
      const below: Dict = isDict(known) ? known : new Map();
      into.set(entry.name, below);
      await readTree(file, below, keepNewline);
    } else if (entry.isFile()) {
      const text = await readFile(file, 'utf8');
      into.set(entry.name, keepNewline ? text : text.replace(/\n$/, ''));
    }
  }
};

const known: Readonly<Record<string, Source>> = {
  file_tree: fileTree,
  cmd_yaml: async (settings, input) =>
    loadYaml(await runCommand(settings, input), { file: 'cmd_yaml' }),
  cmd_json: async (settings, input) => parseJson(await runCommand(settings, input)),
  http_json: async (settings, input) => parseJson(await http(settings, input)),
  http_yaml: async (settings, input) =>
    loadYaml(await http(settings, input), { file: 'http_yaml' }),
};
