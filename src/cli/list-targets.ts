import type { Request } from '../config/request.ts';
import { pickTargets } from '../control/fleet/targets.ts';
import { cachedGrains } from '../control/host/last-grains.ts';
import { loadFormat } from '../output/format.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { makeRequest } from '../request/request.ts';
import { targetType } from '../request/target.ts';
import type { Opened } from './commands.ts';
import { exitCode } from './exit-code.ts';
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
 * @returns the exit code: `noTarget` if no host matches
 * @throws TsaltError `usage-words`, `target-wrong`, `roster-…`
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
  const request = await targetRequest(target, opened);
  const found = await certainties(request, opened.given.options['ask-hosts'] === true);
  const text = await shown(found, opened);
  return printText(text, found.size === 0 ? exitCode.noTarget : exitCode.ok);
};

/** Makes a request for its target only: compound unless an option says otherwise. */
export const targetRequest = (target: string, opened: Opened): Promise<Request> => {
  const { options } = opened.given;
  const given = targetType(options) === 'glob' ? { ...options, compound: true } : options;
  return makeRequest({
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
  request: Request,
  asks: boolean,
): Promise<ReadonlyMap<Host, Certainty>> => {
  const { hosts, undecided, isTargetBy } = pickTargets(request);
  const asked = asks && undecided.size > 0 ? await askHosts(request) : undefined;
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
const askHosts = async (request: Request): Promise<ReadonlyMap<string, boolean>> => {
  const { runFleet } = await import('../control/fleet/run.ts');
  const answers = new Map<string, boolean>();
  const stop = new AbortController();
  await runFleet(
    request,
    event => {
      if (event.type === 'host') answers.set(event.result.id, event.result.failure === undefined);
    },
    stop.signal,
  ).catch((error: unknown) => {
    if (!(error instanceof TsaltError) || error.kind !== 'no-target') throw error;
  });
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
