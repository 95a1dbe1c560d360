/** Returns what the user's code threw as text: an error's message, a text, or JSON of an object. */
export const thrownText = (thrown: unknown): string => {
  if (thrown instanceof Error) return String(thrown.message);
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown) ?? 'an unnamed error';
  } catch {
    return 'an unnamed error';
  }
};
