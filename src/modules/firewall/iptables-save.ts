import { getOwn } from '../../protocol/plain.ts';
import { splitCommandArgs } from '../_shared/text/command-args.ts';

/** A rule as the long names of its options, each with all its values. */
type Rule = { [option: string]: string[] };
type Chain = {
  policy: string;
  'packet count': string;
  'byte count': string;
  rules: Rule[];
  rules_comment: { [comment: string]: Rule };
};
/** Chains by table. */
export type SavedRules = { [table: string]: { [chain: string]: Chain } };

const longNames: Readonly<Record<string, string>> = {
  '-A': 'append',
  '-p': 'protocol',
  '-s': 'source',
  '-d': 'destination',
  '-j': 'jump',
  '-g': 'goto',
  '-i': 'in-interface',
  '-o': 'out-interface',
  '-f': 'fragment',
  '-c': 'set-counters',
  '-m': 'match',
  '--sport': 'source_port',
  '--source-port': 'source_port',
  '--dport': 'destination_port',
  '--destination-port': 'destination_port',
  '--sports': 'source-ports',
  '--dports': 'destination-ports',
};

/** Parses the output of `iptables-save`. */
export const parseSavedRules = (text: string): SavedRules => {
  const tables: SavedRules = {};
  let chains: { [chain: string]: Chain } = {};
  for (const line of text.split('\n')) {
    if (line.startsWith('*')) {
      chains = {};
      tables[line.slice(1).trim()] = chains;
    } else if (line.startsWith(':')) {
      const match = /^:(\S+) (\S+)(?: \[(\d+):(\d+)\])?/.exec(line);
      if (!match) continue;
      const [, name = '', policy = '', packets = '0', bytes = '0'] = match;
      chains[name] = {
        policy,
        'packet count': packets,
        'byte count': bytes,
        rules: [],
        rules_comment: {},
      };
    } else if (line.startsWith('-A ')) {
      const { append = [], ...rule } = parseRule(splitCommandArgs(line));
      const chain = getOwn(chains, append[0] ?? '');
      chain?.rules.push(rule);
      const comment = rule.comment?.[0];
      if (chain && comment !== undefined) chain.rules_comment[comment] = rule;
    }
  }
  return tables;
};

/** Parses options with their values; `!` before an option is moved to its value. */
const parseRule = (words: readonly string[]): Rule => {
  const rule: Rule = {};
  for (let at = 0; at < words.length; at += 1) {
    const isNegated = words[at] === '!' && words[at + 1]?.startsWith('-');
    if (isNegated) at += 1;
    const option = words[at] ?? '';
    const values: string[] = isNegated ? ['!'] : [];
    while (at + 1 < words.length && !isOption(words, at + 1)) {
      at += 1;
      values.push(words[at] ?? '');
    }
    const name = getOwn(longNames, option) ?? option.replace(/^--?/, '');
    rule[name] = [...(rule[name] ?? []), values.join(' ')];
  }
  return rule;
};

const isOption = (words: readonly string[], at: number): boolean =>
  words[at]?.startsWith('-') === true ||
  (words[at] === '!' && words[at + 1]?.startsWith('-') === true);
