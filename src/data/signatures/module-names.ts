import type { ModuleMeta } from '../../protocol/meta.ts';

/** Whether a module has a name, or may have it on a host, where `__virtual__` decides. */
export const mayBeCalled = (
  { virtualname, file, virtual, anyName }: ModuleMeta,
  name: string,
): boolean =>
  (virtualname ?? file) === name || anyName === true || virtual?.includes(name) === true;
