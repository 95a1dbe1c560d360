import { createHash } from 'node:crypto';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { FileHashes, PlannedJob, PlannedRun, PlannedTaint } from '../../protocol/plan.ts';
import { type Prefetch, readPrefetchKey } from '../../protocol/prefetch.ts';
import type { RunSettings } from '../../wrapper/context.ts';
import type { HostFacts } from '../facts/host-facts.ts';
import { runOpts } from '../facts/host-opts.ts';
import { secretsIn } from './secrets-in-chunks.ts';

type JobParts = {
  readonly facts: HostFacts;
  /** The paths that the job names. */
  readonly refs: { readonly named: () => readonly NamedPath[] };
  readonly prefetch: Prefetch;
};

type NamedPath = { readonly path: string; readonly saltenv: string };

/** Collects the contents of a plan for one host's run. */
export const plannedJob = async (
  chunks: readonly LowChunk[],
  settings: RunSettings,
  { facts, refs, prefetch }: JobParts,
): Promise<PlannedJob> => {
  const { shared } = facts;
  return {
    chunks,
    saltenv: settings.saltenv,
    opts: runOpts(settings.opts ?? new Map()),
    sources: sourceHashes(prefetch),
    tainted: taintedIn(chunks, facts),
    artifact: (await shared.artifact()).sha256,
    ...(await namedFiles(refs.named(), shared.fileRoots)),
    secrets: secretsIn(chunks, settings.pillar),
  };
};

/** Lists what was fetched or rendered ahead, with its hash. */
const sourceHashes = ({ files = {}, rendered = {} }: Prefetch): Record<string, string> => {
  const hashes: Record<string, string> = {};
  for (const [key, { sha256 }] of Object.entries(files)) {
    const [saltenv = '', ...path] = key.split('|');
    if (sha256 !== undefined) hashes[`salt://${path.join('|')} (${saltenv})`] = sha256;
  }
  for (const [key, { sha256 }] of Object.entries(rendered)) hashes[templateName(key)] = sha256;
  return hashes;
};

/** The variables of a template may be secrets: they are only hashed. */
const templateName = (key: string): string => {
  const { name, source } = readPrefetchKey(key);
  const hash = createHash('sha256').update(key).digest('hex').slice(0, 12);
  return `template ${source} of ${name} [${hash}]`;
};

/**
 * Refuses a run whose sources are not those of its plan.
 *
 * @throws TsaltError `plan-source`
 */
export const checkSources = (
  host: string,
  planned: PlannedRun['sources'],
  prefetch: Prefetch,
): void => {
  const now = sourceHashes(prefetch);
  const changed = Object.keys({ ...planned, ...now }).filter(name => planned[name] !== now[name]);
  if (changed.length === 0) return;
  const shown = changed.slice(0, 5).map(name => name.replace(/ \[\w+\]$/, ''));
  const more = changed.length > shown.length ? ` and ${changed.length - shown.length} more` : '';
  throw new TsaltError(
    'plan-source',
    `${host}: not the same as in the plan: ${shown.join(', ')}${more}. Nothing was changed there.`,
    { kind: 'drift', hint: 'The file, or the pillar or grains that it uses, have changed since.' },
  );
};

/** The strings of the chunks that the host chose, whole or in part. */
const taintedIn = (chunks: readonly LowChunk[], facts: HostFacts): PlannedTaint[] => {
  const found = new Map<string, PlannedTaint>();
  const look = (value: Plain): void => {
    if (typeof value === 'string') {
      const ranges = found.has(value) ? undefined : facts.taintOf(value);
      if (ranges) found.set(value, { text: value, ranges: ranges.map(({ place: _, ...r }) => r) });
    } else if (Array.isArray(value)) value.forEach(look);
    else if (isPlainDict(value))
      for (const [key, item] of Object.entries(value)) {
        look(key);
        look(item);
      }
  };
  for (const chunk of chunks) look(chunk);
  return [...found.values()];
};

/** Hashes the files that a job names, and those in the folders that it names. */
export const namedFiles = async (
  named: readonly NamedPath[],
  roots: FileRoots,
): Promise<Pick<PlannedJob, 'files' | 'folders'>> => {
  const files: Record<string, Record<string, string>> = {};
  const folders: Record<string, string[]> = {};
  for (const { path, saltenv } of named) {
    if (!roots.hasEnv(saltenv)) continue;
    const isFile = path !== '' && roots.find(path, saltenv) !== undefined;
    const found = isFile ? [path] : filesBelow(path, roots.list(saltenv));
    if (!isFile && found.length > 0) folders[saltenv] = [...(folders[saltenv] ?? []), path];
    for (const file of found) {
      files[saltenv] ??= {};
      files[saltenv][file] = await roots.hash(file, saltenv);
    }
  }
  return { files, folders };
};

/** The files of a folder and of those in it; '' is all of the roots. */
const filesBelow = (folder: string, files: readonly string[]): string[] =>
  folder === '' ? [...files] : files.filter(file => file.startsWith(`${folder}/`));

/**
 * Compares the files of a plan with those of the file roots.
 *
 * @throws TsaltError `plan-files` that names the first that differ
 */
export const checkPlannedFiles = async (
  { files, folders }: Pick<PlannedJob, 'files' | 'folders'>,
  roots: FileRoots,
): Promise<void> => {
  const now = await namedFiles(
    [
      ...Object.entries(files).flatMap(([saltenv, paths]) =>
        Object.keys(paths).map(path => ({ path, saltenv })),
      ),
      ...Object.entries(folders).flatMap(([saltenv, paths]) =>
        paths.map(path => ({ path, saltenv })),
      ),
    ],
    roots,
  );
  const changes = differences(files, now.files);
  if (changes.length === 0) return;
  const more = changes.length > 5 ? ` and ${changes.length - 5} more` : '';
  throw new TsaltError(
    'plan-files',
    `The plan is out of date: ${changes.slice(0, 5).join(', ')}${more}. No host was contacted.`,
    { kind: 'drift', hint: 'Make a new plan: --plan-out.' },
  );
};

const differences = (planned: FileHashes, now: FileHashes): string[] =>
  [...new Set([...Object.keys(planned), ...Object.keys(now)])].flatMap(saltenv => {
    const [before, after] = [planned[saltenv] ?? {}, now[saltenv] ?? {}];
    const where = saltenv === 'base' ? '' : ` (${saltenv})`;
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().flatMap(path => {
      if (before[path] === after[path]) return [];
      const what =
        after[path] === undefined
          ? 'is gone'
          : before[path] === undefined
            ? 'is new'
            : 'has changed';
      return [`salt://${path}${where} ${what}`];
    });
  });
