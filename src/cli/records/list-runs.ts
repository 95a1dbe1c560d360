import { hostOutcomes } from '../../output/host-outcome.ts';
import { oneLine } from '../../output/text.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Opened } from '../commands.ts';
import { printText } from '../print-text.ts';
import { type RunRecord, readRunRecord, runRecords } from './run-record.ts';

/** `tsalt-ssh runs`: lists the runs of this project, the newest first. */
export const listRuns = async (
  words: readonly string[],
  { config, given }: Opened,
): Promise<number> => {
  if (words.length > 0)
    throw new TsaltError('usage-words', `'runs' takes no '${words[0]}'.`, {
      hint: 'tsalt-ssh runs, or tsalt-ssh runs show JID',
    });
  const records = runRecords(config.cachedir, config.dir);
  if (given.options.out === 'json') return printText(`${JSON.stringify(records, null, 4)}\n`);
  if (records.length === 0) return printText(`No run of ${config.dir} is recorded.\n`);
  return printText(records.map(record => `${summaryOf(record)}\n`).join(''));
};

/**
 * `tsalt-ssh runs show [JID]`: lists the hosts of a run by outcome; without JID, of the last run.
 *
 * @throws TsaltError `usage-words` for an unknown job id
 */
export const showRun = async (
  [jid]: readonly string[],
  { config, given }: Opened,
): Promise<number> => {
  const record =
    jid === undefined
      ? runRecords(config.cachedir, config.dir)[0]
      : readRunRecord(config.cachedir, jid);
  if (!record)
    throw new TsaltError(
      'usage-words',
      jid === undefined
        ? `No run of ${config.dir} is recorded.`
        : `There is no record of a run '${jid}'.`,
      { hint: 'tsalt-ssh runs lists the runs of this project.' },
    );
  if (given.options.out === 'json') return printText(`${JSON.stringify(record, null, 4)}\n`);
  const lines = hostOutcomes.flatMap(outcome => {
    const ids = Object.entries(record.hosts).flatMap(([id, one]) => (one === outcome ? [id] : []));
    return ids.length === 0 ? [] : [`  ${outcome.padEnd(12)}${ids.map(oneLine).join(', ')}`];
  });
  return printText([summaryOf(record), ...lines, ''].join('\n'));
};

const summaryOf = (record: RunRecord): string => {
  const { jid, began, ended, command, exitCode, hosts, isTest } = record;
  const seconds = Math.max(0, (Date.parse(ended) - Date.parse(began)) / 1000);
  const counts = hostOutcomes.flatMap(outcome => {
    const count = Object.values(hosts).filter(one => one === outcome).length;
    return count === 0 ? [] : [`${count} ${outcome}`];
  });
  const outcome = `${counts.join(', ')}${isTest ? ' (test)' : ''}`;
  return `${jid}  ${began.slice(0, 19)}Z  ${seconds.toFixed(1)} s  exit ${exitCode}  ${outcome}  ${oneLine(command)}`;
};
