import type { FunctionMeta, ModuleMeta } from '../protocol/meta.ts';

/**
 * What is known of the modules, as a file: a line that tells what each is, then a line of
 * functions per module. A run looks at the functions of the few modules that it uses.
 */
export const packMeta = (modules: readonly ModuleMeta[]): string => {
  const lines = modules.map(({ functions }) => JSON.stringify(functions));
  const heads = modules.map(({ functions: _, ...head }, at) => ({
    ...head,
    size: lines[at]?.length ?? 0,
  }));
  return [JSON.stringify(heads), ...lines].map(line => `${line}\n`).join('');
};

/** The modules of such a file; a module's functions are read when they are first looked at. */
export const unpackMeta = (text: string): ModuleMeta[] => {
  let at = text.indexOf('\n') + 1;
  const heads = JSON.parse(text.slice(0, at - 1)) as (Head & { size: number })[];
  return heads.map(({ size, ...head }) => {
    const from = at;
    at += size + 1;
    let functions: readonly FunctionMeta[] | undefined;
    return {
      ...head,
      get functions() {
        functions ??= JSON.parse(text.slice(from, from + size)) as FunctionMeta[];
        return functions;
      },
    };
  });
};

type Head = Omit<ModuleMeta, 'functions'>;
