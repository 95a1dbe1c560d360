import type { FunctionMeta, FunctionSignature, ModuleMeta } from '../protocol/meta.ts';
import type { EntryModule } from './entry.ts';

/**
 * Derives state modules from execution modules by the `auto_state` contract (present, absent and
 * describe), unless the user wrote a state module of that name.
 */
export const autoStates = (modules: readonly EntryModule[]): EntryModule[] => {
  const states = new Set(
    modules.filter(({ described }) => described.meta.kind === 'state').map(nameOf),
  );
  return modules
    .filter(({ described: { meta } }) => meta.kind === 'exec' && isAuto(meta))
    .filter(module => !states.has(nameOf(module)))
    .map(module => ({
      ...module,
      described: { ...module.described, meta: toState(module) },
      inner: module.described.meta.functions,
    }));
};

const nameOf = ({ described: { meta } }: EntryModule): string => meta.virtualname ?? meta.file;

const isAuto = (meta: ModuleMeta): boolean =>
  meta.broken === undefined && meta.contracts?.includes('auto_state') === true;

const toState = ({ described: { meta } }: EntryModule): ModuleMeta => {
  const signature = (name: string): FunctionSignature =>
    meta.functions.find(fun => fun.name === name)?.signature ?? { positional: [] };
  const make = (name: string, doc: string, from: FunctionSignature): FunctionMeta => ({
    name,
    exportName: name,
    signature: from,
    doc,
    line: 1,
  });
  const resource = meta.virtualname ?? meta.file;
  return {
    ...meta,
    kind: 'state',
    auto: true,
    functions: [
      make('absent', `Delete the named ${resource} if it exists.`, signature('delete')),
      make('describe', `Present states for every existing ${resource}.`, {
        positional: [],
        keywords: [],
      }),
      make(
        'present',
        `Create the named ${resource}, or update it where it differs.`,
        signature('create'),
      ),
    ],
  };
};
