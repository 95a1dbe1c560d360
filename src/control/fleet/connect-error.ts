import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';

/** The step at which a connection failed, and advice beyond the error itself. */
export type ConnectError = {
  readonly step: 'name' | 'connection' | 'host key' | 'login';
  readonly hint?: string;
};

/**
 * Finds the step at which connecting to a host failed.
 *
 * @param isVerified whether the host key was accepted
 */
export const connectError = (host: Host, error: unknown, isVerified: boolean): ConnectError => {
  const { host: name, port } = host;
  const { code, kind } =
    error instanceof TsaltError ? error : { code: '', kind: 'internal' as const };
  const cause = causeOf(error);
  if (kind === 'host-key') return { step: 'host key' };
  if (kind === 'auth' || isVerified) return { step: 'login' };
  if (cause === 'ENOTFOUND' || cause === 'EAI_AGAIN')
    return {
      step: 'name',
      hint: `This machine must know it: getent hosts ${name}. Check host of ${host.id} in the roster.`,
    };
  if (cause === 'ECONNREFUSED')
    return {
      step: 'connection',
      hint: `Nothing listens on port ${port} there. Check port in the roster, and sshd on the host: systemctl status ssh`,
    };
  if (code === 'connect-timeout' || cause === 'EHOSTUNREACH' || cause === 'ENETUNREACH')
    return {
      step: 'connection',
      hint: `The host is off, its address is wrong, or a firewall is between: nc -vz ${name} ${port}`,
    };
  return { step: 'connection' };
};

const causeOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : '';
};
