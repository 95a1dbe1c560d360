/** Options of salt-ssh that are not supported, and their replacements. */
const instead: Readonly<Record<string, string>> = {
  passwd:
    'Every user would see it in the list of processes: use --askpass, --passwd-from or passwd in the roster.',
  'priv-passwd':
    'Every user would see it in the list of processes: use --priv-passwd-from, or type it when asked.',
  'no-host-keys':
    'A changed host key is never taken: remove the old line by ssh-keygen -R HOST, or pin the new one by host_key. -i takes unknown keys.',
  'python2-bin': 'Hosts need no Python; --node-bin names their Node.',
  'python3-bin': 'Hosts need no Python; --node-bin names their Node.',
  'min-extra-modules':
    'Modules of the project, and the npm packages that they import, come along by themselves.',
  'thin-extra-modules':
    'Modules of the project, and the npm packages that they import, come along by themselves.',
  'thin-exclude-saltexts': 'Nothing is bundled but built-in modules and those of the project.',
  'extra-filerefs': 'Hosts get the files that their states name when they need them.',
  relenv: 'Hosts without Node get one by themselves; --node-bin names another.',
  range: 'Range servers are not supported; -C combines other kinds of targets.',
  R: 'Range servers are not supported; -C combines other kinds of targets.',
  test: 'Use test=True after the function, or --dry-run.',
  check: 'Use test=True after the function, or --dry-run.',
  V: 'Use --version or --versions-report.',
  'hard-crash': 'Set TSALT_DEBUG=1 to see where tsalt-ssh itself broke.',
};

/** The alternative to an option of salt-ssh that is not supported. */
export const insteadOf = (name: string): string | undefined =>
  Object.hasOwn(instead, name) ? instead[name] : undefined;

/** Options of other programs, since these are mistyped, too: `--tets`. */
export const foreignOptions: readonly string[] = Object.keys(instead);
