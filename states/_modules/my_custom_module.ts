/**
 * Keeps custom things: each is a line of text in a file of its own. The execution module that
 * the state module `my_custom_state` calls to do the real work.
 *
 * @maintainer the tsalt-ssh authors
 * @maturity new
 * @platform all
 */
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { __opts__, SaltInvocationError } from 'tsalt-ssh/module';

/** The option `my_custom_module.dir` (roster or tsalt.yaml) says where things are kept. */
const folder = (): string => String(__opts__['my_custom_module.dir'] ?? '/var/lib/custom-things');

const pathOf = (name: string): string => {
  if (!/^[\w-]+$/.test(name))
    throw new SaltInvocationError(`"${name}" is no name for a custom thing.`);
  return join(folder(), name);
};

/**
 * Returns the state of a custom thing; null if it does not exist.
 *
 * @param name the thing
 * @example tsalt-ssh '*' my_custom_module.current_state a_value
 */
export const current_state = async (name: string): Promise<string | null> => {
  try {
    return (await readFile(pathOf(name), 'utf8')).trimEnd();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/**
 * Brings a custom thing into a state and returns its new state.
 *
 * @param name the thing
 * @param state the state wanted
 * @example tsalt-ssh '*' my_custom_module.change_state a_value Foo
 */
export const change_state = async (name: string, state: string): Promise<string | null> => {
  const path = pathOf(name);
  await mkdir(folder(), { recursive: true });
  await writeFile(`${path}.new`, `${state}\n`);
  await rename(`${path}.new`, path);
  return current_state(name);
};
