/** Manages the firewall ufw, with the function names of the public ufw formula. */

import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { parseAssignments, readOr } from '../../_shared/files/read-file.ts';
import { CommandExecutionError } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  which('ufw') !== undefined || [false, 'ufw is not installed.'];

const ufw = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await runCommand(['ufw', ...args], {
    plainLocale: true,
    cwd: '/',
  });
  if (code === 0) return stdout;
  throw new CommandExecutionError(
    stderr.trim().replace(/^ERROR: /, '') || stdout.trim() || `ufw ${args.join(' ')} failed`,
  );
};

/**
 * Whether the firewall is on.
 *
 * @example tsalt-ssh '*' ufw.is_enabled
 */
export const is_enabled = async (): Promise<boolean> =>
  /^Status: active$/m.test(await ufw('status'));

/**
 * Enables or disables the firewall, now and at boot.
 *
 * @param enabled true: on
 * @example tsalt-ssh '*' ufw.set_enabled True
 */
export const set_enabled = async (enabled: boolean): Promise<string> =>
  (await ufw('--force', enabled ? 'enable' : 'disable')).trim();

const policies: Readonly<Record<string, string>> = {
  DROP: 'deny',
  ACCEPT: 'allow',
  REJECT: 'reject',
};
const settings = {
  incoming: 'DEFAULT_INPUT_POLICY',
  outgoing: 'DEFAULT_OUTPUT_POLICY',
  routed: 'DEFAULT_FORWARD_POLICY',
};

/**
 * Returns the policies for packets that match no rule: `{incoming, outgoing, routed}`. They are read
 * from ufw's settings, which exist even while ufw is disabled, or else from its status.
 *
 * @example tsalt-ssh '*' ufw.get_defaults
 */
export const get_defaults = async (): Promise<Record<string, string>> => {
  const file = parseAssignments(readOr('/etc/default/ufw') ?? '');
  const kept = Object.entries(settings).flatMap(([way, key]): [string, string][] => {
    const policy = policies[file.get(key) ?? ''];
    return policy === undefined ? [] : [[way, policy]];
  });
  if (kept.length > 0) return Object.fromEntries(kept);
  const line = /^Default: (.*)$/m.exec(await ufw('status', 'verbose'))?.[1] ?? '';
  return Object.fromEntries(
    [...line.matchAll(/(\w+) \((\w+)\)/g)].map(([, policy, way]) => [way ?? '', policy ?? '']),
  );
};

/**
 * Sets what happens to packets that no rule speaks of.
 *
 * @param policy `allow`, `deny` or `reject`
 * @param direction `incoming`, `outgoing` or `routed`
 * @example tsalt-ssh '*' ufw.set_default deny incoming
 */
export const set_default = async (policy: string, direction: string): Promise<string> =>
  (await ufw('default', policy, direction)).trim();

/**
 * Whether adding a rule would change anything.
 *
 * @param rule the rule's words
 * @example tsalt-ssh '*' ufw.has_rule '[allow, "22/tcp"]'
 */
export const has_rule = async (rule: string[]): Promise<boolean> => {
  const told = (await ufw('--dry-run', ...rule.map(String))).split('\n');
  return told.some(line => /^Skipping (?:adding existing|inserting existing) rule/.test(line));
};

/**
 * Adds a rule.
 *
 * @param rule the rule's words
 * @example tsalt-ssh '*' ufw.add_rule '[allow, "22/tcp"]'
 */
export const add_rule = async (rule: string[]): Promise<string> =>
  (await ufw(...rule.map(String))).trim();
