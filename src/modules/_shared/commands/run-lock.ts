import { join } from 'node:path';
import { removeRecorded } from '../files/temporary.ts';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from '../safe-fs/fs.ts';

/** The process that holds the run lock of a host: one state run at a time, as in Salt. */
export type LockHolder = {
  readonly pid: number;
  /** When that process began, in the kernel's own count: a pid alone may be somebody else's by now. */
  readonly begun: string;
  readonly fun: string;
  /** The job that it belongs to. */
  readonly job?: string;
  /** ISO time of the start of the run. */
  readonly since: string;
  /** Its control node has gone: the states that it still finishes. */
  readonly finishing?: string;
  /** This process is not the run, which was killed, but a command of it that still runs. */
  readonly orphan?: RunChild;
};

/** A command that a run of states waits for. */
export type RunChild = Pick<LockHolder, 'pid' | 'begun'> & {
  /** The function of its state. */
  readonly fun?: string;
  /** The id of its state. */
  readonly id?: string;
  /** The program's name, without arguments. */
  readonly program: string;
};

export type Lock = {
  readonly release: () => void;
  /** Adds to what others read about the holder. */
  readonly mark: (more: Pick<LockHolder, 'finishing'>) => void;
};

const lockName = 'run.lock';
const waiterPrefix = 'run.wait.';

/** Returns the file whose existence is the lock. */
export const lockPath = (dir: string): string => join(dir, lockName);

/** Returns the holder of the workspace's lock, unless it has died together with its commands. */
export const lockHolder = (dir: string): LockHolder | undefined =>
  stillHolding(dir, readHolder(lockPath(dir)));

/** Returns the file in which a run records its commands (`recordChildren`). */
export const childrenFile = (dir: string, pid = process.pid): string =>
  join(dir, `${lockName}.${pid}.children`);

/** Returns the file in which a run records its temporary files (`recordTemporary`). */
export const temporaryFile = (dir: string): string =>
  join(dir, `${lockName}.${process.pid}.temporary`);

const stillHolding = (dir: string, holder: LockHolder | undefined): LockHolder | undefined => {
  if (!holder || isAlive(holder)) return holder;
  const orphan = readChildren(childrenFile(dir, holder.pid)).find(isAlive);
  const { fun, since } = holder;
  return orphan && { pid: orphan.pid, begun: orphan.begun, fun, since, orphan };
};

/**
 * Takes the lock, or returns who has it. A lock whose process is gone (killed, host restarted) is
 * taken over as soon as the commands of that process have ended. The file appears whole or not at
 * all.
 */
export const takeLock = (dir: string, fun: string, job?: string): Lock | LockHolder => {
  const path = lockPath(dir);
  const own = describeSelf(fun, job);
  let draft: string | undefined;
  try {
    for (let attempt = 0; attempt < 20; attempt++) {
      // Runs that wait look often, so a lock that is held is only read.
      const seen = readLock(path);
      const holder = stillHolding(dir, seen?.holder);
      if (holder) return holder;
      draft ??= writeDraft(dir, own);
      if (seen) {
        dropStale(path, draft, seen.holder);
        sweep(dir, seen.holder?.pid);
      }
      if (tryLink(draft, path))
        return { release: () => release(path, own), mark: more => mark(path, own, more) };
    }
    throw new Error(`the lock ${path} cannot be taken: it keeps coming back`);
  } finally {
    if (draft !== undefined) remove(draft);
  }
};

const writeDraft = (dir: string, own: LockHolder): string => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const draft = join(dir, `${lockName}.${process.pid}.${draftNumber++}`);
  writeFileSync(draft, JSON.stringify(own), { mode: 0o600 });
  return draft;
};

let draftNumber = 0;

const describeSelf = (fun: string, job?: string): LockHolder => ({
  pid: process.pid,
  begun: processStart(process.pid) ?? '',
  fun,
  ...(job === undefined ? {} : { job }),
  since: new Date().toISOString(),
});

const tryLink = (from: string, to: string): boolean => {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

/** Moves a dead holder's lock away; should another process have taken it meanwhile, puts it back. */
const dropStale = (path: string, draft: string, seen: LockHolder | undefined): void => {
  const aside = `${draft}.stale`;
  try {
    renameSync(path, aside);
  } catch {
    return; // somebody else was faster
  }
  const moved = readHolder(aside);
  if (moved && isAlive(moved) && moved.pid !== seen?.pid) tryLink(aside, path);
  remove(aside);
};

/** Removes what killed processes left: temporary files, and files beside the lock. */
const sweep = (dir: string, dead: number | undefined): void => {
  for (const name of readdirSync(dir)) {
    const pid = Number(/^run\.lock\.(\d+)\./.exec(name)?.[1] ?? process.pid);
    if (pid === process.pid || (pid !== dead && isAlive({ pid, begun: '' }))) continue;
    // A command that still runs may need them.
    if (readChildren(childrenFile(dir, pid)).some(isAlive)) continue;
    const path = join(dir, name);
    if (name.endsWith('.temporary')) removeRecorded(path);
    remove(path);
  }
};

const release = (path: string, own: LockHolder): void => {
  const holder = readHolder(path);
  if (holder?.pid === own.pid && holder.begun === own.begun) remove(path);
};

const mark = (path: string, own: LockHolder, more: Pick<LockHolder, 'finishing'>): void => {
  const holder = readHolder(path);
  if (holder?.pid !== own.pid || holder.begun !== own.begun) return;
  const draft = `${path}.${process.pid}.${draftNumber++}`;
  writeFileSync(draft, JSON.stringify({ ...own, ...more }), { mode: 0o600 });
  renameSync(draft, path);
};

const remove = (path: string): void => {
  try {
    unlinkSync(path);
  } catch {
    // gone already
  }
};

const readHolder = (path: string): LockHolder | undefined => readLock(path)?.holder;

/**
 * Returns what a lock file says; without a holder if it is broken. Returns undefined if there is no
 * file: what takes its place a moment later belongs to a run that is alive.
 */
const readLock = (path: string): { readonly holder?: LockHolder } | undefined => {
  try {
    const data: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const { pid, begun, fun, job, since, finishing } = data as Record<string, unknown>;
    if (typeof pid !== 'number' || pid <= 0 || typeof begun !== 'string') return {};
    return {
      holder: {
        pid,
        begun,
        fun: String(fun),
        ...(typeof job === 'string' ? { job } : {}),
        since: String(since),
        ...(typeof finishing === 'string' ? { finishing } : {}),
      },
    };
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? undefined : {};
  }
};

const readChildren = (path: string): readonly RunChild[] => {
  try {
    return readFileSync(path, 'utf8').split('\n').flatMap(readChild);
  } catch {
    return [];
  }
};

/** Returns nothing for a line that was cut off. */
const readChild = (line: string): RunChild[] => {
  try {
    const { pid, begun, fun, id, program } = JSON.parse(line) as Record<string, unknown>;
    if (!Number.isSafeInteger(pid) || Number(pid) <= 0 || typeof begun !== 'string') return [];
    return [
      {
        pid: Number(pid),
        begun,
        ...(typeof fun === 'string' ? { fun } : {}),
        ...(typeof id === 'string' ? { id } : {}),
        program: String(program),
      },
    ];
  } catch {
    return [];
  }
};

/**
 * Whether a process runs that began then. One that has ended does not, even while its parent has
 * not asked for its status: there are containers in which nobody does.
 */
export const isAlive = ({ pid, begun }: Pick<LockHolder, 'pid' | 'begun'>): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const [state = '', now] = statOf(pid);
  if (state === 'Z' || state === 'X') return false;
  return now === undefined || begun === '' || now === begun;
};

/** Start time of a process: field 22 of /proc/PID/stat. Undefined where there is no /proc. */
export const processStart = (pid: number): string | undefined => statOf(pid)[1];

const statOf = (pid: number): [state?: string, begun?: string | undefined] => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return [fields[0] ?? '', fields[19]];
  } catch {
    return [];
  }
};

/** Registers this process as waiting; `others` counts those who wait already. */
export const joinQueue = (dir: string): { readonly others: number; readonly leave: () => void } => {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const own = `${waiterPrefix}${process.pid}`;
  const others = readdirSync(dir).filter(name => {
    if (!name.startsWith(waiterPrefix) || name === own) return false;
    const waiter = readHolder(join(dir, name));
    if (waiter && isAlive(waiter)) return true;
    remove(join(dir, name));
    return false;
  }).length;
  writeFileSync(join(dir, own), JSON.stringify(describeSelf('waiting')), { mode: 0o600 });
  return { others, leave: () => remove(join(dir, own)) };
};

/** The sentence for a run that is refused because of another. */
export const showHolder = ({ pid, fun, since, finishing, orphan }: LockHolder): string => {
  const start = since.replace('T', ' ').replace('Z', ' UTC');
  if (orphan)
    return `The function "${fun}" that was started at ${start} was killed, but its command ${showChild(orphan)} is still running as PID ${pid}`;
  return (
    `The function "${fun}" is running as PID ${pid} and was started at ${start}` +
    (finishing === undefined
      ? ''
      : `; its connection was lost, and it still finishes ${finishing || 'its state'}`)
  );
};

const showChild = ({ program, id, fun }: RunChild): string => {
  if (fun === undefined) return program;
  return id === undefined ? `${program} of a ${fun} state` : `${program} of ${id} (${fun})`;
};
