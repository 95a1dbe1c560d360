import { homedir } from 'node:os';
import { processChannel } from './process-channel.ts';
import type { Transport, TransportOptions } from './transport.ts';

/** This machine as a host (`@local`): commands are children of this process. */
export const localTransport = ({ env = process.env }: TransportOptions): Transport => ({
  connect: async host => ({
    host,
    transport: 'local',
    exec: command =>
      processChannel('/bin/sh', ['-c', command], { cwd: env.HOME || homedir(), env }),
    foreground: command => ({
      program: env.SHELL || '/bin/sh',
      args: command === undefined ? ['-l'] : ['-c', command],
      env,
      cwd: env.HOME || homedir(),
    }),
    lost: () => undefined,
    close: () => undefined,
  }),
  close: () => undefined,
});
