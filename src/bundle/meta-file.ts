import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';

/**
 * Writes the metadata of the modules as a file: one line with each module and the number of bytes
 * of its functions, then one line of functions per module. A run reads only those of the modules
 * that it uses.
 */
export const packMeta = (modules: readonly ModuleMeta[]): string => {
  const lines = modules.map(({ functions }) => JSON.stringify(functions));
  const heads = modules.map(({ functions: _, ...head }, at) => ({
    ...head,
    size: Buffer.byteLength(lines[at] ?? ''),
  }));
  return [JSON.stringify(heads), ...lines].map(line => `${line}\n`).join('');
};

/**
 * Reads such a file; a module's functions are parsed on first access. Until then the bytes are
 * kept: decoding all of them would take longer than the rest.
 */
export const unpackMeta = (bytes: Buffer): ModuleMeta[] => {
  let at = bytes.indexOf('\n') + 1;
  const heads = JSON.parse(bytes.toString('utf8', 0, at - 1)) as (Head & { size: number })[];
  return heads.map(({ size, ...head }) => {
    const from = at;
    at += size + 1;
    let functions: readonly FunctionMeta[] | undefined;
    return {
      ...head,
      get functions() {
        functions ??= JSON.parse(bytes.toString('utf8', from, from + size)) as FunctionMeta[];
        return functions;
      },
    };
  });
};

type Head = Omit<ModuleMeta, 'functions'>;
