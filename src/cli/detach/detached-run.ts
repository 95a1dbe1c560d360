import { parseCommandLine } from '../quick-parse.ts';
import { noteProcess, recorder } from './record.ts';

/**
 * Carries out a detached call, and records what happens.
 *
 * @param argv the folder of its record, and the call as it was typed
 */
export const runDetached = async (
  [folder = '', ...argv]: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> => {
  const began = (): void => {
    process.send?.('began', undefined, undefined, () => undefined);
  };
  const record = recorder(folder, began);
  let code = 70;
  try {
    const given = await parseCommandLine(argv);
    const owner = given.options['trust-owner'];
    if (typeof owner === 'string') (await import('../../trust/owners.ts')).trustOwners(owner);
    const { withSaltfile } = await import('../saltfile.ts');
    const { openGiven } = await import('../open-given.ts');
    const opened = await openGiven(await withSaltfile(given, process.cwd(), env), env);
    const [target = '', fun = ''] = opened.given.words;
    noteProcess(folder, target, fun);
    const { runCall } = await import('../run-call.ts');
    code = await runCall(opened, undefined, { output: record });
  } catch (error) {
    const { exitCodeOfError } = await import('../exit-code.ts');
    await record.fail(error);
    code = exitCodeOfError(error);
  }
  record.end(code);
  if (process.connected) process.disconnect?.();
  return code;
};
