import { messageOf } from '../../protocol/error.ts';

/** What was put back, and sentences on what could not be. */
export type PutBack = { readonly restored: string[]; readonly problems: string[] };

/**
 * Puts one thing back; where that fails the others still are.
 *
 * @param work - Says false where there was nothing to do.
 */
export const attempt = async (
  { restored, problems }: PutBack,
  what: string,
  work: () => unknown,
): Promise<void> => {
  try {
    if ((await work()) !== false) restored.push(what);
  } catch (error) {
    problems.push(`${what} could not be put back: ${messageOf(error)}`);
  }
};
