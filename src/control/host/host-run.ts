import type { Phase } from '../../protocol/event.ts';
import type { Host, Secret } from '../../protocol/host.ts';
import type { Transport } from '../../transport/transport.ts';
import type { Shared } from '../facts/shared.ts';
import type { HostAttempt } from './attempt.ts';
import type { KeptRuntimes } from './kept-runtimes.ts';

/** One host's membership of a barrier. */
export type BarrierMember = {
  /** The host has answered; from now on it renders and compiles. */
  readonly connected: () => void;
  /** The host is ready to be changed. Resolves when the others are ready, too, or have ended. */
  readonly ready: () => Promise<void>;
  /** The host has ended, whatever the result. */
  readonly leave: () => void;
};

/** The parts of one host's run. */
export type HostRun = {
  readonly shared: Shared;
  readonly transport: Transport;
  readonly host: Host;
  /** Decides, once the grains are known, whether the host is a target. */
  readonly isTarget?: (attempt: HostAttempt) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly gate?: BarrierMember;
  /** The runtimes of a session: this run takes its host's, and returns it at the end. */
  readonly kept?: KeptRuntimes;
};

/** Reports the stage that the host has reached. */
export const phase = ({ shared, host }: HostRun, name: Phase, detail?: string): void =>
  shared.emit({
    type: 'phase',
    host: host.id,
    phase: name,
    ...(detail === undefined ? {} : { detail }),
  });

const sudoAnswers = new WeakMap<Host, Promise<Secret>>();

/** Asks for the sudo password once per run: after a restart of the host the user may be away. */
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
