import type { SdbDriver } from '../driver.ts';

/**
 * `driver: vault`: `sdb://profile/secret/path/key` (or `secret/path?key`) is one key of a secret in
 * HashiCorp Vault, configured by the option `vault`; KV version 1 or 2 is detected.
 */
export const vaultDriver: SdbDriver = {
  get: async (name, _, world) => {
    const { path, key } = split(name);
    const vault = await world.vault();
    const secret = await vault.read(path);
    if (secret === undefined)
      return (await vault.isV2(path)) ? ((await vault.read(name)) ?? null) : null;
    if (secret.has(key)) return secret.get(key) ?? null;
    return (await vault.isV2(path)) ? secret : null;
  },
  set: async (name, value, _, world) => {
    const { path, key } = split(name);
    const vault = await world.vault();
    // Keeps the other keys of the secret: Vault writes secrets only as a whole.
    await vault.write(path, new Map([...((await vault.read(path)) ?? []), [key, value]]));
    return true;
  },
  delete: async (name, _, world) => {
    const { path, key } = split(name);
    const vault = await world.vault();
    const secret = await vault.read(path);
    if (secret === undefined || !secret.delete(key)) return false;
    if (secret.size === 0) await vault.delete(path);
    else await vault.write(path, secret);
    return true;
  },
};

const split = (name: string): { path: string; key: string } => {
  const mark = name.includes('?') ? name.indexOf('?') : name.lastIndexOf('/');
  if (mark > 0) return { path: name.slice(0, mark), key: name.slice(mark + 1) };
  throw new Error('it must name a path and a key: sdb://PROFILE/PATH/KEY');
};
