import { type Plain, type PlainDict, SaltInvocationError } from '../api.ts';
import { pyStr } from './python-text.ts';
import { toList } from './values.ts';

/** Options that belong to the target and stand after `--jump`. */
const targetOptions = new Set(
  `add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set
  ecn-tcp-remove exist expevents gateway hash-init hashmode helper label local-node log-ip-options
  log-level log-prefix log-tcp-options log-tcp-sequence log-uid mask new nfmask nflog-group
  nflog-prefix nflog-range nflog-threshold nodst notrack on-ip on-port or-mark or-tos persistent
  queue-balance queue-bypass queue-num random reject-with restore restore-mark save-mark selctx
  set-class set-dscp set-dscp-class set-mark set-mss set-tos set-xmark strip-options timeout to
  to-destination to-ports to-source total-nodes tproxy-mark ttl-dec ttl-inc ttl-set type xor-mark
  xor-tos zone hl-dec hl-inc hl-set to-port set-mac prefix`
    .split(/\s+/)
    .filter(name => name !== ''),
);

/** Arguments of the state, not of the rule. */
const notRule = new Set([
  'table',
  'chain',
  'family',
  'save',
  'position',
  'rules',
  'name',
  'policy',
]);

/**
 * The words of a rule from Salt's arguments: `{protocol: tcp, dport: 22, jump: ACCEPT}`. A value
 * that begins with `!` or `not ` is negated.
 */
export const ruleWords = (given: PlainDict): string[] => {
  const rest = new Map(
    Object.entries(given).filter(
      ([key, value]) => !notRule.has(key) && !key.startsWith('__') && value !== undefined,
    ),
  );
  const words: string[] = [];
  const take = (...keys: string[]): Plain | undefined => {
    for (const key of keys)
      if (rest.has(key)) {
        const value = rest.get(key);
        rest.delete(key);
        return value;
      }
    return undefined;
  };
  const put = (flag: string, value: Plain | undefined): void => {
    if (value === undefined) return;
    const { isNegated, text } = readNegation(value);
    words.push(...(isNegated ? ['!'] : []), flag, ...(text === '' ? [] : [text]));
  };
  put('-i', take('if'));
  put('-o', take('of'));
  const protocol = take('protocol', 'proto');
  put('-p', protocol);
  const matches = toList(take('match'));
  for (const match of matches) words.push('-m', match);
  for (const set of toList(take('match-set'))) {
    const { isNegated, text } = readNegation(set);
    words.push('-m', 'set', ...(isNegated ? ['!'] : []), '--match-set', ...text.split(/\s+/));
  }
  const connstate = take('connstate');
  if (connstate !== undefined) {
    if (!matches.includes('state')) words.push('-m', 'state');
    put('--state', connstate);
  }
  put('--dport', take('dport'));
  put('--sport', take('sport'));
  const ports = (['dports', 'sports'] as const).flatMap(key => {
    const value = take(key);
    return value === undefined ? [] : [[key, value] as const];
  });
  if (ports.length > 0) {
    if (protocol === undefined)
      throw new SaltInvocationError('Error: protocol must be specified with dports and sports');
    if (!matches.includes('multiport')) words.push('-m', 'multiport');
    for (const [key, value] of ports) {
      const items = toList(value).map(item => readNegation(item));
      const isNegated = items.some(item => item.isNegated);
      words.push(...(isNegated ? ['!'] : []), `--${key}`, items.map(item => item.text).join(','));
    }
  }
  const comment = take('comment');
  if (comment !== undefined) {
    if (!matches.includes('comment')) words.push('-m', 'comment');
    words.push('--comment', pyStr(comment));
  }
  const target: string[] = [];
  const jump = take('jump', 'j');
  if (jump !== undefined) target.push('--jump', pyStr(jump));
  for (const [key, value] of rest)
    if (targetOptions.has(key))
      target.push(`--${key}`, ...(value === null || value === '' ? [] : [pyStr(value)]));
    else put(key.length === 1 ? `-${key}` : `--${key}`, value ?? '');
  return [...words, ...target];
};

const readNegation = (value: Plain): { isNegated: boolean; text: string } => {
  const text = value === null ? '' : pyStr(value);
  const match = /^(?:!|not\b)\s*(.*)$/.exec(text);
  return match ? { isNegated: true, text: match[1] ?? '' } : { isNegated: false, text };
};
