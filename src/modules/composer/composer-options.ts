import type { Plain } from '../api.ts';

/** The programs; the account that runs them stands behind them in Salt. */
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
