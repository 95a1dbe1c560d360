import { readOr } from '../files/read-file.ts';
import { readdirSync } from '../safe-fs/fs.ts';
import { runCommand } from './run-command.ts';

/** A running process. */
export type Process = {
  readonly pid: number;
  readonly ppid: number;
  readonly name: string;
  readonly state: string;
  readonly command: string;
  readonly uid: number;
  /** Kilobytes in memory. */
  readonly rss: number;
};

/** The running processes, from /proc; from `ps` where there is none. */
export const listProcesses = async (): Promise<Process[]> => {
  let ids: string[];
  try {
    ids = readdirSync('/proc').filter(name => /^\d+$/.test(name));
  } catch {
    ids = [];
  }
  return ids.length > 0 ? ids.flatMap(id => readProcess(id) ?? []) : psProcesses();
};

const readProcess = (id: string): Process | undefined => {
  const status = readOr(`/proc/${id}/status`);
  if (status === undefined) return undefined;
  const value = (key: string): string =>
    new RegExp(`^${key}:\\s*(.*)$`, 'm').exec(status)?.[1]?.trim() ?? '';
  const command = (readOr(`/proc/${id}/cmdline`) ?? '').replaceAll('\0', ' ').trim();
  return {
    pid: Number(id),
    ppid: Number(value('PPid')),
    name: value('Name'),
    state: value('State').charAt(0),
    command: command === '' ? `[${value('Name')}]` : command,
    uid: Number(value('Uid').split(/\s+/)[0]),
    rss: Number.parseInt(value('VmRSS'), 10) || 0,
  };
};

const psProcesses = async (): Promise<Process[]> => {
  const { stdout } = await runCommand(['ps', '-axo', 'pid=,ppid=,uid=,rss=,state=,comm=,args='], {
    plainLocale: true,
    cwd: '/',
  });
  return stdout.split('\n').flatMap(line => {
    const [pid, ppid, uid, rss, state, name, ...args] = line.trim().split(/\s+/);
    if (!pid || !name) return [];
    return [
      {
        pid: Number(pid),
        ppid: Number(ppid),
        uid: Number(uid),
        rss: Number(rss),
        state: state?.charAt(0) ?? '',
        name: name.split('/').at(-1) ?? name,
        command: args.join(' '),
      },
    ];
  });
};

/** Whether a process has this text in its command line. This process and its parents do not count. */
export const hasProcess = async (text: string): Promise<boolean> => {
  const all = await listProcesses();
  const parents = new Set<number>();
  for (let pid: number | undefined = process.pid; pid; )
    if (parents.has(pid)) break;
    else {
      parents.add(pid);
      pid = all.find(one => one.pid === pid)?.ppid;
    }
  return all.some(one => !parents.has(one.pid) && one.command.includes(text));
};
