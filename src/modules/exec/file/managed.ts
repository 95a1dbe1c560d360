import { notDone } from '../../lib/not-done.ts';

/** What file states of Salt call of its execution module: here they share a library. */
const inState =
  'the states of file do it; call them with state.single, or write it with file.write';

/**
 * Not done here: `state.single file.managed` chooses the first source that is there.
 *
 * @param source the sources
 */
export const source_list = async (source: string | string[]): Promise<never> =>
  notDone('file.source_list', inState, source);

/**
 * Not done here: templates are rendered on the control node, see `slsutil.renderer`.
 *
 * @param contents the text
 */
export const apply_template_on_contents = async (contents: string): Promise<never> =>
  notDone('file.apply_template_on_contents', inState, contents);

/**
 * Not done here: see `state.single file.managed`.
 *
 * @param name the file
 */
export const get_managed = async (name: string): Promise<never> =>
  notDone('file.get_managed', inState, name);

/**
 * Not done here: `state.single file.managed test=True` tells.
 *
 * @param name the file
 */
export const check_managed = async (name: string): Promise<never> =>
  notDone('file.check_managed', inState, name);

/**
 * Not done here: `state.single file.managed test=True` tells.
 *
 * @param name the file
 */
export const check_managed_changes = async (name: string): Promise<never> =>
  notDone('file.check_managed_changes', inState, name);

/**
 * Not done here: `state.single file.managed test=True` tells.
 *
 * @param name the file
 */
export const check_file_meta = async (name: string): Promise<never> =>
  notDone('file.check_file_meta', inState, name);

/**
 * Not done here: see `state.single file.managed`.
 *
 * @param name the file
 */
export const manage_file = async (name: string): Promise<never> =>
  notDone('file.manage_file', inState, name);

/**
 * Not done here: `file.get_source_sum` looks a hash up in a file of hashes.
 *
 * @param hash_fn the file of hashes
 */
export const extract_hash = async (hash_fn: string): Promise<never> =>
  notDone('file.extract_hash', 'file.get_source_sum looks a hash up in a file of hashes', hash_fn);
