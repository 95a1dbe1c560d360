import { readOr } from '../../../_shared/files/read-file.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { salt } from '../../../_shared/states/call.ts';
import { notDone } from '../../../_shared/states/not-done.ts';
import {
  CommandExecutionError,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../../api.ts';
import { cpuinfo, diskusage, loadavg, meminfo, nproc, procs, uptime, version, w } from './host.ts';

const proc = (name: string): string => {
  try {
    return readFileSync(`/proc/${name}`, 'utf8');
  } catch (cause) {
    throw new CommandExecutionError(`This host has no /proc/${name}.`, { cause });
  }
};

const number = (text: string | undefined): number => Number(text ?? 0);

/**
 * Times of the processors and counts of interrupts, as /proc/stat has them.
 *
 * @example tsalt-ssh '*' status.cpustats
 */
export const cpustats = async (): Promise<PlainDict> => {
  const stats: PlainDict = {};
  for (const line of proc('stat').trim().split('\n')) {
    const [name = '', ...rest] = line.split(/\s+/);
    const [user, nice, system, idle, iowait, irq, softirq, steal] = rest.map(Number);
    if (name === 'cpu')
      stats[name] = {
        idle: idle ?? 0,
        iowait: iowait ?? 0,
        irq: irq ?? 0,
        nice: nice ?? 0,
        softirq: softirq ?? 0,
        steal: steal ?? 0,
        system: system ?? 0,
        user: user ?? 0,
      };
    else if (name === 'intr')
      stats[name] = { total: number(rest[0]), irqs: rest.slice(1).map(Number) };
    else if (name === 'softirq')
      stats[name] = { total: number(rest[0]), softirqs: rest.slice(1).map(Number) };
    else stats[name] = number(rest[0]);
  }
  return stats;
};

const diskFields = [
  'major',
  'minor',
  'device',
  'reads_issued',
  'reads_merged',
  'sectors_read',
  'ms_spent_reading',
  'writes_completed',
  'writes_merged',
  'sectors_written',
  'ms_spent_writing',
  'io_in_progress',
  'ms_spent_in_io',
  'weighted_ms_spent_in_io',
];

/**
 * Counts of what disks did, as /proc/diskstats has them; disks that did nothing are left out.
 *
 * @example tsalt-ssh '*' status.diskstats
 */
export const diskstats = async (): Promise<PlainDict> =>
  Object.fromEntries(
    proc('diskstats')
      .trim()
      .split('\n')
      .map(line => line.trim().split(/\s+/))
      .filter(words => words.slice(3).some(word => word !== '0'))
      .map(words => [
        words[2] ?? '',
        Object.fromEntries(
          diskFields.map((field, at) => [
            field,
            field === 'device' ? (words[at] ?? '') : number(words[at]),
          ]),
        ),
      ]),
  );

/**
 * Counts of the virtual memory, as /proc/vmstat has them.
 *
 * @example tsalt-ssh '*' status.vmstats
 */
export const vmstats = async (): Promise<PlainDict> =>
  Object.fromEntries(
    proc('vmstat')
      .trim()
      .split('\n')
      .map(line => line.split(/\s+/))
      .map(([name = '', value]) => [name, number(value)]),
  );

const netFields = ['bytes', 'packets', 'errs', 'drop', 'fifo', 'frame', 'compressed', 'multicast'];
const sentFields = ['bytes', 'packets', 'errs', 'drop', 'fifo', 'colls', 'carrier', 'compressed'];

/**
 * Counts of the network interfaces, as /proc/net/dev has them.
 *
 * @example tsalt-ssh '*' status.netdev
 */
export const netdev = async (): Promise<PlainDict> =>
  Object.fromEntries(
    proc('net/dev')
      .trim()
      .split('\n')
      .slice(2)
      .map(line => {
        const [name = '', counts = ''] = line.split(':');
        const values = counts.trim().split(/\s+/).map(Number);
        return [
          name.trim(),
          Object.fromEntries([
            ['iface', name.trim()],
            ...netFields.map((field, at) => [`rx_${field}`, values[at] ?? 0]),
            ...sentFields.map((field, at) => [`tx_${field}`, values[at + 8] ?? 0]),
          ]),
        ];
      }),
  );

/**
 * Counts of the network protocols, as /proc/net/netstat has them.
 *
 * @example tsalt-ssh '*' status.netstats
 */
export const netstats = async (): Promise<PlainDict> => {
  const lines = proc('net/netstat').trim().split('\n');
  const stats: PlainDict = {};
  for (let at = 0; at + 1 < lines.length; at += 2) {
    const [kind = '', ...names] = (lines[at] ?? '').split(/\s+/);
    const values = (lines[at + 1] ?? '').split(/\s+/).slice(1);
    stats[kind.replace(/:$/, '')] = Object.fromEntries(
      names.map((name, index) => [name, number(values[index])]),
    );
  }
  return stats;
};

const all: Readonly<Record<string, () => Promise<Plain>>> = {
  cpuinfo,
  cpustats,
  diskstats,
  diskusage,
  loadavg,
  meminfo,
  netdev,
  netstats,
  nproc,
  procs,
  uptime,
  version,
  vmstats,
  w,
};

/**
 * Returns the results of all functions of this module, by function name.
 *
 * @example tsalt-ssh '*' status.all_status
 */
export const all_status = async (): Promise<PlainDict> => {
  const answers: PlainDict = {};
  for (const [name, ask] of Object.entries(all))
    if (readOr('/proc/stat') !== undefined || !name.endsWith('stats')) answers[name] = await ask();
  return answers;
};

/**
 * Returns selected parts of the results of this module.
 *
 * @param parts keys by function: `{loadavg: [1-min], cpustats: [cpu]}`; what is configured by
 *   `status.cpustats.custom: [cpu]` and the like when left out
 * @example tsalt-ssh '*' status.custom '{loadavg: [1-min]}'
 */
export const custom = async (parts: Record<string, string[]> | null = null): Promise<PlainDict> => {
  const chosen: PlainDict = {};
  for (const [name, keys] of Object.entries(parts ?? (await configured()))) {
    const ask = Object.hasOwn(all, name) ? all[name] : undefined;
    if (!ask) throw new SaltInvocationError(`There is no function status.${name}`);
    const answer = await ask();
    const found = typeof answer === 'object' && answer !== null ? (answer as PlainDict) : {};
    for (const key of keys)
      if (key === '*') Object.assign(chosen, found);
      else chosen[key] = key in found ? (found[key] ?? null) : 'UNKNOWN';
  }
  return chosen;
};

const configured = async (): Promise<Record<string, string[]>> => {
  const options: Record<string, string[]> = await salt('config.dot_vals')('status');
  return Object.fromEntries(
    Object.entries(options).map(([key, keys]) => [key.split('.')[1] ?? '', keys]),
  );
};

const noMaster = 'a host has no master that it is connected to';

/**
 * Not done here: a host has no master that it is connected to.
 *
 * @param master the master
 * @param connected whether it was connected before
 */
export const master = async (master: string | null = null, connected = true): Promise<never> =>
  notDone('status.master', noMaster, master, connected);

/**
 * Not done here: a host has no master that it is connected to.
 *
 * @param master the master
 */
export const ping_master = async (master: string): Promise<never> =>
  notDone('status.ping_master', noMaster, master);

/**
 * Not supported, because proxies do not exist here.
 *
 * @param proxy_name the proxy
 * @param opts its options
 */
export const proxy_reconnect = async (
  proxy_name: string,
  opts: PlainDict | null = null,
): Promise<never> => notDone('status.proxy_reconnect', 'there are no proxies', proxy_name, opts);
