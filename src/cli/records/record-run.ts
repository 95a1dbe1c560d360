import type { Request } from '../../config/request.ts';
import { isOrchestration } from '../../control/fleet/orchestration-request.ts';
import { type HostOutcome, hostOutcome } from '../../output/host-outcome.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { Given } from '../../request/given.ts';
import { isUnwritable } from '../../trust/spare-cache.ts';
import type { Opened } from '../commands.ts';
import { mayBeSecret, rerunCommands } from '../rerun-command.ts';
import { writeRunRecord } from './run-record.ts';

/** Follows a run for its record. */
export type RunRecorder = {
  readonly begin: (request: Request) => void;
  readonly emit: (event: RunEvent) => void;
  /**
   * Writes the record. @returns the command that repeats the run on failed hosts; undefined if none
   * failed
   */
  readonly end: (exitCode: number) => Promise<string | undefined>;
};

/** @param planFile the plan that the run applies */
export const recordRun = ({ given, config }: Opened, planFile?: string): RunRecorder => {
  const began = new Date();
  const hosts: Record<string, HostOutcome> = {};
  let request: Request | undefined;
  let fun = '';
  const note = (id: string, outcome: HostOutcome): void => {
    Object.defineProperty(hosts, id, {
      value: outcome,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  };
  return {
    begin: made => {
      request = made;
    },
    emit: event => {
      if (event.type === 'start') {
        fun = event.fun;
        for (const id of event.hosts) note(id, 'skipped');
      }
      if (event.type === 'host') note(event.result.id, hostOutcome(event.result));
    },
    end: async exitCode => {
      if (!request || Object.keys(hosts).length === 0) return undefined;
      const { jid, test } = request.options;
      const kind =
        planFile !== undefined ? 'plan' : isOrchestration(request) ? 'orchestration' : 'call';
      const isWhole = !given.words.some(mayBeSecret);
      try {
        await writeRunRecord(config.cachedir, {
          jid,
          dir: config.dir,
          began: began.toISOString(),
          ended: new Date().toISOString(),
          fun,
          command: rerunCommands(planFile === undefined ? given : applying(given, planFile)).whole,
          ...(isWhole ? { call: { options: given.options, words: given.words } } : {}),
          kind,
          isTest: test === true || request.kwargs.get('test') === true,
          exitCode,
          hosts,
        });
      } catch (error) {
        // A cache that cannot be written is reported once, by the run itself.
        isUnwritable(config.cachedir, error);
        return undefined;
      }
      const isRepeatable = kind === 'call' && given.options['plan-out'] === undefined;
      return isRepeatable ? repeating(hosts, jid) : undefined;
    },
  };
};

/** Returns the command line that applies a plan, as the user wrote it. */
const applying = (given: Given, planFile: string): Given => {
  const { list: _, ...options } = given.options;
  return { ...given, options, words: ['apply', planFile] };
};

const repeating = (
  hosts: Readonly<Record<string, HostOutcome>>,
  jid: string,
): string | undefined => {
  const bad = (['failed', 'unreachable', 'skipped'] as const).filter(outcome =>
    Object.values(hosts).includes(outcome),
  );
  const count = Object.values(hosts).filter(outcome =>
    (bad as readonly HostOutcome[]).includes(outcome),
  ).length;
  if (count === 0 || Object.keys(hosts).length === 1) return undefined;
  const whom = count === 1 ? '1 host' : `${count} hosts`;
  return `To repeat it on the ${whom} that did not succeed: tsalt-ssh --rerun ${bad.join(',')}@${jid}\n`;
};
