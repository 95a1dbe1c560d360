/** Strings that were decrypted or read from a store, in this process. */
const known = new Set<string>();

/** Strings that are remembered, and characters of one of them. */
const mostKnown = 20_000;
const longestKnown = 1_000_000;
/** Shorter strings occur in others by chance. */
const shortest = 6;

/** Notes a string that was decrypted, or that a store of secrets returned. */
export const noteSecret = (text: string): void => {
  const value = text.trim();
  if (value.length < shortest || value.length > longestKnown || known.size >= mostKnown) return;
  known.add(value);
};

/** Whether a string contains one that was decrypted or came from a store of secrets. */
export const hasKnownSecret = (text: string): boolean => {
  if (text.length < shortest) return false;
  if (known.has(text.trim())) return true;
  for (const value of known) if (text.includes(value)) return true;
  return false;
};
