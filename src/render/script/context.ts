import { saltTable, toJs } from '../js-value.ts';
import type { Stage } from '../types.ts';

/** The variables of templates, for JavaScript: also under Salt's dunder names. */
export const contextOf = ({ variables, request }: Stage): Record<string, unknown> => {
  const context: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of variables) context[String(name)] = toJs(value);
  const salt = saltTable(request.context.call);
  return Object.assign(context, {
    salt,
    __salt__: salt,
    __grains__: context.grains,
    __pillar__: context.pillar,
    __opts__: context.opts,
    __env__: request.saltenv,
    __sls__: request.sls ?? '',
  });
};
