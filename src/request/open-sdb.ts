import type { Config } from '../config/config.ts';
import { type Data, type Dict, isDict, toData, toPlain } from '../data/values/value.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { isSdbSetting, Sdb } from '../sdb/sdb.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Opens the stores of the configuration; each one on the first use of an address. */
export const openSdb = (config: Config, env: Env): Sdb =>
  new Sdb({
    options: config.options,
    dir: config.dir,
    env,
    decrypt: async data => {
      const { decryptGpg } = await import('../render/gpg.ts');
      return decryptGpg(data, config.options, 'sdb');
    },
  });

/**
 * Replaces `sdb://` addresses in the configuration by their values. Removes profiles and the
 * settings of Vault: neither templates nor hosts may learn how stores are opened.
 */
export const resolveConfig = async (config: Config, sdb: Sdb): Promise<Config> => {
  const options: Dict = new Map(
    [...config.options].filter(([name, value]) => !isSdbSetting(String(name), value)),
  );
  if (!sdb.isUsed) return { ...config, options };
  return {
    ...config,
    options: (await sdb.resolve(options)) as Dict,
    ssh_minion_opts: await resolvePlain(sdb, config.ssh_minion_opts),
    ext_pillar: await Promise.all(config.ext_pillar.map(entry => resolvePlain(sdb, entry))),
  };
};

const resolvePlain = async (sdb: Sdb, dict: PlainDict): Promise<PlainDict> => {
  const resolved: Data = await sdb.resolve(toData(dict));
  return isDict(resolved) ? (toPlain(resolved) as PlainDict) : dict;
};
