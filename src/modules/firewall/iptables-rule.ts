import { internalKeywords } from '../../protocol/state-keywords.ts';
import { toList } from '../_shared/states/values.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';

/** Options of the target, which follow `--jump` in the given order. */
const targetOptions = `j jump
  add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set
  ecn-tcp-remove exist expevents gateway hash-init hashmode helper label local-node log-ip-options
  log-level log-prefix log-tcp-options log-tcp-sequence log-uid mask new nfmask nflog-group
  nflog-prefix nflog-range nflog-threshold nodst notrack on-ip on-port or-mark or-tos persistent
  queue-balance queue-bypass queue-num random rateest-ewmalog rateest-interval rateest-name
  reject-with restore restore-mark save-mark selctx set-class set-dscp set-dscp-class set-mark
  set-mss set-tos set-xmark strip-options timeout to to-destination to-ports to-source total-nodes
  tproxy-mark ttl-dec ttl-inc ttl-set type ulog-cprange ulog-nlgroup ulog-prefix ulog-qthreshold
  xor-mark xor-tos zone dst-pfx hl-dec hl-inc hl-set hmark-dport-mask hmark-dst-prefix hmark-mod
  hmark-offset hmark-proto-mask hmark-rnd hmark-spi-mask hmark-sport-mask hmark-src-prefix
  hmark-tuple led-always-blink led-delay led-trigger-id queue-cpu-fanout src-pfx to-port addr
  and-mask delude honeypot or-mask prefix reset reuse set-mac shift static tarpit tname ttl`
  .split(/\s+/)
  .filter(name => name !== '');

/** Arguments of the state, not of the rule. */
const notRule = new Set(['chain', 'name', 'rules', 'save', 'state', 'table']);

/** Extensions with a `--name`, which Salt calls `name_`. */
const named = ['pknock', 'quota2', 'recent'];

/**
 * Converts Salt's arguments to the text of a rule, in Salt's form: `{protocol: tcp, dport: 22, jump:
 * ACCEPT}` becomes `-p tcp --dport 22 --jump ACCEPT`. A value that begins with `!` or `not` is
 * negated.
 */
export const ruleText = (given: PlainDict): string => {
  const rest = new Map(
    Object.entries(given).filter(
      ([key, value]) => !notRule.has(key) && !internalKeywords.has(key) && value !== undefined,
    ),
  );
  const take = (key: string): Plain | undefined => {
    const value = rest.get(key);
    rest.delete(key);
    return value;
  };
  const parts: string[] = [];
  const put = (flag: string, value: Plain | undefined): void => {
    if (value === undefined) return;
    const { isNegated, text } = readNegation(value);
    parts.push(`${isNegated ? '! ' : ''}${flag}${text === '' ? '' : ` ${text}`}`);
  };
  const once = (part: string): void => {
    if (!parts.includes(part)) parts.push(part);
  };

  const target = take('target');
  if (target !== undefined) rest.set('jump', target);
  put('-i', take('if'));
  put('-o', take('of'));
  const isPolicy = plainStr(rest.get('match') ?? '') === 'policy';
  const protocol = isPolicy ? take('protocol') : (take('proto') ?? take('protocol'));
  rest.delete('protocol');
  put('-p', protocol);
  for (const match of toList(take('match'))) {
    parts.push(`-m ${match}`);
    if (named.includes(match)) put('--name', take('name_'));
  }
  if (isPolicy) put('--proto', take('proto'));
  for (const set of listOf(take('match-set'))) {
    const { isNegated, text } = readNegation(set);
    parts.push(`-m set ${isNegated ? '! ' : ''}--match-set ${text}`);
  }
  const connstate = take('connstate');
  if (connstate !== undefined) {
    once('-m state');
    put('--state', Array.isArray(connstate) ? toList(connstate).join(',') : connstate);
  }
  put('--dport', take('dport'));
  put('--sport', take('sport'));
  for (const key of ['dports', 'sports']) {
    const ports = take(key);
    if (ports === undefined) continue;
    if (protocol === undefined)
      throw new SaltInvocationError('Error: protocol must be specified with dports and sports');
    once('-m multiport');
    const items = listOf(ports).map(readNegation);
    if (items.some(({ isNegated }) => isNegated)) parts.push('!');
    parts.push(`--${key} ${items.map(({ text }) => text).join(',')}`);
  }
  const comment = take('comment');
  if (comment !== undefined) {
    once('-m comment');
    parts.push(`--comment ${quoted(plainStr(comment))}`);
  }
  // Without a value, it is the option of the extension `recent`.
  if (rest.get('set')) put('--match-set', take('set'));
  const after = targetOptions.flatMap(key => {
    if (!rest.has(key)) return [];
    const value = take(key);
    if (value === null || value === '') return [`--${key}`];
    const text = plainStr(value);
    return [`--${key} ${/[\s"'\\]/.test(text) ? quoted(text) : text}`];
  });
  for (const [key, value] of rest) put(key.length === 1 ? `-${key}` : `--${key}`, value ?? '');
  return [...parts, ...after].join(' ');
};

const listOf = (value: Plain | undefined): Plain[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value];

/** Quotes any text in double quotes. */
const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

const readNegation = (value: Plain): { isNegated: boolean; text: string } => {
  const text = value === null ? '' : plainStr(value);
  if (!/^(?:!|not(?![a-z]))/.test(text)) return { isNegated: false, text };
  // The negation applies to the whole list: `!22,!80` means the same as `!22,80`.
  return { isNegated: true, text: text.replace(/(^|,)\s*(?:(?:!|not(?![a-z]))\s*)+/g, '$1') };
};
