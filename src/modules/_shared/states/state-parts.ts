import { getOwn, isPlainDict, setOwn } from '../../../protocol/plain.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import { failed, newReturn } from './returns.ts';

/** The result of one part of a state's work. */
export type StatePart = {
  readonly comment?: string;
  readonly changes?: PlainDict;
  /** False: it failed. */
  readonly ok?: boolean;
};

/** A state's answer from those of its parts; changes of the same thing stand together. */
export const fromParts = (name: string, parts: readonly StatePart[]): StateReturn => {
  const changes: PlainDict = {};
  for (const part of parts)
    for (const [key, value] of Object.entries(part.changes ?? {})) {
      const had = getOwn(changes, key);
      setOwn(changes, key, isPlainDict(had) && isPlainDict(value) ? { ...had, ...value } : value);
    }
  const comment = parts.flatMap(part => part.comment ?? []).join('\n');
  const ret = { ...newReturn(name), changes, comment };
  if (parts.some(part => part.ok === false)) return failed(ret, comment);
  return __opts__.test && Object.keys(changes).length > 0 ? { ...ret, result: null } : ret;
};
