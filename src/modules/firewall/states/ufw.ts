/** Manages the firewall ufw, with the functions and arguments of the public ufw formula. */

import { lookup } from 'node:dns/promises';
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, SaltInvocationError, type StateReturn } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('ufw.add_rule') || [false, 'ufw is not installed.'];

const power = async (name: string, wanted: boolean): Promise<StateReturn> => {
  const word = wanted ? 'enabled' : 'disabled';
  try {
    const have: boolean = await salt('ufw.is_enabled')();
    if (have === wanted) return unchanged(name, `UFW is already ${word}`);
    const changes = { enabled: { old: have, new: wanted } };
    if (__opts__.test) return would(name, `UFW would be ${word}`, changes);
    await salt('ufw.set_enabled')(wanted);
    return changed(name, `UFW is ${word}`, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Makes sure that the firewall is enabled, now and at boot.
 *
 * @param name a name for this
 * @example
 * ufw:
 *   ufw.enabled
 */
export const enabled = async (name: string): Promise<StateReturn> => power(name, true);

/**
 * Makes sure that the firewall is disabled.
 *
 * @param name a name for this
 * @example
 * ufw:
 *   ufw.disabled
 */
export const disabled = async (name: string): Promise<StateReturn> => power(name, false);

const policy = async (name: string, direction: string, wanted: string): Promise<StateReturn> => {
  try {
    const defaults: Record<string, string> = await salt('ufw.get_defaults')();
    const have = defaults[direction] ?? null;
    if (have === wanted) return unchanged(name, `default for ${direction} was already ${wanted}`);
    const changes = { [direction]: { old: have, new: wanted } };
    if (__opts__.test) return would(name, `default for ${direction} would be ${wanted}`, changes);
    await salt('ufw.set_default')(wanted, direction);
    return changed(name, `default for ${direction} was set to ${wanted}`, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Manages the policy for incoming packets that match no rule.
 *
 * @param name a name for this
 * @param default_ `allow`, `deny` or `reject`
 * @example
 * incoming:
 *   ufw.default_incoming:
 *     - default: deny
 */
export const default_incoming = async (
  name: string,
  { default: wanted = 'deny' }: { default?: string } = {},
): Promise<StateReturn> => policy(name, 'incoming', wanted);

/**
 * Manages the policy for outgoing packets that match no rule.
 *
 * @param name a name for this
 * @param default_ `allow`, `deny` or `reject`
 * @example
 * outgoing:
 *   ufw.default_outgoing:
 *     - default: allow
 */
export const default_outgoing = async (
  name: string,
  { default: wanted = 'allow' }: { default?: string } = {},
): Promise<StateReturn> => policy(name, 'outgoing', wanted);

/**
 * Manages the policy for routed packets that match no rule.
 *
 * @param name a name for this
 * @param default_ `allow`, `deny` or `reject`
 * @example
 * routed:
 *   ufw.default_routed:
 *     - default: deny
 */
export const default_routed = async (
  name: string,
  { default: wanted = 'deny' }: { default?: string } = {},
): Promise<StateReturn> => policy(name, 'routed', wanted);

type Rule = {
  app?: string | null;
  interface?: string | null;
  /** `tcp`, `udp` … */
  protocol?: string | null;
  /** the source address */
  from_addr?: string | null;
  from_port?: string | number | null;
  to_addr?: string | null;
  /** the port they go to */
  to_port?: string | number | null;
  comment?: string | null;
};

/** Returns a rule in the syntax of ufw's manual page. */
const wordsOf = async (method: string, rule: Rule): Promise<string[]> => {
  const [app, port] = [orAny(rule.app), orAny(rule.to_port)];
  if (app && (port || rule.protocol))
    throw new SaltInvocationError('A rule for an app takes neither to_port nor protocol.');
  const to = app ? ['app', app] : port ? ['port', port] : [];
  return [
    method,
    ...(rule.interface ? ['in', 'on', rule.interface] : []),
    ...(rule.protocol ? ['proto', rule.protocol] : []),
    ...['from', await addressOf(rule.from_addr ?? 'any')],
    ...(rule.from_port ? ['port', String(rule.from_port)] : []),
    ...['to', rule.to_addr ?? 'any', ...to],
    ...(rule.comment ? ['comment', unquoted(rule.comment)] : []),
  ];
};

/** The formula quotes values for a shell; without a shell, the quotes have to be removed here. */
const unquoted = (text: string): string => text.replace(/^\s*(["'])(.*)\1\s*$/s, '$2');

/** `*` means any app or any port. */
const orAny = (wanted: string | number | null | undefined): string | undefined => {
  const text = unquoted(String(wanted ?? ''));
  return text === '' || text === '*' ? undefined : text;
};

/** ufw accepts only addresses, so a host name is resolved, like in the formula. */
const addressOf = async (from: string): Promise<string> =>
  from === 'any' || /^[0-9]|:/.test(from) ? from : (await lookup(from, { family: 4 })).address;

/**
 * Inserts a `deny` rule before all others, like the formula: after an `allow` it would have no
 * effect. If the rule exists with another action, ufw changes it in place instead of inserting it.
 */
const placed = async (words: string[]): Promise<string[]> => {
  if (words[0] !== 'deny') return words;
  const first = ['insert', '1', ...words];
  try {
    return (await salt('ufw.has_rule')(first)) ? words : first;
  } catch (error) {
    // In an empty list, a rule cannot be inserted at position 1.
    if (/Invalid position '1'/.test(messageOf(error))) return words;
    throw error;
  }
};

const ruled = async (name: string, method: string, rule: Rule): Promise<StateReturn> => {
  try {
    const wanted = await wordsOf(method, rule);
    if (await salt('ufw.has_rule')(wanted)) return unchanged(name, `${name} was already ${method}`);
    const words = await placed(wanted);
    const changes = { rule: { old: null, new: words.join(' ') } };
    if (__opts__.test) return would(name, `${name} would have been configured`, changes);
    await salt('ufw.add_rule')(words);
    return changed(name, `${name} has been configured`, changes);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

/**
 * Makes sure that a rule allows packets.
 *
 * @param name a name for this
 * @param app an application profile
 * @param interface the interface they come in on
 * @param from_port the port they come from
 * @param to_addr where they go to
 * @param to_port the port they go to, as `80` or `6000:6007`
 * @param comment a note beside the rule
 * @example
 * web:
 *   ufw.allow:
 *     - protocol: tcp
 *     - to_port: 80
 */
export const allow = async (name: string, rule: Rule = {}): Promise<StateReturn> =>
  ruled(name, 'allow', rule);

/** Alias of `ufw.allow`. */
export const allowed = allow;

/**
 * Makes sure that a rule drops packets. A new rule is inserted before all others.
 *
 * @param name a name for this
 * @example
 * telnet:
 *   ufw.deny:
 *     - protocol: tcp
 *     - to_port: 23
 */
export const deny = async (name: string, rule: Rule = {}): Promise<StateReturn> =>
  ruled(name, 'deny', rule);

/**
 * Makes sure that a rule rejects packets, with a response to the sender.
 *
 * @param name a name for this
 * @example
 * ident:
 *   ufw.reject:
 *     - protocol: tcp
 *     - to_port: 113
 */
export const reject = async (name: string, rule: Rule = {}): Promise<StateReturn> =>
  ruled(name, 'reject', rule);

/**
 * Makes sure that a rule allows connections, but limits how many one address may open in a short
 * time.
 *
 * @param name a name for this
 * @example
 * ssh:
 *   ufw.limit:
 *     - protocol: tcp
 *     - to_port: 22
 */
export const limit = async (name: string, rule: Rule = {}): Promise<StateReturn> =>
  ruled(name, 'limit', rule);
