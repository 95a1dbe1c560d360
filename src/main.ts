import { main } from './cli/cli.ts';

/**
 * Runs the command line of this process. `scripts/launcher.cjs` calls it: a program that imports the
 * library loads the same bundle.
 */
export const runCommandLine = async (): Promise<void> => {
  process.exitCode = await main(process.argv.slice(2), process.env);
};

/** Returns the library. It is evaluated at the first call, so that a command line does without it. */
export const library = (): typeof import('./library/index.ts') => require('./library/index.ts');
