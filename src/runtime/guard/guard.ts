import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder, processStart } from '../../modules/_shared/commands/run-lock.ts';
import { which } from '../../modules/_shared/commands/which.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { GuardAnswer, GuardEnd, GuardParams } from '../../protocol/guard.ts';
import { artifactHead } from '../../protocol/stack.ts';
import { decide, folderOf, guardFile, putFile, readOutcome } from './folders.ts';

/** A run's own end of its guard. */
export type Guard = {
  /** The last state has ended: the time runs. */
  readonly ended: () => void;
  /** The run was broken off: what it did is taken back at once. */
  readonly broken: () => void;
};

/** Where the guard works. */
export type GuardPlace = {
  /** The workspace. */
  readonly dir: string;
  /** The artifact's hash: its file is in the workspace. */
  readonly sha: string;
};

/** Milliseconds that a unit of systemd's may take to start, and a watchdog to look at everything. */
const serviceWithin = 5000;
const startWithin = 20_000;
/** Milliseconds: a run that lost its link may take 335 s to end, then its watchdog acts. */
const revertWithin = 500_000;

/**
 * Starts the watchdog of a guarded run and waits until it knows what to put back.
 *
 * @throws TsaltError `guard-failed` when it does not start: nothing was changed then
 */
export const openGuard = async (params: GuardParams, { dir, sha }: GuardPlace): Promise<Guard> => {
  const folder = folderOf(dir, params.id);
  const artifact = join(dir, `${sha}.js`);
  try {
    if (!existsSync(artifact)) throw new Error(`the workspace ${dir} does not hold the artifact`);
    mkdirSync(folder, { mode: 0o700 });
    const runtime = { pid: process.pid, begun: processStart(process.pid) ?? '' };
    putFile(join(folder, guardFile.job), JSON.stringify({ ...params, runtime }));
    const words = ['-e', starter, artifact, dir, folder];
    const isService = startService(params.id, words) && (await isReady(folder, serviceWithin));
    if (!isService) startAlone(words);
    if (!(await isReady(folder, startWithin))) throw new Error('its watchdog does not start');
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw new TsaltError('guard-failed', `The run cannot be guarded: ${messageOf(error)}.`, {
      kind: 'host',
      hint: 'Nothing was changed. Without --guard the states run unguarded.',
    });
  }
  const ended = (): void => putFile(join(folder, guardFile.ended), '');
  return {
    ended,
    broken: () => {
      ended();
      putFile(join(folder, guardFile.broken), '');
    },
  };
};

/** What Node runs as the watchdog: the same artifact as the run's. */
const starter = [
  'var a = process.argv',
  'process.argv = [a[0], "tsalt-ssh guard"]',
  `var text = ${JSON.stringify(artifactHead)} + require("fs").readFileSync(a[1], "utf8") + "\\n})"`,
  'var script = new (require("vm").Script)(text, { filename: a[1] })',
  'script.runInThisContext()(require, process, { dir: a[2], guard: a[3] })',
].join(';');

/** A process of the login's session may end with it; a unit of systemd's does not. */
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

const isReady = (folder: string, milliseconds: number): Promise<boolean> =>
  comes(() => lockHolder(folder) !== undefined, milliseconds);

const comes = async (isThere: () => boolean, milliseconds: number): Promise<boolean> => {
  const until = performance.now() + milliseconds;
  while (!isThere()) {
    if (performance.now() >= until) return false;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return true;
};

/**
 * Control has logged in anew. What the run changed stays, where control has heard of its end (`keep`)
 * and nothing is taken back yet; else what was put back.
 *
 * @throws TsaltError `guard-unknown` when the host knows nothing of such a run
 */
export const settleGuard = async (dir: string, { id, keep }: GuardEnd): Promise<GuardAnswer> => {
  const folder = folderOf(dir, id);
  const has = (name: string): boolean => existsSync(join(folder, name));
  const isOpen = has(guardFile.ended) && !has(guardFile.broken) && lockHolder(folder);
  if (isOpen && keep && decide(folder)) return { confirmed: true, restored: [], problems: [] };
  if (isOpen) putFile(join(folder, guardFile.broken), '');
  await comes(() => readOutcome(folder) !== undefined || !lockHolder(folder), revertWithin);
  const outcome = readOutcome(folder);
  rmSync(folder, { recursive: true, force: true });
  if (outcome) return outcome;
  throw new TsaltError('guard-unknown', 'The watchdog of the guarded run is not there any more.', {
    kind: 'host',
    hint: 'It was killed, or the host was restarted: look at what the states changed.',
  });
};
