import type { SdbDriver } from '../driver.ts';

/** `driver: env`: variables of the control node's environment. A set one is not overwritten. */
export const envDriver: SdbDriver = {
  get: async (key, _, { env }) => env.get(key) ?? null,
  set: async (key, value, _, { env }) => {
    if (!env.has(key)) env.set(key, String(value));
    return true;
  },
};
