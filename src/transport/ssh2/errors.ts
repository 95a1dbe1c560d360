import { TsaltError } from '../../protocol/error.ts';
import { readable, unreachable } from '../unreachable.ts';

/** An error of ssh2; `level` names the part of ssh2 that reports it. */
export type Ssh2Error = Error & { level?: string };

/** The server ended the connection during an early login. */
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

/**
 * Returns the error of a connection that ended before the host was verified; `greeting` is the
 * host's first output.
 */
export const handshakeError = (where: string, error: Ssh2Error, greeting: string): TsaltError => {
  if (/no matching host key/i.test(error.message))
    return new TsaltError('ssh-algorithms', `${where}: no common host key algorithm.`, {
      kind: 'unreachable',
      excerpt: readable(error.message, 300),
      hint: 'Old servers have only ssh-rsa, whose SHA-1 signatures are refused. Update the server, or allow them with the ssh option HostKeyAlgorithms=+ssh-rsa. The system ssh may know more algorithms: --transport openssh.',
    });
  if (/no matching \S+ compression/i.test(error.message))
    return new TsaltError('ssh-algorithms', `${where}: the host takes compressed packets only.`, {
      kind: 'unreachable',
      hint: 'Allow them with the ssh option Compression=yes.',
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
  new TsaltError('connect-dropped', `${where} closes the connection before it identifies itself.`, {
    kind: 'unreachable',
    hint: 'Is it an SSH server, and does it take so many connections at once (MaxStartups)?',
  });

/**
 * Returns the error of a login that was cut.
 *
 * @param banner the host's output before: PAM reports there why it refuses logins
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

/** `silence`: seconds without a response after which ssh2 closes the connection. */
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
