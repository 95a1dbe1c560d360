import type { RequisiteGraph, RunEvent } from '../../protocol/event.ts';
import { parseExact, stringify } from '../../protocol/exact-json.ts';
import type { BoundRun, PlannedJob } from '../../protocol/plan.ts';
import type { SentTsaltError } from '../apart/jobs.ts';
import type { SentProject } from './sent-project.ts';
import type { SentHost, SentRequest } from './sent-request.ts';

/** The work of a worker on one host. */
export type WorkerTask =
  | { readonly do: 'one' | 'decide' }
  /**
   * Calls another function, and emits nothing. `args` and `kwargs` are packed. `asks`: for a template
   * of another host, over the connection of the host's run if it has one.
   */
  | {
      readonly do: 'check';
      readonly fun: string;
      readonly args: string;
      readonly kwargs: string;
      readonly asks?: 'early' | 'late';
    };

/** Messages to a worker. */
export type ToFleetWorker =
  | {
      readonly type: 'begin';
      readonly request: SentRequest;
      readonly hosts: number;
      /** The files of the project, for remote workers, which ask for the pillar. */
      readonly project?: SentProject;
    }
  | {
      readonly type: 'host';
      readonly id: number;
      readonly host: SentHost;
      readonly task: WorkerTask;
      /** The shell command of `-r`. */
      readonly raw?: string;
      /** The plan to apply. */
      readonly planned?: BoundRun | undefined;
      /** Grains or pillar decide whether the host is a target. */
      readonly isUndecided: boolean;
      /** This was decided before the run. */
      readonly isDecided: boolean;
    }
  /** The other hosts are ready, too: this one may be changed. */
  | { readonly type: 'go'; readonly id: number }
  | { readonly type: 'answer'; readonly id: number; readonly answer: WorkerResponse }
  | { readonly type: 'abort' }
  /** The run has ended. */
  | { readonly type: 'end' }
  | ToQueueWorker;

/** Messages to a worker behind a queue, which do not concern its process. */
export type ToQueueWorker =
  /** The worker may run the host with this number, or another worker does. */
  { readonly type: 'granted' | 'denied'; readonly id: number } | { readonly type: 'alive' };

/** Messages of a worker behind a queue. */
export type FromQueueWorker =
  | FromFleetWorker
  /** Has the job of the host with this number, and asks for the host. */
  | { readonly type: 'claim'; readonly id: number }
  /** Its version differs from that of the run. */
  | { readonly type: 'other-version'; readonly id: number; readonly version: string }
  /** Its process for this run has ended. */
  | { readonly type: 'lost'; readonly how: string }
  | { readonly type: 'alive' };

/** The response to a worker's question. */
export type WorkerResponse = { readonly value: unknown } | { readonly fault: SentTsaltError };

/** An event as it is sent between processes. */
export type SentEvent = {
  readonly type: 'event';
  readonly event: RunEvent;
  /** The results of the functions of a plan's event, which cannot be sent. */
  readonly requisites?: RequisiteGraph | undefined;
  readonly job?: PlannedJob | undefined;
};

/** Converts an event for sending: functions are replaced by their results. */
export const eventMessage = (event: RunEvent): SentEvent => {
  if (event.type !== 'plan') return { type: 'event', event };
  const { requisites, job, ...rest } = event;
  return { type: 'event', event: rest, requisites: requisites?.(), job: job?.() };
};

/** Restores the event that was sent. */
export const eventOf = ({ event, requisites, job }: SentEvent): RunEvent =>
  event.type === 'plan'
    ? {
        ...event,
        ...(requisites ? { requisites: () => requisites } : {}),
        ...(job ? { job: () => job } : {}),
      }
    : event;

/** Messages of a worker. `id` is the number of a host or of a question. */
export type FromFleetWorker =
  | SentEvent
  | { readonly type: 'gate'; readonly id: number; readonly step: 'connected' | 'ready' }
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly method: string;
      readonly params: readonly unknown[];
    }
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly fault: SentTsaltError };

/** Encodes a message. Keeps floats without a fraction and the order of keys. */
export const encodeMessage = (message: object): string => {
  const { text, marked } = stringify(message);
  return `${marked ? 'x' : 'j'}${text}`;
};

/** Decodes a message. Both processes are ours, so its form is not checked. */
export const decodeMessage = (text: string): unknown => {
  const json = text.slice(1);
  return text.startsWith('x') ? parseExact(json) : JSON.parse(json);
};
