import { isJumpChain } from '../address.ts';
import { splitRosterArgs } from '../split-args.ts';
import { readSshOption } from '../ssh-options.ts';

export type SshArguments = {
  readonly jump?: string;
  /** Options that are allowed in a roster; all others are ignored. */
  readonly options: readonly string[];
};

/** Interprets Ansible's ssh arguments: jump hosts and options. */
export const readSshArguments = (texts: readonly string[]): SshArguments => {
  const options: string[] = [];
  let jump: string | undefined;
  for (const text of texts) {
    const words = splitRosterArgs(text) ?? [];
    for (let at = 0; at < words.length; at += 1) {
      const [, letter = '', joined = ''] = /^-([Jo])(.*)$/s.exec(words[at] ?? '') ?? [];
      if (letter === '') continue;
      if (joined === '') at += 1;
      const value = joined === '' ? (words[at] ?? '') : joined;
      if (letter === 'J') jump ??= value;
      else {
        jump ??= jumpOf(value);
        const option = readSshOption(value);
        if ('value' in option) options.push(option.value);
      }
    }
  }
  const hops = jump?.split(',').map(hop => hop.trim());
  return { ...(hops && isJumpChain(hops.join(',')) ? { jump: hops.join(',') } : {}), options };
};

/** Reads `ProxyJump=bastion`, and the equivalent older `ProxyCommand`. */
const jumpOf = (option: string): string | undefined => {
  const [, name = '', value = ''] = /^(\w+)(?:\s*=\s*|\s+)(.*)$/s.exec(option) ?? [];
  if (/^proxyjump$/i.test(name)) return value;
  if (!/^proxycommand$/i.test(name)) return undefined;
  const words = splitRosterArgs(value) ?? [];
  if (!/(^|\/)ssh$/.test(words[0] ?? '')) return undefined;
  let host: string | undefined;
  let user: string | undefined;
  let port: string | undefined;
  let forwards = false;
  for (let at = 1; at < words.length; at += 1) {
    const [, letter = '', joined = ''] = /^-([a-zA-Z])(.*)$/s.exec(words[at] ?? '') ?? [];
    if (letter === '') host ??= words[at];
    else if (/[WlpioFJ]/.test(letter)) {
      const given = joined === '' ? words[++at] : joined;
      if (letter === 'W') forwards = given === '%h:%p' || given === '[%h]:%p';
      if (letter === 'l') user = given;
      if (letter === 'p') port = given;
    }
  }
  if (!forwards || host === undefined) return undefined;
  return `${user === undefined ? '' : `${user}@`}${host}${port === undefined ? '' : `:${port}`}`;
};
