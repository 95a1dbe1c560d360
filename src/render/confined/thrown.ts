/**
 * Converts a value thrown by the user's code to text: an error's message, a string, or JSON of an
 * object.
 */
export const thrownText = (thrown: unknown): string => {
  if (thrown instanceof Error) return String(thrown.message);
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  try {
    return JSON.stringify(thrown) ?? 'an unnamed error';
  } catch {
    return 'an unnamed error';
  }
};
