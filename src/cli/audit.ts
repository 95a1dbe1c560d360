import type { Audit } from '../audit/audit.ts';
import { AuditCollector } from '../audit/collect.ts';
import { AuditHistory } from '../audit/history.ts';
import { auditPage } from '../audit/page.ts';
import { auditJson, auditMarkdown, auditText } from '../audit/show.ts';
import type { Request } from '../config/request.ts';
import { closestMatch } from '../data/closest-match.ts';
import type { PageAbout } from '../output/html/about.ts';
import { createOutput } from '../output/output.ts';
import type { Output } from '../output/request.ts';
import { oneLine } from '../output/text.ts';
import { messageOf, showLocation, TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { unusedPillar } from '../validate/lint/unused-pillar.ts';
import type { Opened } from './commands.ts';
import { exitCode, mostSevereCode } from './exit-code.ts';
import { fileWriter } from './file-writer.ts';
import { outputOptions } from './open-output.ts';
import { rerunCommands } from './rerun-command.ts';
import { runCall } from './run-call.ts';
import { print } from './standard-output.ts';
import { writeMetrics } from './write-metrics.ts';

const texts = { text: auditText, json: auditJson, markdown: auditMarkdown } as const;
const formats = [...(Object.keys(texts) as (keyof typeof texts)[]), 'html'] as const;

/**
 * `audit [TARGET] [SLS …]`: compares hosts with their states, and the result with the last audit.
 * Nothing is changed.
 *
 * @returns the exit code: `wouldChange` if a host has drifted
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
    collector.addFinding(`${message} (${showLocation(at)})`);
  let request: Request | undefined;
  const made = (): Audit => collector.audit(request?.options.jid ?? '', new Date().toISOString());
  const about = (): PageAbout => auditPage(made(), correction(made(), call));
  const page = format === 'html' ? await htmlPage(opened, write, about) : undefined;
  const code = await runCall({ ...opened, given: call }, undefined, {
    isQuiet: true,
    about,
    follow: {
      begin: one => {
        request = one;
      },
      emit: event => {
        collector.emit(event);
        page?.emit(event);
      },
    },
  });
  if (!request) return code;
  const result = made();
  if (Object.keys(result.hosts).length === 0) return code;
  await page?.finish();
  if (format !== 'html') write(texts[format](result));
  const correcting = correction(result, call);
  if (format === 'text' && correcting !== undefined)
    process.stderr.write(`To correct the drift: ${correcting}\n`);
  await keep(history, began, collector);
  return mostSevereCode(new Set([code, await writePrometheus(given, result)]));
};

/** Refuses options that would change hosts, or that have no effect on an audit. */
const checkOptions = ({ options }: Given): void => {
  for (const name of ['ask', 'detach', 'rerun', 'orch', 'resume'] as const)
    if (options[name] !== undefined && options[name] !== false)
      throw new TsaltError('usage-value', `An audit takes no --${name}.`, {
        hint: 'It runs states in test mode, and shows what they would change.',
      });
};

const htmlPage = (
  { given, config }: Opened,
  write: (text: string) => void,
  about: () => PageAbout,
): Promise<Output> => {
  const { out: _, ...options } = outputOptions(given, config);
  return createOutput({
    options: { ...options, out: 'html', color: false, static: true },
    ...{ write, about, timeline: false, logLevel: 'quiet', complain: () => undefined },
  });
};

const formatOf = ({ options }: Given): (typeof formats)[number] => {
  const { out = 'text' } = options;
  const found = formats.find(name => name === out);
  if (found !== undefined) return found;
  const meant = closestMatch(String(out), formats);
  const listed = `It is shown as ${formats.join(', ')}; --report html=FILE,junit=FILE writes others beside it.`;
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
const correction = ({ hosts }: Audit, call: Given): string | undefined => {
  const ids = Object.entries(hosts).flatMap(([id, { outcome }]) =>
    outcome === 'drifted' ? [id] : [],
  );
  if (ids.length === 0) return undefined;
  const { 'expect-no-changes': _, report: __, ...options } = call.options;
  return oneLine(rerunCommands({ ...call, options }).only(ids));
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
  const { auditMetrics } = await import('../audit/prometheus.ts');
  try {
    await writeMetrics(options.prometheus, await auditMetrics(made));
    return exitCode.ok;
  } catch (error) {
    process.stderr.write(`${messageOf(error)}\n`);
    return exitCode.report;
  }
};
