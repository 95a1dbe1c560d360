/** Strings that this process decrypted or read from a store. */
const known = new Set<string>();

/** Limits: number of strings that are kept, and characters of each. */
const mostKnown = 20_000;
const longestKnown = 1_000_000;
/** Shorter strings would match others by chance. */
const shortest = 6;

/** Records a string that was decrypted, or that a secret store returned. */
export const noteSecret = (text: string): void => {
  const value = text.trim();
  if (value.length < shortest || value.length > longestKnown || known.size >= mostKnown) return;
  known.add(value);
};

/** Whether a string contains a decrypted string, or one from a secret store. */
export const hasKnownSecret = (text: string): boolean => {
  if (text.length < shortest) return false;
  if (known.has(text.trim())) return true;
  for (const value of known) if (text.includes(value)) return true;
  return false;
};
