import { toList } from '../_shared/states/values.ts';
import { type Plain, SaltInvocationError } from '../api.ts';

/** Arguments for options of older versions of pip. Each is passed to pip, which may refuse it. */
export type GoneOptions = {
  use_wheel?: Plain | undefined;
  no_use_wheel?: Plain | undefined;
  mirrors?: Plain | undefined;
  build?: Plain | undefined;
  download?: Plain | undefined;
  no_install?: Plain | undefined;
  no_download?: Plain | undefined;
  install_options?: Plain | undefined;
  allow_all_external?: Plain | undefined;
  allow_external?: Plain | undefined;
  allow_unverified?: Plain | undefined;
  process_dependency_links?: Plain | undefined;
};

type Gone = {
  readonly option: string;
  /** Whether it goes with a value. */
  readonly hasValue?: true;
  readonly instead: string;
};

// A whole name each: pip takes the beginning of another option for that option.
const gone: { readonly [name in keyof GoneOptions]-?: Gone } = {
  use_wheel: { option: '--use-wheel', instead: 'use only_binary' },
  no_use_wheel: { option: '--no-use-wheel', instead: 'use no_binary' },
  mirrors: { option: '--mirrors', hasValue: true, instead: 'use index_url' },
  build: { option: '--build-dir', hasValue: true, instead: 'set TMPDIR in env_vars' },
  download: { option: '--download', hasValue: true, instead: 'run pip download by cmd.run' },
  no_install: { option: '--no-install', instead: 'run pip download by cmd.run' },
  no_download: { option: '--no-download', instead: 'use no_index and find_links' },
  install_options: { option: '--install-option', hasValue: true, instead: 'use global_options' },
  allow_all_external: { option: '--allow-all-external', instead: 'use find_links' },
  allow_external: { option: '--allow-external', hasValue: true, instead: 'use find_links' },
  allow_unverified: { option: '--allow-unverified', hasValue: true, instead: 'use find_links' },
  process_dependency_links: {
    option: '--process-dependency-links',
    instead: 'name the packages by their addresses',
  },
};

export const uninstallArgs = (options: GoneOptions): string[] =>
  Object.entries(gone).flatMap(([name, { option, hasValue }]) => {
    const given = options[name as keyof GoneOptions];
    if (!given) return [];
    if (!hasValue) return [option];
    const words = toList(given).map(value => `${option}=${value}`);
    return name === 'mirrors' ? ['--use-mirrors', ...words] : words;
  });

/** Says what to use instead when this pip does not know one of them. */
export const refuseGone = (options: GoneOptions, stderr: string): void => {
  const [, unknown] = /^no such option: (--[\w-]+)/m.exec(stderr) ?? [];
  const found = Object.entries(gone).find(
    ([name, { option }]) =>
      options[name as keyof GoneOptions] &&
      (unknown === option || (name === 'mirrors' && unknown === '--use-mirrors')),
  );
  if (found)
    throw new SaltInvocationError(
      `pip has no option for ${found[0]} any more: ${found[1].instead}.`,
    );
};
