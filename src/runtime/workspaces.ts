import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import {
  isAlive,
  type LockHolder,
  lockHolder,
  processStart,
} from '../modules/_shared/commands/run-lock.ts';
import { rollbackHolder } from './rollback/folders.ts';

/** Records which process a workspace with a random name belongs to. */
const ownerFile = 'owner.json';

/** Milliseconds after which a folder without an owner is a leftover of a killed upload. */
const quietUpload = 3_600_000;

/** Milliseconds after which a folder is a leftover if its owner ran on another system. */
const quietElsewhere = 86_400_000;

/** Marks a workspace with a random name as in use by this process. */
export const claimWorkspace = (dir: string): void => {
  const owner = { pid: process.pid, begun: processStart(process.pid) ?? '', system: system() };
  writeFileSync(join(dir, ownerFile), JSON.stringify(owner), { mode: 0o600 });
};

/** Identifies the system to which process ids belong: several systems may share a home. */
const system = (): string => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return '';
  }
};

/**
 * Removes workspaces with random names whose runs were killed, in the folder of the usual
 * workspaces.
 *
 * @param usual - The workspace without the random part of its name.
 */
export const sweepWorkspaces = (usual: string): void => {
  const uid = process.geteuid?.() ?? 0;
  const home = process.env.HOME || homedir();
  const places = [
    usual,
    join(home, '.cache/tsalt-ssh'),
    `/var/tmp/tsalt-ssh-${uid}`,
    `/tmp/tsalt-ssh-${uid}`,
  ];
  for (const place of new Set(places))
    for (const name of namesIn(dirname(place))) {
      const isRandom =
        name.startsWith(`${basename(place)}-`) &&
        /^[0-9a-f]{16}$/.test(name.slice(basename(place).length + 1));
      if (isRandom) sweep(join(dirname(place), name), uid);
    }
};

const namesIn = (dir: string): string[] => {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
};

const sweep = (dir: string, uid: number): void => {
  try {
    const { uid: owner, mode } = lstatSync(dir);
    const isDirectory = (mode & 0o170000) === 0o040000;
    if (isDirectory && owner === uid && isLeftover(dir)) rmSync(dir, { recursive: true });
  } catch {
    // Another run is removing it.
  }
};

const isLeftover = (dir: string): boolean => {
  const newest = Math.max(...[dir, ...namesIn(dir).map(name => join(dir, name))].map(timeOf));
  const quiet = Date.now() - newest;
  const owner = ownerOf(dir);
  if (!owner) return quiet > quietUpload;
  return owner.system === system() ? !isAlive(owner) : quiet > quietElsewhere;
};

const timeOf = (path: string): number => {
  try {
    return lstatSync(path).mtimeMs;
  } catch {
    return 0;
  }
};

type Owner = Pick<LockHolder, 'pid' | 'begun'> & { readonly system: string };

const ownerOf = (dir: string): Owner | undefined => {
  try {
    const { pid, begun, system } = JSON.parse(readFileSync(join(dir, ownerFile), 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0
      ? { pid, begun: String(begun), system: String(system) }
      : undefined;
  } catch {
    return undefined;
  }
};

/** Returns who else uses a workspace: another run of states, or a watchdog. */
export const workspaceHolder = (dir: string): LockHolder | undefined => {
  const holder = lockHolder(dir);
  return holder && holder.pid !== process.pid ? holder : rollbackHolder(dir);
};

/**
 * Makes the folder in which runs wait for each other, if it is not the workspace of this run.
 *
 * @returns a function that removes the folder if it is empty
 */
export const openLockFolder = (lockDir: string): (() => void) => {
  mkdirSync(lockDir, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(lockDir);
  if ((mode & 0o170000) !== 0o040000 || uid !== process.geteuid?.() || (mode & 0o022) !== 0)
    throw new Error(`the workspace ${lockDir} is not a folder that only its user can write`);
  return () => {
    try {
      rmdirSync(lockDir);
    } catch {
      // It is in use.
    }
  };
};
