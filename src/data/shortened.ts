/** Shortens a string for a message: a host may have written all of it. */
export const shortened = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 200)}…` : text;
