import { TsaltError } from '../protocol/error.ts';
import { posixQuote } from './shell.ts';
import { readable } from './unreachable.ts';

/**
 * Returns the ssh option for jump hosts. For a `ProxyJump`, ssh starts another ssh without passing
 * on `-o`; therefore each hop is a command of its own, with the same rules.
 * @param options the options of every ssh on the way: `-F`, `-o` …
 * @throws {TsaltError} for a malformed chain of hosts
 */
export const jumpOption = (chain: string, options: readonly string[]): string => {
  if (chain === 'none') return 'ProxyJump=none';
  if (!/^[A-Za-z0-9_.:@,[\]%-]+$/.test(chain) || /(?:^|[,@[])-/.test(chain)) throw noJump(chain);
  const command = chain.split(',').reduce((before, hop) => through(hop, before, options), '');
  return `ProxyCommand=${command}`;
};

/** ssh expands percent signs in its command, so those of the arguments are doubled. */
const through = (hop: string, before: string, options: readonly string[]): string => {
  const [, user, bracketed, plain, port] =
    /^(?:(.+)@)?(?:\[([^\]]+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$/.exec(hop) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined) throw noJump(hop);
  const words = [
    'ssh',
    ...options,
    ...(before === '' ? [] : ['-o', `ProxyCommand=${before}`]),
    ...(user === undefined ? [] : ['-l', user]),
    ...(port === undefined ? [] : ['-p', port]),
  ];
  const quoted = (word: string): string => posixQuote(word).replaceAll('%', '%%');
  return `${words.map(quoted).join(' ')} -W '[%h]:%p' -- ${quoted(host)}`;
};

const noJump = (jump: string): TsaltError =>
  new TsaltError('proxy-jump', `"${readable(jump, 80)}" is not a jump host.`, {
    hint: 'Write [user@]host[:port], several with commas between.',
  });
