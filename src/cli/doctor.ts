import { type DoctorStep, diagnose, type HostDiagnosis } from '../control/fleet/diagnose.ts';
import { prepareRun } from '../library/fleet-run.ts';
import { harmless } from '../output/text.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Opened } from './commands.ts';
import { exitCode, exitCodeOfKind, mostSevereCode } from './exit-code.ts';
import { certainties } from './list-targets.ts';
import { printText } from './print-text.ts';
import { print } from './standard-output.ts';
import { createAsk } from './terminal.ts';

/**
 * `doctor TARGET`: takes the steps of a run to each host and explains the first one that fails.
 *
 * @returns the exit code that a run on these hosts would have
 */
export const doctor = async (words: readonly string[], opened: Opened): Promise<number> => {
  const [target, ...more] = words;
  if (target === undefined || more.length > 0)
    throw new TsaltError('usage-words', 'doctor takes one target.', {
      hint: "For example: tsalt-ssh doctor web1, or tsalt-ssh doctor '*'",
    });
  const { out } = opened.given.options;
  if (out !== undefined && out !== 'json' && out !== 'txt' && out !== 'text')
    throw new TsaltError('usage-value', `doctor prints text or json, not '${String(out)}'.`);
  const found: HostDiagnosis[] = [];
  const isAborted = await examine(target, opened, diagnosis => {
    found.push(diagnosis);
    if (out !== 'json') print(diagnosisText(diagnosis));
  });
  const codes = found.map(({ failure }) =>
    failure === undefined ? exitCode.ok : exitCodeOfKind(failure.kind),
  );
  const code = isAborted ? exitCode.interrupted : mostSevereCode(new Set(codes));
  if (out !== 'json') return printText('', code);
  const json = Object.fromEntries(
    found
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
      .map(({ id, steps, failure }) => [
        id,
        {
          ok: failure === undefined,
          exit_code: failure === undefined ? exitCode.ok : exitCodeOfKind(failure.kind),
          steps,
        },
      ]),
  );
  return printText(`${JSON.stringify(json, undefined, 2)}\n`, code);
};

/**
 * Examines the hosts of a target. If grains or pillar decide, the hosts are asked first.
 *
 * @returns whether it was interrupted
 */
export const examine = async (
  target: string,
  opened: Opened,
  report: (diagnosis: HostDiagnosis) => void,
): Promise<boolean> => {
  const prepared = await prepareRun({
    ...opened,
    given: { ...opened.given, words: [target, 'test.ping'] },
    ask: createAsk(process, async () => () => undefined),
  });
  const stop = new AbortController();
  const interrupt = (): void => stop.abort();
  process.once('SIGINT', interrupt);
  try {
    // Hosts that cannot report grains or pillar may be the ones to examine.
    const found = await certainties(prepared, true);
    if (!stop.signal.aborted)
      await diagnose(prepared.request, [...found.keys()], report, stop.signal);
  } finally {
    process.off('SIGINT', interrupt);
  }
  return stop.signal.aborted;
};

const marks: Readonly<Record<DoctorStep['state'], string>> = {
  ok: 'ok',
  warning: 'look',
  failed: 'FAILED',
  skipped: '-',
};

/** Formats a diagnosis for a terminal. */
export const diagnosisText = ({ id, steps }: HostDiagnosis): string => {
  const failed = steps.find(({ state }) => state === 'failed');
  const verdict = failed === undefined ? 'works' : `${failed.name} failed`;
  const lines = steps.map(({ name, state, detail, hint }) => {
    const line = `  ${marks[state].padEnd(7)}${name.padEnd(11)}${detail}`;
    const more = (hint ?? '').split('\n').filter(text => text !== '');
    return [line, ...more.map(text => `${' '.repeat(20)}${text}`)].join('\n');
  });
  return harmless(`${id}: ${verdict}\n${lines.join('\n')}\n`);
};
