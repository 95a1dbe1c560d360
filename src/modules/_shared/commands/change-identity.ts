/** The largest value of one environment variable; the kernel's limit is 128 KiB. */
const mostInOne = 100_000;

/** Shells keep these for themselves; no program reads them before it is a shell. */
const ofShells =
  /^(?:BASH.*|_|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HISTCMD|KSH_VERSION|LINENO|OPTIND|PPID|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID)$/;

const isPlainName = (name: string): boolean =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !ofShells.test(name);

/**
 * Puts a program behind one that changes the user, so that the variables meant for the program are
 * in force only after the change: until then the dynamic linker would obey `LD_PRELOAD` and the
 * like as root. They travel as text in variables of another name, and a shell that runs as the
 * user already sets them and becomes the program. Names that no shell can set go as they are: the
 * linker and libc do not know any such name.
 *
 * @param changer the program that changes the user, with its arguments
 * @param argv the program for the user
 * @param env its variables
 * @returns what to start, and in which environment
 */
export const behindChange = (
  changer: readonly [string, ...string[]],
  argv: readonly [string, ...string[]],
  env: Readonly<NodeJS.ProcessEnv>,
): { readonly argv: readonly [string, ...string[]]; readonly env: NodeJS.ProcessEnv } => {
  const outer: NodeJS.ProcessEnv = {};
  const parts: string[] = [''];
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (!isPlainName(name)) {
      outer[name] = value;
      continue;
    }
    const line = `export ${name}='${value.replaceAll("'", "'\\''")}'\n`;
    const last = parts.length - 1;
    if ((parts[last] ?? '').length + line.length < mostInOne) parts[last] += line;
    else parts.push(line);
  }
  const names = parts.map((_, at) => `TSALT_ENV_${at}`);
  for (const [at, name] of names.entries()) outer[name] = parts[at];
  // Some shells export these of their own accord.
  const own = ['PWD', 'OLDPWD', 'SHLVL'].filter(name => env[name] === undefined);
  const script = [
    ...(own.length === 0 ? [] : [`unset ${own.join(' ')}`]),
    ...names.map(name => `eval "$${name}"`),
    `unset ${names.join(' ')}`,
    'exec "$@"',
  ];
  const shell = ['/bin/sh', '-c', script.join('\n'), 'sh'];
  return { argv: [...changer, ...shell, ...argv], env: outer };
};
