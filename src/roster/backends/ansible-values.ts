import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import type { CustomTags } from '../../yaml/yaml-error.ts';

// As `ansible-inventory --export` writes them in JSON.
const unsafe = '__ansible_unsafe';
const vault = '__ansible_vault';

/** Ansible's own tags in YAML. */
export const ansibleTags: CustomTags = new Map([
  ['!unsafe', (value: Data): Data => new Map([[unsafe, value]])],
  ['!vault', (value: Data): Data => new Map([[vault, value]])],
  ['!vault-encrypted', (value: Data): Data => new Map([[vault, value]])],
]);

const marked = (value: Data | undefined, mark: string): value is Dict =>
  isDict(value) && value.size === 1 && value.has(mark);

/** Whether a value is encrypted by Ansible's vault, for which we have no key. */
export const isVault = (value: Data | undefined): boolean =>
  marked(value, vault) || (typeof value === 'string' && value.startsWith('$ANSIBLE_VAULT'));

/** Returns the value without Ansible's marks, at any depth. */
export const unmarked = (value: Data): Data => {
  if (marked(value, unsafe)) return unmarked(value.get(unsafe) ?? null);
  if (marked(value, vault)) return unmarked(value.get(vault) ?? null);
  if (Array.isArray(value)) return value.map(unmarked);
  return isDict(value) ? new Map([...value].map(([key, item]) => [key, unmarked(item)])) : value;
};
