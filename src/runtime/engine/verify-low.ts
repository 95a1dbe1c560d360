import { globTest } from '../../data/python/glob.ts';
import { plainStr, pyTypeAt } from '../../modules/_shared/text/python-text.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { FunctionSignature } from '../../protocol/meta.ts';
import { isPlainDict, plainText } from '../../protocol/plain.ts';
import { mergeWholeFloats } from '../../protocol/whole-floats.ts';
import type { ProviderOptions, Registry, Resolved, Unavailable } from '../registry-types.ts';
import { chain, type MaybePromise } from '../virtual.ts';
import { requiredParameters } from './bind-low.ts';
import { asList, readRequisite } from './low-tools.ts';

export type Verified =
  | {
      readonly errors: readonly string[];
      /** The error that the state's module threw when it was loaded. */
      readonly cause?: unknown;
    }
  | { readonly errors?: undefined; readonly full: string; readonly resolved: Resolved };

/** Is this chunk fit to run? Reads its `umask`, turns `watch` without `mod_watch` into `require`. */
export const verifyLow = (registry: Registry, low: LowChunk): MaybePromise<Verified> => {
  if (typeof low.name !== 'string' || Object.hasOwn(low, 'umask')) {
    const shape = [...findNameFault(low), ...takeUmask(low)];
    if (shape.length > 0) return { errors: shape };
  }
  const full = `${low.state}.${low.fun}`;
  return chain(
    registry.resolve('state', full, providersOf(low)),
    (resolved: Resolved | Unavailable): MaybePromise<Verified> => {
      const errors = resolved.ok
        ? missingParameters(full, resolved.signature, low)
        : notFound(full, resolved.reason, low);
      const verified = (): Verified => {
        errors.push(...requiresItself(low));
        if (!resolved.ok) return { errors, cause: resolved.cause };
        return errors.length > 0 ? { errors } : { full, resolved };
      };
      return watches(low) ? watchOrRequire(registry, low).then(verified) : verified();
    },
  );
};

/** Does it have a `watch` that `watchOrRequire` may turn into a `require`? */
export const watches = (low: LowChunk): boolean =>
  Object.hasOwn(low, 'watch') || Object.hasOwn(low, 'watch_any');

const providersOf = (low: LowChunk): ProviderOptions | undefined =>
  low.provider === undefined && low.providers === undefined ? undefined : namedProviders(low);

const namedProviders = ({ provider, providers }: LowChunk): ProviderOptions => ({
  ...(typeof provider === 'string' ? { provider } : {}),
  ...(Array.isArray(provider) ? { providers: mergedProviders(provider) } : {}),
  ...(Array.isArray(providers) ? { providers: mergedProviders(providers) } : {}),
  ...(typeof providers === 'object' && providers !== null && !Array.isArray(providers)
    ? { providers: providers as Record<string, string> }
    : {}),
});

const mergedProviders = (list: readonly unknown[]): Record<string, string> =>
  mergeWholeFloats(...list.filter(isPlainDict)) as Record<string, string>;

const findNameFault = (low: LowChunk): string[] => {
  const { name, __sls__ } = low;
  if (typeof name === 'string' || !name) return [];
  const where = __sls__ === undefined ? '' : `in SLS '${__sls__}' `;
  return [
    `ID '${plainStr(name)}' ${where}is not formed as a string, but is a ${pyTypeAt(low, 'name')}`,
  ];
};

const takeUmask = (low: LowChunk): string[] => {
  if (!Object.hasOwn(low, 'umask')) return [];
  const { umask } = low;
  delete low.umask;
  const text = plainText(umask).trim();
  if (!/^(?:0o)?[0-7]+$/.test(text)) return [`Invalid umask: ${text}`];
  low.__umask__ = Number.parseInt(text.replace('0o', ''), 8);
  return [];
};

const missingParameters = (full: string, signature: FunctionSignature, low: LowChunk): string[] => {
  const errors: string[] = [];
  for (const name of requiredParameters(signature))
    if (!Object.hasOwn(low, name)) errors.push(`Missing parameter ${name} for state ${full}`);
  return errors;
};

const notFound = (full: string, reason: string, { __sls__ }: LowChunk): string[] =>
  __sls__ === undefined
    ? [`Specified state '${full}' was not found`]
    : [`State '${full}' was not found in SLS '${__sls__}'`, `Reason: ${reason}`];

/** Replaces `watch` by `require` for a state module that cannot react. */
export const watchOrRequire = async (registry: Registry, low: LowChunk): Promise<void> => {
  for (const [watch, require] of [
    ['watch', 'require'],
    ['watch_any', 'require_any'],
  ] as const) {
    if (!Object.hasOwn(low, watch) || (await registry.hook(low.state, 'mod_watch'))) continue;
    low[require] = [...asList(low[require]), ...asList(low[watch])];
    delete low[watch];
  }
};

const requiresItself = (low: LowChunk): string[] => {
  const kind = Object.hasOwn(low, 'watch') ? 'watch' : 'require';
  if (low[kind] === undefined) return [];
  return asList(low[kind])
    .filter(item => {
      const { key, value } = readRequisite(item);
      if (key !== low.state || typeof value !== 'string') return false;
      const matches = globTest(value);
      return matches(String(low.name)) || matches(low.__id__);
    })
    .map(
      item =>
        `Recursive require detected in SLS ${low.__sls__} for require ${JSON.stringify(item)} in ID ${low.__id__}`,
    );
};
