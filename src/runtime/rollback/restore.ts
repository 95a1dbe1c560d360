import { messageOf } from '../../protocol/error.ts';

/** The restored items, and sentences about items that could not be restored. */
export type RestoreResult = { readonly restored: string[]; readonly problems: string[] };

/**
 * Restores one item. A failure is recorded and does not stop the others.
 *
 * @param work - Returns false if there was nothing to do.
 */
export const attempt = async (
  { restored, problems }: RestoreResult,
  what: string,
  work: () => unknown,
): Promise<void> => {
  try {
    if ((await work()) !== false) restored.push(what);
  } catch (error) {
    problems.push(`${what} could not be restored: ${messageOf(error)}`);
  }
};
