import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder, processStart } from '../../modules/_shared/commands/run-lock.ts';
import { which } from '../../modules/_shared/commands/which.ts';
import { readOr } from '../../modules/_shared/files/read-file.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { monotonic } from '../../protocol/monotonic.ts';
import type { RollbackParams, RollbackRequest, RollbackResult } from '../../protocol/rollback.ts';
import { artifactHead, artifactTail } from '../../protocol/stack.ts';
import { decide, folderOf, putFile, readOutcome, rollbackFile } from './folders.ts';

/** The run's side of the rollback. */
export type Rollback = {
  /** The last state has ended: the countdown begins. */
  readonly ended: () => void;
  /** The run was interrupted: its changes are rolled back at once. */
  readonly broken: () => void;
};

/** The files of a guarded run. */
export type RollbackFolder = {
  /** The workspace. */
  readonly dir: string;
  /** The artifact's hash: its file is in the workspace. */
  readonly sha: string;
};

/** Milliseconds for the start of a systemd unit, and for the watchdog's snapshot. */
const serviceWithin = 5000;
const startWithin = 20_000;
/** Milliseconds: a run that lost its link may take 335 s to end, then its watchdog rolls back. */
const revertWithin = 500_000;

/**
 * Starts the watchdog of a guarded run and waits until it has taken its snapshot.
 *
 * @throws TsaltError `guard-failed` if it does not start; nothing was changed then
 */
export const openRollback = async (
  params: RollbackParams,
  { dir, sha }: RollbackFolder,
): Promise<Rollback> => {
  const folder = folderOf(dir, params.id);
  const artifact = join(dir, `${sha}.js`);
  try {
    if (!existsSync(artifact)) throw new Error(`the workspace ${dir} does not hold the artifact`);
    mkdirSync(folder, { mode: 0o700 });
    const runtime = { pid: process.pid, begun: processStart(process.pid) ?? '' };
    putFile(join(folder, rollbackFile.job), JSON.stringify({ ...params, runtime }));
    const words = ['-e', starter, artifact, dir, folder];
    const isService = startService(params.id, words) && (await isReady(folder, serviceWithin));
    if (!isService && failureIn(folder) === undefined) startAlone(words);
    if (!(await isReady(folder, startWithin)))
      throw new Error(failureIn(folder) ?? 'its watchdog does not start');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new TsaltError('guard-failed', `The run cannot be guarded: ${messageOf(error)}.`, {
      kind: 'host',
      hint: 'Nothing was changed. Without --guard the states run unguarded.',
    });
  }
  const ended = (): void => putFile(join(folder, rollbackFile.ended), '');
  return {
    ended,
    broken: () => {
      ended();
      putFile(join(folder, rollbackFile.broken), '');
    },
  };
};

/** The Node program of the watchdog: it runs the same artifact as the run. */
const starter = [
  'var a = process.argv',
  'process.argv = [a[0], "tsalt-ssh guard"]',
  'var bytes = require("fs").readFileSync(a[1])',
  'var head = bytes.toString("utf8", 0, Number(bytes.toString("latin1", 2, 12)) || bytes.length)',
  `var code = ${JSON.stringify(artifactHead)} + head + ${JSON.stringify(artifactTail)}`,
  'var script = new (require("vm").Script)(code, { filename: a[1] })',
  'script.runInThisContext()(require, process, { dir: a[2], guard: a[3], file: a[1], bytes })',
].join(';');

/** Starts the watchdog as a systemd unit, since a process of the login session may end with it. */
const startService = (id: string, words: readonly string[]): boolean => {
  if (process.getuid?.() !== 0 || !existsSync('/run/systemd/system') || !which('systemd-run'))
    return false;
  const { HOME = '/root', PATH = '' } = process.env;
  const unit = [
    '--quiet',
    '--collect',
    `--unit=tsalt-guard-${id}`,
    '--service-type=exec',
    '--description=tsalt-ssh: takes a guarded run back unless it is confirmed',
    `--setenv=HOME=${HOME}`,
    `--setenv=PATH=${PATH}`,
  ];
  const argv = [
    ...unit,
    '--',
    process.execPath,
    ...words.map(word => word.replaceAll('$', '$$$$')),
  ];
  return spawnSync('systemd-run', argv, { stdio: 'ignore', timeout: 10_000 }).status === 0;
};

const startAlone = (words: readonly string[]): void => {
  const child = spawn(process.execPath, words, { detached: true, stdio: 'ignore', cwd: '/' });
  child.on('error', () => undefined);
  child.unref();
};

/** Waits until the watchdog is ready or has failed. @returns whether it is ready */
const isReady = async (folder: string, milliseconds: number): Promise<boolean> => {
  const isHeld = (): boolean => lockHolder(folder) !== undefined;
  await comes(() => isHeld() || failureIn(folder) !== undefined, milliseconds);
  return isHeld();
};

/** Returns why the watchdog has failed. */
const failureIn = (folder: string): string | undefined => readOr(join(folder, rollbackFile.failed));

const comes = async (isThere: () => boolean, milliseconds: number): Promise<boolean> => {
  const until = monotonic() + milliseconds;
  while (!isThere()) {
    if (monotonic() >= until) return false;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return true;
};

/**
 * Answers a control node that has logged in again. The changes are confirmed if it knows that the
 * run was complete (`keep`) and no rollback has begun; otherwise returns what was restored.
 *
 * @throws TsaltError `guard-unknown` if the host does not know this run
 */
export const answerRollback = async (
  dir: string,
  { id, keep }: RollbackRequest,
): Promise<RollbackResult> => {
  const folder = folderOf(dir, id);
  const has = (name: string): boolean => existsSync(join(folder, name));
  const isOpen = has(rollbackFile.ended) && !has(rollbackFile.broken) && lockHolder(folder);
  if (isOpen && keep && decide(folder)) return { confirmed: true, restored: [], problems: [] };
  if (isOpen) putFile(join(folder, rollbackFile.broken), '');
  await comes(() => readOutcome(folder) !== undefined || !lockHolder(folder), revertWithin);
  const outcome = readOutcome(folder);
  rmSync(folder, { recursive: true, force: true });
  if (outcome) return outcome;
  throw new TsaltError('guard-unknown', 'The watchdog of the guarded run is not there any more.', {
    kind: 'host',
    hint: 'It was killed, or the host was restarted: check what the states changed.',
  });
};
