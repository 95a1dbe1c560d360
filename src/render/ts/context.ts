import type { Data, Dict } from '../../data/values/value.ts';
import { unpack } from '../confined/wire.ts';
import { saltTable, toJs } from '../js-value.ts';
import type { SlsContext } from './sls-api.ts';

/** Returns the variables of templates, for JavaScript: also under Salt's dunder names. */
export const contextOf = (
  variables: Readonly<Record<string, string>>,
  call: (fun: string, args: Data[], kwargs: Dict) => Promise<Data>,
): SlsContext => {
  const context: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, packed] of Object.entries(variables)) context[name] = toJs(unpack(packed));
  const salt = saltTable(call);
  return Object.assign(context, {
    salt,
    __salt__: salt,
    __grains__: context.grains,
    __pillar__: context.pillar,
    __opts__: context.opts,
    __env__: context.saltenv,
    __sls__: context.sls ?? '',
  }) as unknown as SlsContext;
};
