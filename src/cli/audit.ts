import type { Audit } from '../audit/audit.ts';
import { AuditCollector } from '../audit/collect.ts';
import { AuditHistory } from '../audit/history.ts';
import { auditJson, auditMarkdown, auditText } from '../audit/show.ts';
import type { Request } from '../config/request.ts';
import { nearest } from '../data/nearest.ts';
import { oneLine } from '../output/text.ts';
import { messageOf, showPlace, TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { unusedPillar } from '../validate/lint/unused-pillar.ts';
import type { Opened } from './commands.ts';
import { exitCode, gravest } from './exit-code.ts';
import { fileWriter } from './file-writer.ts';
import { rerunCommands } from './rerun-command.ts';
import { runCall } from './run-call.ts';
import { print } from './standard-output.ts';

const formats = { text: auditText, json: auditJson, markdown: auditMarkdown } as const;

/**
 * `audit [TARGET] [SLS …]`: compares hosts with their states, and the result with that of the last
 * audit. Nothing is changed.
 *
 * @returns the exit code: `wouldChange` where a host has drifted
 * @throws TsaltError `usage-out`, `usage-value`, `out-file`
 */
export const audit = async (words: readonly string[], opened: Opened): Promise<number> => {
  const { config, given } = opened;
  checkOptions(given);
  const format = formatOf(given);
  const file = given.options['out-file'];
  const write = typeof file === 'string' ? fileWriter(file, false, 'output') : print;
  const call = auditCall(words, given);
  const history = new AuditHistory(config.cachedir, config.dir, call.words.slice(1));
  const began = new Date().toISOString();
  const collector = new AuditCollector(began, history.read());
  for (const { message, at } of unusedPillar(config))
    collector.addFinding(`${message} (${showPlace(at)})`);
  let request: Request | undefined;
  const code = await runCall({ ...opened, given: call }, undefined, {
    isQuiet: true,
    follow: {
      begin: made => {
        request = made;
      },
      emit: collector.emit,
    },
  });
  if (!request) return code;
  const made = collector.audit(request.options.jid, new Date().toISOString());
  if (Object.keys(made.hosts).length === 0) return code;
  write(formats[format](made));
  if (format === 'text') process.stderr.write(correction(made, call));
  await keep(history, began, collector);
  return gravest(new Set([code, await writePrometheus(given, made)]));
};

/** Refuses options that would change hosts, or that an audit would not heed. */
const checkOptions = ({ options }: Given): void => {
  for (const name of ['ask', 'detach', 'rerun', 'orch', 'resume'] as const)
    if (options[name] !== undefined && options[name] !== false)
      throw new TsaltError('usage-value', `An audit takes no --${name}.`, {
        hint: 'It runs states in test mode, and shows what they would change.',
      });
};

const formatOf = ({ options }: Given): keyof typeof formats => {
  const { out = 'text' } = options;
  const found = Object.keys(formats).find(name => name === out);
  if (found !== undefined) return found as keyof typeof formats;
  const meant = nearest(String(out), Object.keys(formats));
  const listed = `It is shown as ${Object.keys(formats).join(', ')}; --report html=FILE,junit=FILE writes others beside it.`;
  throw new TsaltError('usage-out', `An audit has no format '${String(out)}'.`, {
    hint: meant === undefined ? listed : `Did you mean '${meant}'?`,
  });
};

/** The call that an audit makes: `state.apply` in test mode. */
const auditCall = ([target = '*', ...words]: readonly string[], given: Given): Given => {
  const { out: _, 'out-file': __, prometheus: ___, ...options } = given.options;
  const sls = words.filter(word => !word.includes('='));
  const others = words.filter(word => word.includes('='));
  return {
    ...given,
    options: { ...options, 'expect-no-changes': true },
    words: [
      ...(options.local === true ? [] : [target]),
      'state.apply',
      ...(sls.length > 0 ? [sls.join(',')] : []),
      ...others,
    ],
  };
};

/** The command that makes hosts as their states want them. */
const correction = ({ hosts }: Audit, call: Given): string => {
  const ids = Object.entries(hosts).flatMap(([id, { outcome }]) =>
    outcome === 'drifted' ? [id] : [],
  );
  if (ids.length === 0) return '';
  const { 'expect-no-changes': _, report: __, ...options } = call.options;
  return `To make them as wanted: ${oneLine(rerunCommands({ ...call, options }).only(ids))}\n`;
};

/** A cache that cannot be written must not hide the result. */
const keep = async (
  history: AuditHistory,
  began: string,
  { drift }: AuditCollector,
): Promise<void> => {
  try {
    await history.write(began, drift);
  } catch (error) {
    process.stderr.write(
      `The next audit cannot compare itself with this one: ${messageOf(error)}\n`,
    );
  }
};

const writePrometheus = async ({ options }: Given, made: Audit): Promise<number> => {
  if (typeof options.prometheus !== 'string') return exitCode.ok;
  const { auditMetrics, writeMetrics } = await import('../audit/prometheus.ts');
  try {
    await writeMetrics(options.prometheus, await auditMetrics(made));
    return exitCode.ok;
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return exitCode.report;
  }
};
