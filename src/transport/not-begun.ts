import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { type Become, becomeProgram, becomeRefused } from './become.ts';
import { isAccountTrouble, isMissingProgram, isRefusal } from './refusal-messages.ts';
import type { Exit } from './transport.ts';
import { readable } from './unreachable.ts';

/**
 * Returns the error for a command that ended before its first message: because of sudo, the login
 * shell or the account.
 *
 * @param excerpt the host's output
 */
export const notBegun = (host: Host, become: Become, exit: Exit, excerpt: string): TsaltError => {
  const program = becomeProgram(host);
  if (program !== undefined) {
    if (exit.code === 1 && isRefusal(excerpt)) return becomeRefused(host, become, excerpt);
    if (exit.code === 127 && isMissingProgram(excerpt, program))
      return new TsaltError('become-missing', `${host.id}: there is no ${program} on the host.`, {
        kind: 'auth',
        excerpt,
        hint: `Install it, or name another way by become in the roster (sudo, su, doas), or log in as ${host.sudo_user ?? 'root'}.`,
      });
  }
  return new TsaltError(
    'bootstrap-ended',
    `${host.id}: the host ended the command ${showExit(exit)} before it answered.`,
    {
      kind: isAccountTrouble(excerpt) ? 'auth' : 'host',
      excerpt,
      hint:
        isAccountTrouble(excerpt) && !excerpt.includes('not available')
          ? 'Log in by hand once: the account itself needs attention.'
          : 'The user needs a login shell that runs commands, and /bin/sh.',
    },
  );
};

/** Formats how a command ended, for a sentence. */
export const showExit = ({ code, signal }: Exit): string =>
  signal
    ? `by ${readable(signal, 20)}`
    : code === null
      ? 'without a status'
      : `with status ${code}`;
