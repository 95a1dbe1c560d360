import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { type Hello, protocolVersion } from '../protocol/job.ts';
import { isPlainDict } from '../protocol/plain.ts';
import type { LoaderLine } from './handshake-messages.ts';
import type { Platform } from './node-source.ts';
import { readable } from './unreachable.ts';

/**
 * @param isLazy grains may be missing
 * @throws {TsaltError} `wire-version`
 */
export const checkHello = (host: Host, hello: Hello, isLazy: boolean): void => {
  const hasGrains = (): boolean => isPlainDict(hello.grains) || (isLazy && hello.grains === null);
  if (!isPlainDict(hello) || hello.protocol !== protocolVersion || !hasGrains())
    throw new TsaltError('wire-version', `${host.id}: the runtime speaks another protocol.`, {
      kind: 'host',
    });
};

export const loaderError = (host: Host, value: LoaderLine): TsaltError =>
  new TsaltError(
    readable(String(value.error), 40),
    `${host.id}: ${readable(String(value.message), 500)}`,
    { kind: 'host' },
  );

export const uselessNode = (host: Host, { have }: Platform): TsaltError =>
  new TsaltError('node-useless', `${host.id}: the Node that was brought is not found there.`, {
    kind: 'host',
    hint: host.node_bin
      ? `node_bin is ${host.node_bin}${have ? `, which is Node ${have}` : ''}; it needs Node 18 or later.`
      : 'Set node_bin in the roster to a Node 18 or later.',
  });

export const noHello = (host: Host, seconds: number): TsaltError =>
  new TsaltError('host-silent', `${host.id}: the runtime did not respond within ${seconds} s.`, {
    kind: 'unreachable',
  });

/** Returns the error of a runtime that was killed by a separate command on the host. */
export const runtimeStuck = (host: Host, seconds: number): TsaltError =>
  new TsaltError(
    'runtime-stuck',
    `${host.id}: the host answers, but its runtime did not for ${seconds} s and was ended.`,
    { kind: 'host' },
  );

export const linkLost = (host: Host, seconds: number): TsaltError =>
  new TsaltError('connection-lost', `${host.id}: the host has not answered for ${seconds} s.`, {
    kind: 'unreachable',
  });

export const tooLong = (host: Host, seconds: number): TsaltError =>
  new TsaltError('host-timeout', `${host.id}: not done within ${seconds} s.`, { kind: 'host' });
