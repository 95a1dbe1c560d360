import { main } from './cli/cli.ts';
import {
  isDetachedProcess,
  isWorkerProcess,
  runDetachedCall,
  workForParent,
} from './cli/worker-process.ts';
import { withFirstFlags } from './memory/v8-flags.ts';

/**
 * Runs the command line of this process. `scripts/launcher.cjs` calls it: a program that imports the
 * library loads the same bundle.
 */
export const runCommandLine = async (): Promise<void> => {
  const argv = process.argv.slice(2);
  if (isWorkerProcess(argv)) await workForParent();
  else if (isDetachedProcess(argv)) process.exitCode = await runDetachedCall(argv, process.env);
  else process.exitCode = await main(argv, process.env);
};

/** Returns the library. It is evaluated at the first call, so that a command line does without it. */
export const library = (): typeof import('./library/index.ts') => require('./library/index.ts');

/** Calls what reads or writes a code cache. The launcher uses it. */
export const forCodeCache = withFirstFlags;
