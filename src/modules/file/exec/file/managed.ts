import { notDone } from '../../../_shared/states/not-done.ts';
import type { Plain } from '../../../api.ts';

type Named = { [name: string]: Plain };

/**
 * Salt's file states call these functions of the execution module; here the states use a library
 * instead.
 */
const inState =
  'the states of file do it; call them with state.single, or write it with file.write';

/**
 * Not supported: `state.single file.managed` chooses the first source that is there.
 *
 * @param given the arguments of Salt's function
 */
export const source_list = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.source_list', inState, named, given);

/**
 * Not supported: templates are rendered on the control node, see `slsutil.renderer`.
 *
 * @param given the arguments of Salt's function
 */
export const apply_template_on_contents = async (
  { ...named }: Named,
  ...given: Plain[]
): Promise<never> => notDone('file.apply_template_on_contents', inState, named, given);

/**
 * Not supported: see `state.single file.managed`.
 *
 * @param given the arguments of Salt's function
 */
export const get_managed = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.get_managed', inState, named, given);

/**
 * Not supported: use `state.single file.managed test=True`.
 *
 * @param given the arguments of Salt's function
 */
export const check_managed = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.check_managed', inState, named, given);

/**
 * Not supported: use `state.single file.managed test=True`.
 *
 * @param given the arguments of Salt's function
 */
export const check_managed_changes = async (
  { ...named }: Named,
  ...given: Plain[]
): Promise<never> => notDone('file.check_managed_changes', inState, named, given);

/**
 * Not supported: use `state.single file.managed test=True`.
 *
 * @param given the arguments of Salt's function
 */
export const check_file_meta = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.check_file_meta', inState, named, given);

/**
 * Not supported: see `state.single file.managed`.
 *
 * @param given the arguments of Salt's function
 */
export const manage_file = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.manage_file', inState, named, given);

/**
 * Not supported: `file.get_source_sum` looks a hash up in a file of hashes.
 *
 * @param given the arguments of Salt's function
 */
export const extract_hash = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone(
    'file.extract_hash',
    'file.get_source_sum looks a hash up in a file of hashes',
    named,
    given,
  );
