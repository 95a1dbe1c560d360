import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';

/**
 * What is known of the modules, as a file: a line that tells what each is, and of how many bytes
 * its functions are, then a line of functions per module. A run looks at those of the few that it
 * uses.
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
 * The modules of such a file; a module's functions are read when they are first looked at. The
 * bytes stay as they are until then: making text of all of them takes longer than the rest.
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
