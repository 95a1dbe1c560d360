import { canResume } from '../../control/fleet/orchestration-record.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Given } from '../../request/given.ts';
import type { Opened } from '../commands.ts';
import { isAdHoc, targeting } from '../rerun-command.ts';
import { type RunRecord, readRunRecord, runRecords } from './run-record.ts';

const classes = ['failed', 'changed', 'unreachable', 'skipped'] as const;

/**
 * Converts `--rerun CLASS[,CLASS][@JID]` into the call of an earlier run, on some of its hosts. A
 * target and a function on the command line replace the recorded call.
 *
 * @throws TsaltError `usage-rerun`
 */
export const rerunGiven = ({ given, config }: Opened): Given => {
  const [text = '', jid] = String(given.options.rerun).split('@');
  const wanted = text.split(',').map(classOf);
  const record = recordOf(config, jid);
  if (record.kind === 'plan')
    throw new TsaltError('usage-rerun', `The run ${record.jid} applied a plan.`, {
      hint: 'A plan binds each host once. Make a new plan, or apply this one again: tsalt-ssh apply FILE',
    });
  const ids = Object.entries(record.hosts).flatMap(([id, outcome]) =>
    (wanted as readonly string[]).includes(outcome) ? [id] : [],
  );
  if (ids.length === 0)
    throw new TsaltError(
      'usage-rerun',
      `No host of the run ${record.jid} is ${wanted.join(' or ')}.`,
      { hint: `tsalt-ssh runs show ${record.jid} lists its hosts.` },
    );
  const { rerun: _, ...options } = given.options;
  if (record.kind === 'orchestration' && given.words.length > 0)
    throw new TsaltError('usage-rerun', `The run ${record.jid} was an orchestration.`, {
      hint: `It ran on this machine. Without a call, --rerun ${String(given.options.rerun)} runs its unfinished steps.`,
    });
  if (given.words.length > 0) return onHosts({ ...given, options }, ids);
  if (!record.call)
    throw new TsaltError(
      'usage-rerun',
      `The arguments of the run ${record.jid} were not recorded: they may be secrets.`,
      { hint: `Repeat the whole call: ${record.command} --rerun ${String(given.options.rerun)}` },
    );
  // The new run has its own job id; whether it goes on without the terminal is decided by its own options.
  const {
    jid: __,
    detach: ___,
    resume: ____,
    ...recorded
  } = record.call.options as Given['options'];
  const again = { ...given, options: { ...recorded, ...options }, words: record.call.words };
  if (recorded['plan-out'] !== undefined && options['plan-out'] === undefined)
    throw new TsaltError(
      'usage-rerun',
      `The run ${record.jid} wrote the plan ${String(recorded['plan-out'])}, which --rerun would replace by one of fewer hosts.`,
      { hint: `Name another file: --rerun ${String(given.options.rerun)} --plan-out FILE` },
    );
  return record.kind === 'orchestration' ? rest(again, record.jid, config) : onHosts(again, ids);
};

/** The steps of an orchestration that did not finish; all of them where none did. */
const rest = (given: Given, jid: string, { cachedir }: Opened['config']): Given =>
  canResume(cachedir, jid) ? { ...given, options: { ...given.options, resume: jid } } : given;

const classOf = (name: string): (typeof classes)[number] => {
  const found = classes.find(one => one === name);
  if (found) return found;
  const meant = closestMatch(name, classes);
  throw new TsaltError('usage-rerun', `--rerun takes ${classes.join(', ')}, not '${name}'.`, {
    hint:
      meant === undefined ? 'For example: tsalt-ssh --rerun failed' : `Did you mean '${meant}'?`,
  });
};

const recordOf = ({ cachedir, dir }: Opened['config'], jid: string | undefined): RunRecord => {
  const record = jid === undefined ? runRecords(cachedir, dir)[0] : readRunRecord(cachedir, jid);
  if (record) return record;
  throw new TsaltError(
    'usage-rerun',
    jid === undefined ? `No run of ${dir} is recorded.` : `There is no record of a run '${jid}'.`,
    { hint: 'tsalt-ssh runs lists the runs of this project.' },
  );
};

/** Limits a call to these hosts, in the order of the earlier run. */
const onHosts = (given: Given, ids: readonly string[]): Given => {
  if (isAdHoc(given)) return given;
  const options = Object.fromEntries(
    Object.entries(given.options).filter(([name]) => !targeting.has(name)),
  );
  const [, ...call] = given.words;
  return { ...given, options: { ...options, list: true }, words: [ids.join(','), ...call] };
};
