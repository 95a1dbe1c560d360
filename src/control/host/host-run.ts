import type { Phase } from '../../protocol/event.ts';
import type { Host, Secret } from '../../protocol/host.ts';
import type { Transport } from '../../transport/transport.ts';
import type { Shared } from '../facts/shared.ts';
import type { HostAttempt } from './attempt.ts';
import type { KeptRuntimes } from './kept-runtimes.ts';

/** One host's part in a barrier. */
export type Gate = {
  /** It answered; from now on it renders and compiles. */
  readonly connected: () => void;
  /** It is ready to change something: resolves when the others are, too, or have ended. */
  readonly ready: () => Promise<void>;
  /** It has ended, whatever came of it. */
  readonly leave: () => void;
};

/** What one host's run is made of. */
export type HostRun = {
  readonly shared: Shared;
  readonly transport: Transport;
  readonly host: Host;
  /** Decides, once grains are there, whether the host is a target. */
  readonly isTarget?: (attempt: HostAttempt) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly gate?: Gate;
  /** The runtimes of a session: this run takes its host's, and leaves it there. */
  readonly kept?: KeptRuntimes;
};

/** Tells which stage the host has come to. */
export const phase = ({ shared, host }: HostRun, name: Phase, detail?: string): void =>
  shared.emit({
    type: 'phase',
    host: host.id,
    phase: name,
    ...(detail === undefined ? {} : { detail }),
  });

const sudoAnswers = new WeakMap<Host, Promise<Secret>>();

/** Asked once in a run: after a restart of the host nobody may sit there any more. */
export const askSudo =
  ({ host, shared }: HostRun) =>
  (): Promise<Secret> => {
    const answer =
      sudoAnswers.get(host) ??
      shared.request.ask({
        host: host.id,
        what: 'sudo-password',
        prompt: `[sudo] password for ${host.user}@${host.id}: `,
      });
    sudoAnswers.set(host, answer);
    return answer;
  };
