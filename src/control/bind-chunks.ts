import { invalidKeywords, nearestHint } from '../data/bind.ts';
import { TsaltError } from '../protocol/error.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';
import { isPlainDict } from '../protocol/plain.ts';
import { internalKeywords } from '../protocol/state-keywords.ts';

type BoundChunks = {
  readonly chunks: readonly LowChunk[];
  /** One sentence for each argument that nothing looks at. */
  readonly warnings: readonly string[];
};

/**
 * Chunks as their functions take them. An argument that a function does not have is refused, all
 * of them at once and before anything runs: Salt notices only when it reaches the state, and loses
 * what ran before. Where Salt takes any argument without a word, it is left out with a warning, or
 * becomes a variable of the template. Functions that no module, or several, offer are left to
 * the host.
 *
 * @throws TsaltError naming every argument that is refused
 */
export const bindChunks = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): BoundChunks => {
  const functions = functionsOf(chunks, modules);
  const bound: LowChunk[] = [];
  const faults: string[] = [];
  const warnings: string[] = [];
  for (const chunk of chunks) {
    const fun = functions.get(`${chunk.state}.${chunk.fun}`);
    const unknown = fun ? unknownArguments(chunk, fun.meta) : [];
    if (!fun || unknown.length === 0) {
      bound.push(chunk);
      continue;
    }
    const name = `${chunk.state}.${chunk.fun}`;
    if (!fun.builtin || !takesAny.has(name)) {
      const hint = nearestHint(fun.meta.signature, unknown);
      faults.push(`${invalidKeywords(name, unknown)}${hint}, ${placeOf(chunk)}`);
      continue;
    }
    const asVariables = passesVariables.has(name) && typeof chunk.template === 'string';
    warnings.push(
      ...unknown
        .flatMap(key => warningFor(key, name, fun.meta, asVariables))
        .map(warning => `${warning}, ${placeOf(chunk)}.`),
    );
    bound.push(without(chunk, unknown, asVariables));
  }
  if (faults.length > 0)
    throw new TsaltError('state-arguments', faults.join('\n'), { kind: 'render' });
  return { chunks: bound, warnings };
};

/** States whose template sees the arguments that they do not have themselves. */
const passesVariables = new Set(['file.managed', 'file.recurse', 'cmd.script']);

/** States that take any argument in Salt, and look at none but those that they name. */
const takesAny = new Set(
  `archive.extracted cmd.call cmd.run cmd.script cmd.wait cmd.wait_call cmd.wait_script cmd.watch
  cron.absent cron.file debconf.set docker_container.stopped docker_image.present file.absent
  file.accumulated file.copy file.directory file.exists file.hardlink file.managed file.missing
  file.patch file.recurse file.rename file.serialize file.symlink file.tidied iptables.flush iptables.set_policy mount.mounted mount.unmounted
  mysql_database.absent mysql_database.present mysql_grants.absent mysql_grants.present
  mysql_query.run mysql_query.run_file mysql_user.absent mysql_user.present network.system
  nftables.flush nftables.set_policy nftables.table_absent nftables.table_present pip.installed
  selinux.module service.dead service.disabled service.enabled service.running ssh_auth.manage
  ssh_auth.present virtualenv.manage virtualenv.managed`.split(/\s+/),
);

type Found = { readonly meta: FunctionMeta; readonly builtin: boolean };

/** Functions of the states that are used, where just one module has them. */
const functionsOf = (
  chunks: readonly LowChunk[],
  modules: readonly ModuleMeta[],
): Map<string, Found | undefined> => {
  const functions = new Map<string, Found | undefined>();
  const used = new Set(chunks.map(({ state }) => state));
  for (const module of modules) {
    const own = module.virtualname ?? module.file;
    if (module.kind !== 'state' || !used.has(own)) continue;
    for (const meta of module.functions) {
      const name = `${own}.${meta.name}`;
      functions.set(name, functions.has(name) ? undefined : { meta, builtin: module.builtin });
    }
  }
  return functions;
};

const unknownArguments = (chunk: LowChunk, { signature }: FunctionMeta): string[] => {
  if (signature.anyKeyword) return [];
  const known = [...signature.positional, ...(signature.keywords ?? [])].map(({ name }) => name);
  return Object.keys(chunk).filter(key => !internalKeywords.has(key) && !known.includes(key));
};

/** Variables of a template are what they should be, unless an argument was meant. */
const warningFor = (
  key: string,
  name: string,
  { signature }: FunctionMeta,
  asVariable: boolean,
): string[] => {
  const hint = nearestHint(signature, [key]);
  if (!asVariable) return [`'${key}' is no argument of '${name}' and is ignored${hint}`];
  return hint === '' ? [] : [`'${key}' of '${name}' is a variable of its template${hint}`];
};

const without = (chunk: LowChunk, keys: readonly string[], asVariables: boolean): LowChunk => {
  const kept: LowChunk = { ...chunk };
  for (const key of keys) delete kept[key];
  const defaults = chunk.defaults ?? {};
  if (!asVariables || !isPlainDict(defaults)) return kept;
  const variables = Object.fromEntries(keys.map(key => [key, chunk[key] ?? null]));
  return { ...kept, defaults: { ...variables, ...defaults } };
};

const placeOf = ({ __sls__, __id__ }: LowChunk): string => `in SLS '${__sls__}', ID '${__id__}'`;
