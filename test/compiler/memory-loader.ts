import type { RenderedSls, SlsLoader } from '../../src/data/sls.ts';
import { loadYaml } from '../../src/yaml/load.ts';

/** SLS texts by environment and path, read by the real YAML loader. */
export type Texts = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const memoryLoader = (texts: Texts): SlsLoader => {
  const has = (env: string, path: string): boolean => Object.hasOwn(texts[env] ?? {}, path);
  const nameOf = (path: string): string =>
    path
      .replace(/\.sls$/, '')
      .replace(/\/init$/, '')
      .replaceAll('/', '.');
  return {
    envs: () => Object.keys(texts),
    list: async env =>
      Object.keys(texts[env] ?? {})
        .map(nameOf)
        .sort(),
    render: async (saltenv, sls, extra): Promise<RenderedSls | undefined> => {
      const base = sls.replaceAll('.', '/');
      const path = [extra?.path ?? `${base}.sls`, `${base}/init.sls`].find(one =>
        has(saltenv, one),
      );
      if (path === undefined) return undefined;
      const data = loadYaml(texts[saltenv]?.[path] ?? '', { file: path });
      return { sls, saltenv, file: path, data };
    },
  };
};
