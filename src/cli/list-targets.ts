import { noTarget } from '../control/fleet/no-target.ts';
import { pickTargets } from '../control/fleet/targets.ts';
import { cachedGrains } from '../control/host/last-grains.ts';
import { type PreparedRun, prepareRun } from '../library/fleet-run.ts';
import { loadFormat } from '../output/format.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { targetType } from '../request/target.ts';
import type { Opened } from './commands.ts';
import { outputOptions } from './open-output.ts';
import { printText } from './print-text.ts';
import { createAsk } from './terminal.ts';

/** How it is known that a host matches. */
type Certainty = 'certain' | 'last run' | 'asked' | 'unknown';

/**
 * `tsalt-ssh hosts EXPR`: lists the hosts of a target. The expression is a compound one unless an
 * option says otherwise. Without `--ask-hosts` no connection is made: grains come from the host's
 * last run.
 *
 * @returns the exit code
 * @throws TsaltError `usage-words`, `target-wrong`, `roster-…`, and `no-target` if no host matches
 */
export const listTargets = async (words: readonly string[], opened: Opened): Promise<number> => {
  const [target = '*', ...more] = words;
  if (more.length > 0)
    throw new TsaltError(
      'usage-words',
      `'hosts' takes one expression, not '${more.join(' ')}' too.`,
      {
        hint: 'Quote an expression that has spaces.',
      },
    );
  const prepared = await prepareTarget(target, opened);
  const found = await certainties(prepared, opened.given.options['ask-hosts'] === true);
  if (found.size === 0) throw noTarget(prepared.request);
  const text = await shown(found, opened);
  return printText(text);
};

/** Prepares a run for its target only: compound unless an option says otherwise. */
export const prepareTarget = (target: string, opened: Opened): Promise<PreparedRun> => {
  const { options } = opened.given;
  const given = targetType(options) === 'glob' ? { ...options, compound: true } : options;
  return prepareRun({
    ...opened,
    given: { ...opened.given, options: given },
    ask: createAsk(process, async () => () => undefined),
    call: { target, fun: 'test.ping', args: [], kwargs: new Map() },
  });
};

/**
 * Finds the hosts of a target, and how each match is known.
 *
 * @param asks whether to ask hosts whose grains or pillar decide
 */
export const certainties = async (
  prepared: PreparedRun,
  asks: boolean,
): Promise<ReadonlyMap<Host, Certainty>> => {
  const { request } = prepared;
  const { hosts, undecided, isTargetBy } = pickTargets(request);
  const asked = asks && undecided.size > 0 ? await askHosts(prepared) : undefined;
  const found = new Map<Host, Certainty>();
  for (const host of hosts) {
    if (!undecided.has(host)) found.set(host, 'certain');
    else if (asked) {
      if (asked.has(host.id)) found.set(host, asked.get(host.id) === true ? 'asked' : 'unknown');
    } else {
      const grains = cachedGrains(request.config, host);
      const answer = grains && isTargetBy(host, grains);
      if (answer !== false) found.set(host, answer === true ? 'last run' : 'unknown');
    }
  }
  return found;
};

/** Asks all hosts that may match. @returns whether each target answered, by id */
const askHosts = async (prepared: PreparedRun): Promise<ReadonlyMap<string, boolean>> => {
  const answers = new Map<string, boolean>();
  try {
    for await (const event of prepared.start())
      if (event.type === 'host') answers.set(event.result.id, event.result.failure === undefined);
  } catch (error) {
    if (!(error instanceof TsaltError) || error.kind !== 'no-target') throw error;
  }
  return answers;
};

const remarks: Readonly<Record<Certainty, string>> = {
  certain: '',
  asked: '',
  'last run': 'by the grains of its last run',
  unknown: 'not known: its grains or its pillar decide (--ask-hosts asks it)',
};

const shown = async (
  found: ReadonlyMap<Host, Certainty>,
  { given, config }: Opened,
): Promise<string> => {
  const options = outputOptions(given, config);
  const { out = 'txt' } = options;
  if (!['highstate', 'nested', 'txt'].includes(out)) {
    const { format } = await loadFormat(out === 'ndjson' ? 'json' : out);
    const results = [...found].map(([{ id }, value]) => ({ id, fun: 'hosts', value, retcode: 0 }));
    return `${format(results, { ...options, static: true }).trimEnd()}\n`;
  }
  const isVerbose = given.options.verbose === true;
  const width = Math.max(0, ...[...found.keys()].map(({ id }) => id.length));
  const lines = [...found].map(([{ id, user, host, port }, certainty]) => {
    const address = isVerbose ? `${user}@${host}:${port}` : '';
    return [id.padEnd(width), address, remarks[certainty]].filter(Boolean).join('  ').trimEnd();
  });
  return lines.map(line => `${line}\n`).join('');
};
