import { __salt__, CommandExecutionError, type ModuleFunction } from '../api.ts';

/**
 * An execution function by name.
 *
 * @throws CommandExecutionError when this host has none of that name
 */
export const salt = (name: string): ModuleFunction => {
  const found = __salt__[name];
  if (!found) throw new CommandExecutionError(`'${name}' is not available.`);
  return found;
};

/** Whether this host has an execution function of that name. */
export const hasFunction = (name: string): boolean => name in __salt__;

/** Splits the arguments of a function that takes any number of names: names, then maybe options. */
export const namesAndOptions = <T extends object>(
  parts: readonly unknown[],
): { names: string[]; options: Partial<T> } => {
  const last = parts.at(-1);
  const hasOptions = typeof last === 'object' && last !== null && !Array.isArray(last);
  const names = (hasOptions ? parts.slice(0, -1) : parts).flat().map(String);
  return { names, options: hasOptions ? (last as Partial<T>) : {} };
};

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
