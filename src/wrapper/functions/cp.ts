import type { WrapperCall, WrapperModule } from '../define.ts';

const env = ['saltenv', 'base'] as const;
/**
 * Returns the saltenv, or `base` if it is missing, '' or null, which formulas pass for unset
 * values.
 */
const envOf = ({ text }: WrapperCall): string => text('saltenv') || 'base';
const list = [env, ['prefix', '']] as const;
const starting = (names: readonly string[], prefix: string): string[] =>
  names.filter(name => name.startsWith(prefix)).sort();

/** The functions of `cp.*` that only read the file roots. Copying runs on the host. */
export const cp: WrapperModule = {
  doc: 'Lists and reads the file roots.',
  functions: {
    list_master: {
      doc: 'All files of an environment.',
      params: list,
      work: async call => starting(await call.ctx.files.list(envOf(call)), call.text('prefix')),
    },
    list_master_dirs: {
      doc: 'All folders of an environment.',
      params: list,
      work: async call => starting(await call.ctx.files.listDirs(envOf(call)), call.text('prefix')),
    },
    list_master_symlinks: {
      doc: 'All symbolic links of an environment, with their targets.',
      params: list,
      work: async call => {
        const links = await call.ctx.files.listSymlinks(envOf(call));
        return new Map([...links].filter(([path]) => path.startsWith(call.text('prefix'))).sort());
      },
    },
    list_states: {
      doc: 'All SLS of an environment.',
      params: [env],
      work: async call => [...(await call.ctx.files.listStates(envOf(call)))],
    },
    envs: { doc: 'All environments.', params: [], work: async ({ ctx }) => [...ctx.files.envs()] },
    get_file_str: {
      doc: 'The text of a file in the roots, or of an absolute path on the host; false if it does not exist.',
      params: ['path', env],
      work: async call => {
        const { ctx, text } = call;
        const local = /^(?:file:\/\/)?(\/.*)$/s.exec(text('path'))?.[1];
        return local === undefined
          ? ((await ctx.readFile(text('path'), envOf(call))) ?? false)
          : await ctx.call('file.read', [local], new Map());
      },
    },
  },
};
