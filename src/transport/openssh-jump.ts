import { TsaltError } from '../protocol/error.ts';
import { readable } from './faults.ts';
import { posixQuote } from './shell.ts';

/**
 * The way through jump hosts as an option of `ssh`. For a `ProxyJump` ssh starts another ssh, to
 * which it passes no `-o` on: each hop is therefore a command of its own, held to the same rules.
 * @param options what every ssh of the way is told: `-F`, `-o` …
 * @throws {TsaltError} for what is no chain of hosts
 */
export const jumpOption = (chain: string, options: readonly string[]): string => {
  if (chain === 'none') return 'ProxyJump=none';
  if (!/^[A-Za-z0-9_.:@,[\]%-]+$/.test(chain) || /(?:^|[,@[])-/.test(chain)) throw noJump(chain);
  const command = chain.split(',').reduce((before, hop) => through(hop, before, options), '');
  return `ProxyCommand=${command}`;
};

/** ssh reads percent signs in its command; those of the words are doubled, so that they stay. */
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
  new TsaltError('proxy-jump', `"${readable(jump, 80)}" is no jump host.`, {
    hint: 'Write [user@]host[:port], several with commas between.',
  });
