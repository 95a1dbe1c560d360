import { __salt__, CommandExecutionError, type ModuleFunction, untyped } from '../../api.ts';

/**
 * An execution function by name.
 *
 * @throws CommandExecutionError when this host has none of that name
 */
export const salt = (name: string): ModuleFunction => {
  const found = untyped(__salt__)[name];
  if (!found) throw new CommandExecutionError(`'${name}' is not available.`);
  return found;
};

/** Whether this host has an execution function of that name. */
export const hasFunction = (name: string): boolean => name in __salt__;
