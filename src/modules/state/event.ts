/**
 * Events as states; they arrive on the control node as lines of its log.
 */
import { __opts__, __salt__, type Plain, type StateReturn } from '../api.ts';

/**
 * Sends an event.
 * @param name its tag
 * @param data details
 * @param show_changed report it as a change
 */
export const send = async (
  name: string,
  {
    data = null,
    show_changed = true,
  }: { data?: Plain; show_changed?: boolean; [key: string]: Plain | undefined } = {},
): Promise<StateReturn> => {
  const changes = show_changed ? { tag: name, data } : {};
  if (__opts__.test) return { name, changes, result: null, comment: 'Event would have been fired' };
  const result = (await __salt__['event.send']?.(name, { data })) === true;
  return { name, changes, result, comment: 'Event fired' };
};

/**
 * Does nothing; sends the event when something it watches has changed.
 * @param name its tag
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const wait = (name: string, {}: { [key: string]: Plain } = {}): StateReturn => ({
  name,
  changes: {},
  result: true,
  comment: '',
});

export const mod_watch = send;
export const fire_master = send;
