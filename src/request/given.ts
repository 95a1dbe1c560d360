import type { OptionName } from './options.ts';

/** Options and arguments of a command line or a program, before they are interpreted. */
export type Given = {
  /** Options by long name; missing ones are absent. */
  readonly options: Readonly<Partial<Record<OptionName, string | boolean | readonly string[]>>>;
  /** Target, function and arguments. */
  readonly words: readonly string[];
  /** The Saltfile and the options in it. */
  readonly saltfile?: { readonly file: string; readonly names: ReadonlySet<string> };
};
