import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { decodeError } from '../../control/apart/sent-error.ts';
import { eventOf } from '../../control/workers/messages.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Opened } from '../commands.ts';
import { exitCode } from '../exit-code.ts';
import { openOutput } from '../open-output.ts';
import { printText, withOutputErrors } from '../print-text.ts';
import {
  detachedRuns,
  isRunning,
  logFile,
  processOf,
  type RecordLine,
  readRecordLine,
  recordFile,
  runFolder,
} from './record.ts';

/** Milliseconds between two reads of a growing record. */
const glance = 100;

/**
 * Shows a detached run from its beginning and follows it to its end. Ctrl-C does not stop the run.
 *
 * @param words the job id; without it, lists detached runs
 * @returns the exit code of the run
 * @throws TsaltError `usage-attach`
 */
export const attachRun = async ([jid]: readonly string[], opened: Opened): Promise<number> => {
  const { config, given } = opened;
  const runs = detachedRuns(config.cachedir);
  if (jid === undefined) {
    const lines = runs.map(one => lineOf(config.cachedir, one));
    return printText(lines.join('') || `No detached run of ${config.dir} is recorded.\n`);
  }
  if (!runs.includes(jid))
    throw new TsaltError('usage-attach', `There is no detached run with the job id ${jid}.`, {
      hint: 'tsalt-ssh attach lists them.',
    });
  const folder = runFolder(config.cachedir, jid);
  const output = await openOutput({ given, config });
  const leave = (): void => {
    process.stderr.write(`The run goes on: tsalt-ssh attach ${jid}\n`);
    process.exit(exitCode.interrupted);
  };
  process.on('SIGINT', leave);
  let code: number | undefined;
  try {
    let failure: unknown;
    for await (const line of linesOf(folder)) {
      if (line.type === 'event') output.emit(eventOf(line));
      else if (line.type === 'error') failure = decodeError(line.fault);
      else code = line.code;
    }
    if (code === undefined) failure = lost(folder, jid);
    await (failure === undefined ? output.finish() : output.fail(failure));
  } finally {
    process.off('SIGINT', leave);
  }
  return withOutputErrors(code ?? exitCode.internal, await output.errors());
};

const lineOf = (cachedir: string, jid: string): string => {
  const folder = runFolder(cachedir, jid);
  const noted = processOf(folder);
  const state = isRunning(folder) ? `runs (process ${noted?.pid})` : 'ended';
  return `${jid}  ${state}  ${[noted?.target, noted?.fun].join(' ')}\n`;
};

const lost = (folder: string, jid: string): TsaltError => {
  const { pid } = processOf(folder) ?? {};
  const log = existsSync(logFile(folder)) ? readFileSync(logFile(folder), 'utf8').trim() : '';
  return new TsaltError(
    'detached-lost',
    `The detached run ${jid} ended without a result: process ${pid ?? '(not started)'} is gone.`,
    {
      kind: 'internal',
      hint: `The changes that the hosts made until then remain. ${log === '' ? 'Run it again.' : `Its last output: ${log.slice(-2000)}`}`,
    },
  );
};

/** Reads a record to its end, or until its process has ended. */
async function* linesOf(folder: string): AsyncGenerator<RecordLine> {
  const file = openSync(recordFile(folder), 'r');
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.alloc(64 * 1024);
  let rest = '';
  try {
    for (;;) {
      // Checked before reading, so that the last output is read as well.
      const goesOn = isRunning(folder);
      for (;;) {
        const size = readSync(file, buffer);
        if (size === 0) break;
        const lines = (rest + decoder.write(buffer.subarray(0, size))).split('\n');
        rest = lines.pop() ?? '';
        for (const text of lines) {
          const line = readRecordLine(text);
          yield line;
          if (line.type === 'exit') return;
        }
      }
      if (!goesOn) return;
      await new Promise(resolve => setTimeout(resolve, glance));
    }
  } finally {
    closeSync(file);
  }
}
