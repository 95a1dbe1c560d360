import { noValue, traverse } from '../../data/values/traverse.ts';
import { type Data, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { WrapperModule } from '../define.ts';

/** `orch.*`: results of earlier steps of an orchestration. */
export const orch: WrapperModule = {
  doc: 'Values that steps of an orchestration pass on: in its own SLS, and in SLS and pillar of later steps.',
  functions: {
    result: {
      doc: [
        'The return of a finished step of this orchestration on a host.',
        'id_: the ID of the step',
        'host: the id of the host; without it, all hosts by their ids',
        "key: a path within the return, such as 'addresses:0'. In a return of states the first part may be the ID of a state: 'make password:changes:stdout'",
        'default: the value where the return has no such key; without it, that is an error. In test mode a text such as `(result of database on db1)` stands for it',
        "example: {{ salt['orch.result']('database', 'db1', 'port') }}",
      ].join('\n'),
      params: ['id_', ['host', null], ['key', null], ['default', null]],
      work: ({ ctx, text, get }) => {
        const id = text('id_');
        const { orchestration } = ctx;
        if (!orchestration)
          throw new TsaltError('orch-none', 'orch.result works in orchestrations only.', {
            kind: 'render',
            hint: 'tsalt-ssh --orch SLS runs one.',
          });
        const returns = orchestration.returns(id);
        const isGuess = orchestration.isTest && get('default') === null;
        if (!returns && isGuess) return toCome(id, text('host'));
        if (!returns)
          throw new TsaltError('orch-pending', `The step '${id}' has not finished.`, {
            kind: 'render',
            hint: `Let this step require it (- require: [{salt: ${id}}]), and check its ID.`,
          });
        if (get('host') === null) return returns;
        const host = text('host');
        const value = returns.get(host);
        if (value === undefined && isGuess) return toCome(id, text('host'));
        if (value === undefined)
          throw new TsaltError('orch-host', `The step '${id}' returned nothing for '${host}'.`, {
            kind: 'render',
            hint: `It returned values for: ${[...returns.keys()].join(', ') || 'no host'}.`,
          });
        if (get('key') === null) return value;
        const found = valueAt(value, text('key'));
        if (found !== noValue) return found;
        if (get('default') !== null) return get('default');
        if (isGuess) return toCome(id, text('host'));
        throw new TsaltError(
          'orch-key',
          `The result of '${id}' on ${host} has no '${text('key')}'.`,
          { kind: 'render' },
        );
      },
    },
  },
};

/** Replaces, in test mode, a value that exists only in a real run. */
const toCome = (id: string, host: string): string =>
  host === '' ? `(result of ${id})` : `(result of ${id} on ${host})`;

const valueAt = (value: Data, key: string): Data | typeof noValue => {
  const direct = traverse(value, key);
  if (direct !== noValue || !isDict(value)) return direct;
  for (const state of value.values()) {
    if (!isDict(state)) continue;
    const id = String(state.get('__id__') ?? '');
    if (id === '') continue;
    if (key === id) return state;
    const found = key.startsWith(`${id}:`) ? traverse(state, key.slice(id.length + 1)) : noValue;
    if (found !== noValue) return found;
  }
  return noValue;
};
