/**
 * Functions on state runs that run on the host. Those that compile states run on the control
 * node.
 */

import { closestMatch } from '../../../data/closest-match.ts';
import { fnmatch } from '../../../data/python/glob.ts';
import { messageOf } from '../../../protocol/error.ts';
import { lockHolder, showHolder } from '../../_shared/commands/run-lock.ts';
import {
  addDescription,
  type Description,
  findDescriptionFault,
} from '../../_shared/states/describe.ts';
import {
  __opts__,
  __salt__,
  __states__,
  CommandExecutionError,
  log,
  type Plain,
  type PlainDict,
  untyped,
} from '../../api.ts';
import { asItems } from '../items.ts';

export const __outputter__ = {
  describe: 'sls',
  graph: 'newline_values_only',
  graph_highstate: 'newline_values_only',
};

/**
 * Describes what is there as an SLS that changes nothing when it is applied to the same host.
 *
 * @param mods state modules that can describe: a list, or a text with commas; `*` and `?` match
 * @returns states by ID; shown as an SLS unless `--out` says otherwise
 * @example tsalt-ssh web1 state.describe pkg,service,user,group > web1.sls
 */
export const describe = async (mods: Plain): Promise<Description> => {
  const known = Object.keys(__states__)
    .filter(name => name.endsWith('.describe'))
    .map(name => name.slice(0, -'.describe'.length));
  const found: Description = {};
  const wanted = asItems(mods).flatMap(item => String(item).split(','));
  for (const pattern of wanted.map(item => item.trim()).filter(item => item !== '')) {
    const isGlob = /[*?[]/.test(pattern);
    const names = isGlob ? known.filter(name => fnmatch(name, pattern)) : [pattern];
    if (names.length === 0 || !names.every(name => known.includes(name)))
      throw new CommandExecutionError(cannotDescribe(pattern, known));
    for (const name of names)
      try {
        addDescription(found, await descriptionOf(name));
      } catch (error) {
        if (!isGlob) throw error;
        log.warning(`${name} is not described: ${messageOf(error)}`);
      }
  }
  return found;
};

const descriptionOf = async (module: string): Promise<Description> => {
  const value: unknown = await untyped(__states__)[`${module}.describe`]?.();
  const fault = findDescriptionFault(value);
  if (fault !== undefined) throw new CommandExecutionError(`${module}.describe: ${fault}`);
  const description = value as Description;
  const unknown = Object.values(description)
    .flatMap(states => Object.keys(states))
    .find(fun => !(fun in __states__));
  if (unknown !== undefined)
    throw new CommandExecutionError(
      `${module}.describe: there is no state function '${unknown}' on this host`,
    );
  return description;
};

const cannotDescribe = (pattern: string, known: readonly string[]): string => {
  const meant = closestMatch(pattern, known);
  return `No state module '${pattern}' can describe what is there; ${
    meant === undefined ? `these can: ${known.join(', ')}` : `did you mean '${meant}'?`
  }`;
};

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

/** Returns the disabled states; an empty string when none was ever disabled. */
export const list_disabled = async (): Promise<Plain> => {
  const list = (await __salt__['grains.get']?.('state_runs_disabled')) as Plain | undefined;
  return list ?? '';
};

type Step = { readonly message: string; readonly list: string[] };

const change = async (
  states: Plain,
  step: (known: string[], state: string) => Step,
): Promise<PlainDict> => {
  const known = await list_disabled();
  const before = Array.isArray(known) ? known.map(String) : [];
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
