import type { Plain } from '../api.ts';

/** The programs to run; in Salt's signatures, the account follows them. */
export type ComposerProgram = {
  /** the path of composer, which php runs; by default, composer in PATH */
  composer?: string | null;
  /** the path of php */
  php?: string | null;
};

/** The options that are passed to composer. */
export type ComposerSettings = {
  /** true: prefer source repositories */
  prefer_source?: boolean | null;
  /** true: prefer archives */
  prefer_dist?: boolean | null;
  /** true: without the project's own scripts */
  no_scripts?: boolean | null;
  /** true: without plugins */
  no_plugins?: boolean | null;
  /** true: a faster autoloader */
  optimize?: boolean | null;
  /** true: without development dependencies */
  no_dev?: boolean | null;
} & ComposerQuiet & {
    /** further variables for composer */
    env?: Plain;
  };

export type ComposerQuiet = {
  /** true: composer prints nothing */
  quiet?: boolean;
  /** the folder of composer's own files: `COMPOSER_HOME` */
  composer_home?: string;
};
