import { notDone } from '../../../_shared/states/not-done.ts';
import type { Plain } from '../../../api.ts';

type Named = { [name: string]: Plain };

/** What file states of Salt call of its execution module: here they share a library. */
const inState =
  'the states of file do it; call them with state.single, or write it with file.write';

/**
 * Not done here: `state.single file.managed` chooses the first source that is there.
 *
 * @param given whatever Salt's function takes
 */
export const source_list = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.source_list', inState, named, given);

/**
 * Not done here: templates are rendered on the control node, see `slsutil.renderer`.
 *
 * @param given whatever Salt's function takes
 */
export const apply_template_on_contents = async (
  { ...named }: Named,
  ...given: Plain[]
): Promise<never> => notDone('file.apply_template_on_contents', inState, named, given);

/**
 * Not done here: see `state.single file.managed`.
 *
 * @param given whatever Salt's function takes
 */
export const get_managed = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.get_managed', inState, named, given);

/**
 * Not done here: `state.single file.managed test=True` tells.
 *
 * @param given whatever Salt's function takes
 */
export const check_managed = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.check_managed', inState, named, given);

/**
 * Not done here: `state.single file.managed test=True` tells.
 *
 * @param given whatever Salt's function takes
 */
export const check_managed_changes = async (
  { ...named }: Named,
  ...given: Plain[]
): Promise<never> => notDone('file.check_managed_changes', inState, named, given);

/**
 * Not done here: `state.single file.managed test=True` tells.
 *
 * @param given whatever Salt's function takes
 */
export const check_file_meta = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.check_file_meta', inState, named, given);

/**
 * Not done here: see `state.single file.managed`.
 *
 * @param given whatever Salt's function takes
 */
export const manage_file = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone('file.manage_file', inState, named, given);

/**
 * Not done here: `file.get_source_sum` looks a hash up in a file of hashes.
 *
 * @param given whatever Salt's function takes
 */
export const extract_hash = async ({ ...named }: Named, ...given: Plain[]): Promise<never> =>
  notDone(
    'file.extract_hash',
    'file.get_source_sum looks a hash up in a file of hashes',
    named,
    given,
  );
