/**
 * A mode as Salt writes it: four octal digits. `644`, `'0644'`, `'0o644'` and `'"644"'` are the
 * same; an integer's decimal digits are the mode, as everywhere in SLS.
 */
export const normalizeMode = (mode: string | number | null | undefined): string | undefined => {
  if (mode === null || mode === undefined) return undefined;
  return String(mode)
    .replace('0o', '0')
    .replace(/^"+|"+$/g, '')
    .replace(/^'+|'+$/g, '')
    .replace(/^0+/, '')
    .padStart(4, '0');
};

/** Whether a file is to have the mode of its source. */
export const keepsMode = (mode: string | number | null | undefined): boolean =>
  typeof mode === 'string' && mode.toLowerCase() === 'keep';

/** The bits of a normalized mode; undefined when it is not an octal number. */
export const modeBits = (mode: string): number | undefined =>
  /^[0-7]{1,5}$/.test(mode) ? Number.parseInt(mode, 8) : undefined;

/** The mode of a `stat` as Salt writes it. */
export const modeText = (bits: number): string => (bits & 0o7777).toString(8).padStart(4, '0');
