import { readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainDict } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';

const fileName = 'lost-run.json';

/**
 * Stores the outcome of a run that lost its control node, for the next run to report: results only,
 * since comments and changes may hold secrets that must not be on a disk.
 */
export const keepLostRun = (
  dir: string,
  fun: string,
  results: StateResults,
  onError: (message: string) => void,
): void => {
  const path = join(dir, fileName);
  const draft = `${path}.${process.pid}`;
  const states = Object.entries(results).map(([tag, { result }]) => ({ tag, result }));
  try {
    const text = JSON.stringify({ fun, ended: new Date().toISOString(), states });
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    onError(`The results could not be kept in ${path}: ${String(error)}`);
  }
};

/** Reports, once, the outcome of the previous run if it lost its link. */
export const takeLostRun = (dir: string, say: (message: string) => void): void => {
  const path = join(dir, fileName);
  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    unlinkSync(path);
    if (!isPlainDict(data) || !Array.isArray(data.states)) return;
    const failed = data.states.filter(state => isPlainDict(state) && state.result === false);
    const last = data.states.at(-1);
    say(
      `The connection was lost during an earlier ${data.fun}; on the host it went on until ${data.ended}: ` +
        `${data.states.length} states ran, ${failed.length} failed` +
        (isPlainDict(last) ? `, the last one was ${last.tag} (${last.result}).` : '.'),
    );
  } catch {
    // There is no record.
  }
};
