/** Runs the command line; gives the exit code. */
export const main = async (
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> => {
  void env;
  process.stderr.write(`tsalt-ssh: not built yet: ${argv.join(' ')}\n`);
  return 64;
};
