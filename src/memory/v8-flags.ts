import { setFlagsFromString } from 'node:v8';

/** Flags that runs set, with V8's defaults. */
const defaults = {
  'expose-gc': '--no-expose-gc',
  'heap-growing-percent': '--heap-growing-percent=0',
  'interrupt-budget': '--interrupt-budget=67584',
  'invocation-count-for-turbofan': '--invocation-count-for-turbofan=3000',
  'semi-space-growth-factor': '--semi-space-growth-factor=2',
} as const;

/** Maps the default of each flag that was set to its value now. */
const changed = new Map<string, string>();

/** Sets a flag of V8 for the rest of the process. */
export const setFlag = (name: keyof typeof defaults, value?: number): void => {
  const flag = value === undefined ? `--${name}` : `--${name}=${value}`;
  changed.set(defaults[name], flag);
  setFlagsFromString(flag);
};

/** Sets the flags back that were set. */
export const resetFlags = (): void => {
  for (const flag of changed.keys()) setFlagsFromString(flag);
  changed.clear();
};

/**
 * Calls `work` under the flags that the process began with. V8 refuses a code cache that was written
 * under other flags than it is read under: `scripts/launcher.cjs` reads most before a flag is set,
 * and writes when the process ends.
 */
export const withFirstFlags = <T>(work: () => T): T => {
  for (const flag of changed.keys()) setFlagsFromString(flag);
  try {
    return work();
  } finally {
    for (const flag of changed.values()) setFlagsFromString(flag);
  }
};
