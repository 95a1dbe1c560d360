import { failed } from '../../../_shared/states/returns.ts';
import type { PlainDict, StateReturn } from '../../../api.ts';
import { call } from './call.ts';
import { type RunArguments, run } from './run.ts';
import { type ScriptArguments, script } from './script.ts';

/** Runs what watched: called by the engine with the watching state's own arguments. */
export const mod_watch = async (
  name: string,
  { sfun, ...options }: { sfun: string } & PlainDict,
): Promise<StateReturn> => {
  if (['wait', 'run', 'watch'].includes(sfun)) return run(name, options as RunArguments);
  if (['wait_script', 'script'].includes(sfun)) return script(name, options as ScriptArguments);
  if (['wait_call', 'call'].includes(sfun))
    return call(name, options as unknown as Parameters<typeof call>[1]);
  return failed(
    name,
    `cmd.${sfun} does not work with the watch requisite, please use cmd.wait or cmd.wait_script`,
  );
};
