import type { Plain } from '../api.ts';

/** The programs to run; in Salt's signatures, the account follows them. */
export type ComposerProgram = {
  composer?: string | null;
  php?: string | null;
};

/** The options that are passed to composer. */
export type ComposerWish = {
  prefer_source?: boolean | null;
  prefer_dist?: boolean | null;
  no_scripts?: boolean | null;
  no_plugins?: boolean | null;
  optimize?: boolean | null;
  no_dev?: boolean | null;
} & ComposerQuiet & { env?: Plain };

export type ComposerQuiet = {
  quiet?: boolean;
  composer_home?: string;
};
