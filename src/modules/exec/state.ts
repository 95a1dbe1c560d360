/**
 * What the host itself knows about state runs. Everything that compiles states lives on the
 * control node.
 */
import { __opts__, __salt__, type Plain, type PlainDict } from '../api.ts';
import { asItems } from '../lib/items.ts';
import { lockHolder, showHolder } from '../lib/run-lock.ts';

/**
 * The state run that holds this host, as a list of one sentence; an empty list when there is none.
 * @param concurrent runs that others may run beside: the host does not count them
 */
export const running = (concurrent = false): string[] => {
  const { cachedir } = __opts__;
  const holder = typeof cachedir === 'string' && !concurrent ? lockHolder(cachedir) : undefined;
  return holder && holder.pid !== process.pid ? [showHolder(holder)] : [];
};

/**
 * Forbids state functions on this host, by name or pattern, until `enable`.
 * @param states names: a list, or a text with commas
 */
export const disable = (states: Plain): Promise<PlainDict> =>
  change(states, (known, state) =>
    known.includes(state)
      ? { message: `Info: ${state} state already disabled.`, list: known }
      : { message: `Info: ${state} state disabled.`, list: [...known, state] },
  );

/**
 * Allows what `disable` forbade.
 * @param states names: a list, or a text with commas
 */
export const enable = (states: Plain): Promise<PlainDict> =>
  change(states, (known, state) =>
    known.includes(state)
      ? { message: `Info: ${state} state enabled.`, list: known.filter(item => item !== state) }
      : { message: `Info: ${state} state already enabled.`, list: known },
  );

/** What is forbidden. */
export const list_disabled = async (): Promise<string[]> => {
  const list: unknown = await __salt__['grains.get']?.('state_runs_disabled');
  return Array.isArray(list) ? list.map(String) : [];
};

type Step = { readonly message: string; readonly list: string[] };

const change = async (
  states: Plain,
  step: (known: string[], state: string) => Step,
): Promise<PlainDict> => {
  const before = await list_disabled();
  let list = before;
  const messages: string[] = [];
  const names = asItems(states).flatMap(item => String(item).split(','));
  for (const name of names.map(item => item.trim()).filter(item => item !== '')) {
    const next = step(list, name);
    messages.push(next.message);
    list = next.list;
  }
  if (list.join('\n') !== before.join('\n'))
    await __salt__['grains.setval']?.('state_runs_disabled', list);
  return { res: true, msg: messages.join('\n') };
};
