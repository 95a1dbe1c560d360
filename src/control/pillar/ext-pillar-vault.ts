import { mergeByStrategy } from '../../data/values/merge.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { Vault } from '../../sdb/vault.ts';

export type VaultPillarInput = {
  readonly id: string;
  readonly pillar: Dict;
  readonly vault: () => Promise<Vault>;
};

/**
 * Salt's `ext_pillar: [{vault: path=secret/{minion}}]`: the secrets of a path, which may contain
 * `{minion}` and `{pillar[key]}`. A list at that key yields one path per item. As a mapping it also
 * takes `conf`, `nesting_key`, `merge_strategy`, `merge_lists`.
 */
export const vaultPillar = async (
  settings: Plain,
  { id, pillar, vault }: VaultPillarInput,
): Promise<Data> => {
  const options = isPlainDict(settings) ? settings : { conf: settings };
  const words = String(options.conf ?? '').split(/\s+/);
  const pattern = words.find(word => word.startsWith('path='))?.slice('path='.length);
  if (pattern === undefined) throw new Error("its configuration needs 'path='");
  const secrets = await vault();
  const strategy = String(options.merge_strategy ?? 'smart');
  const mergeLists = options.merge_lists === true;
  let merged: Data = new Map();
  for (const path of expand(pattern, id, pillar)) {
    const found = await secrets.read(path);
    if (found) merged = mergeByStrategy(merged, found, { strategy, mergeLists });
  }
  const nesting = options.nesting_key ?? null;
  return nesting === null ? merged : new Map([[String(nesting), merged]]);
};

const expand = (pattern: string, id: string, pillar: Dict): string[] => {
  const [whole, name = '', keys = ''] = /\{(minion|pillar)((?:\[[^\]]+\])*)\}/.exec(pattern) ?? [];
  if (whole === undefined) return [pattern];
  const value = name === 'minion' ? id : lookUp(pillar, keys);
  const all = Array.isArray(value) ? value : [value];
  return all.flatMap(one => {
    // A value is one segment of the path: it must not lead to the secrets of other hosts.
    if (typeof one !== 'string' || one === '' || /\.\.|[?#{}]/.test(one)) return [];
    return expand(
      pattern.replace(whole, () => one),
      id,
      pillar,
    );
  });
};

const lookUp = (pillar: Dict, keys: string): Data => {
  let at: Data = pillar;
  for (const [, key = ''] of keys.matchAll(/\[([^\]]+)\]/g))
    at = isDict(at) ? (at.get(key) ?? null) : null;
  return at;
};
