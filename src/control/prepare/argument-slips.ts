import { closestMatch } from '../../data/closest-match.ts';
import type { FunctionSignature } from '../../protocol/meta.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import {
  commonArguments,
  requisiteInKeywords,
  requisiteKeywords,
} from '../../protocol/state-keywords.ts';

/**
 * Names that people write for an argument, by habit or from other tools, and that are too different
 * from it for the spelling check.
 */
const slips: Readonly<Record<string, readonly string[]>> = {
  content: ['contents'],
  text: ['contents'],
  dest: ['name'],
  path: ['name'],
  src: ['source'],
  owner: ['user'],
  username: ['user'],
  user_name: ['user'],
  groupname: ['group'],
  group_name: ['group'],
  file_mode: ['mode'],
  perms: ['mode'],
  permissions: ['mode'],
  template_engine: ['template'],
  creates_dirs: ['makedirs'],
  create_dirs: ['makedirs'],
  make_directories: ['makedirs'],
  packages: ['pkgs'],
  only_if: ['onlyif'],
  requirement: ['require'],
  requisite: ['require'],
  depends: ['require'],
  depends_on: ['require'],
  notify: ['watch_in', 'listen_in'],
  on_change: ['onchanges'],
  on_changes: ['onchanges'],
  on_fail: ['onfail'],
};

/**
 * Finds the argument that an unknown one most likely means: of the function, of all states, or a
 * requisite.
 *
 * @param name the unknown argument
 * @param signature the state function's
 * @returns undefined if no known name is similar
 */
export const meantArgument = (name: string, signature: FunctionSignature): string | undefined => {
  const own = [...signature.positional, ...(signature.keywords ?? [])].map(param => param.name);
  const known = [...own, ...requisiteKeywords, ...requisiteInKeywords, ...commonArguments];
  const plain = name.toLowerCase().replaceAll('-', '_');
  const meant = Object.hasOwn(slips, plain) ? slips[plain] : undefined;
  const slip = meant?.find(word => known.includes(word));
  return slip ?? known.find(word => isSameWord(word, plain)) ?? closestMatch(plain, known);
};

/**
 * Finds the requisite that an argument of a function most likely means which takes any argument. It
 * would be accepted without a word, and the state would not wait.
 *
 * @returns undefined unless the value is a list of requisites
 */
export const meantRequisite = (name: string, value: Plain | undefined): string | undefined => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isRequisite)) return undefined;
  const plain = name.toLowerCase().replaceAll('-', '_');
  const requisites: readonly string[] = [...requisiteKeywords, ...requisiteInKeywords];
  const meant = Object.hasOwn(slips, plain) ? slips[plain] : undefined;
  return (
    meant?.find(word => requisites.includes(word)) ??
    requisites.find(word => isSameWord(word, plain)) ??
    closestMatch(plain, requisites)
  );
};

/** Whether a value is written as `file: /etc/motd`. */
const isRequisite = (value: Plain): boolean => {
  if (!isPlainDict(value)) return false;
  const [id, ...more] = Object.values(value);
  return typeof id === 'string' && more.length === 0;
};

/** Whether two names differ by their number (`requires`, `content`) or by their underscores only. */
const isSameWord = (left: string, right: string): boolean => {
  const stem = (word: string): string => word.replaceAll('_', '').replace(/(?<=..)e?s$/, '');
  return stem(left) === stem(right);
};
