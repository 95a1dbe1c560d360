import type { HostResult } from '../../protocol/event.ts';
import type { Host } from '../../protocol/host.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { becomesOther } from '../../transport/become.ts';

/** How programs and functions report that they need root; a refused SSH key is something else. */
const needsRoot =
  /permission denied(?! ?\((?:publickey|password|keyboard|gssapi|hostbased))|operation not permitted|access denied|\b(?:EACCES|EPERM)\b|must be (?:run as )?(?:root|super-?user)|are you root|(?:needs|requires?|only) root\b|root privileges|(?:interactive )?authentication (?:is )?required/i;

/** Limits: strings of a result that are searched, and characters of each. */
const mostTexts = 10_000;
const longestText = 20_000;

/**
 * Explains what to do if something failed for lack of root and the roster does not use sudo.
 *
 * @returns one sentence for each host; undefined if root would not help
 */
export const sudoHint = (host: Host, result: HostResult): string | undefined => {
  const { failure, retcode } = result;
  if (retcode === 0 || (failure !== undefined && failure.kind !== 'function')) return undefined;
  if (isRoot(host) || becomesOther(host) || !texts(result).some(text => needsRoot.test(text)))
    return undefined;
  return `This ran as ${nameOf(host)}, without sudo: add "sudo: true" to the roster entry, or use --sudo.`;
};

const isRoot = ({ transport, user }: Host): boolean =>
  transport === 'local' || transport === 'chroot'
    ? process.getuid?.() === 0
    : transport === 'container' || user === 'root';

const nameOf = ({ transport, user }: Host): string =>
  transport === 'local' ? 'the user of this process' : user;

/** Collects the comments of failed states, or the function's result. */
const texts = ({ states, value, failure }: HostResult): string[] => {
  const found = failure === undefined ? [] : [failure.message];
  const collect = (one: Plain | undefined): void => {
    if (found.length >= mostTexts) return;
    if (typeof one === 'string') found.push(one.slice(-longestText));
    else if (Array.isArray(one)) one.forEach(collect);
    else if (isPlainDict(one)) Object.values(one).forEach(collect);
  };
  if (states === undefined) collect(value);
  for (const state of Object.values(states ?? {})) {
    if (state.result !== false) continue;
    collect(state.comment);
    collect(state.changes);
  }
  return found;
};
