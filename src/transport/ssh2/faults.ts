import { TsaltError } from '../../protocol/error.ts';
import { readable, unreachable } from '../faults.ts';

/** What ssh2 reports; `level` tells which part of it does. */
export type Ssh2Error = Error & { level?: string };

/** The server ended the connection while an early login was under way. */
export class BrokenOff extends Error {
  readonly fault: TsaltError;
  constructor(fault: TsaltError) {
    super(fault.message);
    this.fault = fault;
  }
}

export const unknownAlgorithm = (where: string, error: unknown): TsaltError =>
  new TsaltError(
    'ssh-option',
    `${where}: transport ssh2 does not know an algorithm that ssh_options name.`,
    {
      excerpt: error instanceof Error ? readable(error.message, 300) : '',
      hint: 'Use --transport openssh, which hands it to ssh.',
      cause: error,
    },
  );

const isReset = (error: Error): boolean => 'code' in error && error.code === 'ECONNRESET';

/** Why there is no verified host yet; `greeting` is the first it said. */
export const handshakeFault = (where: string, error: Ssh2Error, greeting: string): TsaltError => {
  if (/no matching host key/i.test(error.message))
    return new TsaltError('ssh-algorithms', `${where}: no common host key algorithm.`, {
      kind: 'unreachable',
      excerpt: readable(error.message, 300),
      hint: 'Old servers have only ssh-rsa, whose SHA-1 signatures are refused. Update the server, or allow them with the ssh option HostKeyAlgorithms=+ssh-rsa. The system ssh may know more algorithms: --transport openssh.',
    });
  if (/no matching|Unsupported|algorithm/i.test(error.message))
    return new TsaltError('ssh-algorithms', `${where}: no common way to encrypt.`, {
      kind: 'unreachable',
      excerpt: readable(error.message, 300),
      hint: 'The system ssh may know more: --transport openssh.',
    });
  const isDropped = greeting === '' || /^(Exceeded MaxStartups|Not allowed at this)/.test(greeting);
  if (isDropped && (/lost before handshake/i.test(error.message) || isReset(error)))
    return dropped(where);
  if (error.level === 'client-socket') return unreachable(where, error);
  return new TsaltError('ssh-handshake', `${where} does not answer as an SSH server.`, {
    kind: 'unreachable',
    excerpt: readable(error.message, 300),
  });
};

export const dropped = (where: string): TsaltError =>
  new TsaltError('connect-dropped', `${where} closes the connection before it says who it is.`, {
    kind: 'unreachable',
    hint: 'Is it an SSH server, and does it take so many connections at once (MaxStartups)?',
  });

/**
 * The login was cut.
 *
 * @param banner what the host printed before: PAM reports there why it lets nobody in
 */
export const loginCut = (
  where: string,
  error: Ssh2Error,
  tried: boolean,
  banner: string,
): TsaltError =>
  new TsaltError('login-cut', `${where}: the host closed the connection during login.`, {
    kind: tried ? 'auth' : 'unreachable',
    excerpt: readable(banner) || readable(error.message, 300),
    hint:
      banner === ''
        ? "The reason is in the log of the host's sshd. A banner above 256 KB breaks sshd itself."
        : undefined,
  });

/** `silence`: seconds without any answer after which ssh2 gives up. */
export const connectionLost = (where: string, silence: number, error?: Ssh2Error): TsaltError =>
  new TsaltError(
    'connection-lost',
    error?.level === 'client-timeout'
      ? `${where}: the host has not answered for ${silence} s.`
      : `${where}: the connection was lost.`,
    { kind: 'unreachable', cause: error },
  );

export const channelRefused = (where: string, error: Error): TsaltError =>
  new TsaltError('channel-refused', `${where}: the host refused to run a command.`, {
    kind: 'host',
    excerpt: readable(error.message, 300),
    hint: "Look at the sshd options MaxSessions, ForceCommand and the user's login shell.",
  });
