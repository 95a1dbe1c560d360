import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { countingProxy, interleave, median, type Row, tableOf } from './measure.ts';
import { type Bed, makeProject, timeFloor, timeTsalt, withBed } from './project.ts';

/** Long, so that a busy machine's own delays do not count as round trips. */
const rtt = 1000;
const many = 200;

/**
 * Measures the cost of a link: warm and cold `test.ping` against `ssh2` running an empty script, round
 * trips over a slow wire, and the control node's CPU and memory per host.
 */
export const benchTransport = (runs = 9): Promise<{ table: string; rows: readonly Row[] }> =>
  withBed(async bed => {
    const rows = [...(await near(bed, runs)), ...(await far(bed)), ...(await fleet(bed))];
    return { table: tableOf(rows), rows };
  });

const ping = ['web1', 'test.ping'];

/** The runtime of the run before may still be writing its code cache. */
const forget = ({ home }: Bed): void => removeFolder(join(home, '.cache'));

const near = async (bed: Bed, runs: number): Promise<Row[]> => {
  const script = join(bed.dir, 'empty.cjs');
  writeFileSync(script, '');
  const folder = makeProject(bed, 'near');
  const warm = (): Promise<number> => timeTsalt(bed, folder, ping);
  const cold = (): Promise<number> => {
    forget(bed);
    return warm();
  };
  for (let run = 0; run < 3; run += 1) await warm();
  const times = await interleave(runs, { floor: () => timeFloor(bed, script), cold, warm });
  const { floor = [] } = times;
  const names = { floor: 'ssh2, exec node -', warm: 'test.ping warm', cold: 'test.ping cold' };
  return Object.entries(names).map(([key, name]) => {
    const values = times[key] ?? [];
    return {
      name,
      'median ms': Math.round(median(values)),
      'min ms': Math.round(Math.min(...values)),
      // Pair by pair, so that a busy minute falls on both.
      'over floor ms': Math.round(median(values.map((value, at) => value - (floor[at] ?? 0)))),
    };
  });
};

/**
 * Round trips: how much longer a run takes when each way is delayed. The proxy takes the TCP
 * connection at once, so that its round trip is added.
 */
const far = async (bed: Bed): Promise<Row[]> => {
  const rows: Row[] = [];
  const slow = await countingProxy(bed.sshd.port, rtt / 2);
  const quick = await countingProxy(bed.sshd.port);
  try {
    const folders = {
      slow: makeProject(bed, 'slow', { port: slow.port }),
      quick: makeProject(bed, 'quick', { port: quick.port }),
    };
    for (const kind of ['warm', 'cold'] as const) {
      const timed = (folder: string) => (): Promise<number> => {
        if (kind === 'cold') forget(bed);
        return timeTsalt(bed, folder, ping);
      };
      for (const folder of Object.values(folders)) await timed(folder)();
      const times = await interleave(3, {
        slow: timed(folders.slow),
        quick: timed(folders.quick),
      });
      const slowed = Math.min(...(times.slow ?? []));
      const extra = slowed - Math.min(...(times.quick ?? []));
      rows.push({
        name: `test.ping ${kind}, ${rtt} ms RTT`,
        'median ms': Math.round(median(times.slow ?? [])),
        'min ms': Math.round(slowed),
        'round trips': (extra / rtt + 1).toFixed(1),
      });
    }
    return rows;
  } finally {
    await slow.close();
    await quick.close();
  }
};

/** Milliseconds; the most memory that the process held, and what it still uses at its end, in KB. */
type Usage = { readonly cpu: number; readonly rss: number; readonly held: number };

/** One sshd under many names; only the process on this side is counted. */
const fleet = async (bed: Bed): Promise<Row[]> => {
  const file = join(bed.dir, 'usage.json');
  const folder = makeProject(bed, 'fleet', { hosts: many });
  const usage = async (target: string, procs: number): Promise<Usage> => {
    const preload = ['--expose-gc', '--require', join(packageRoot, 'test/bench/usage.cjs')];
    const args = [target, 'test.ping', `--max-procs=${procs}`];
    await timeTsalt(bed, folder, args, preload, { USAGE_FILE: file });
    return JSON.parse(readFileSync(file, 'utf8')) as Usage;
  };
  for (let run = 0; run < 3; run += 1) await usage('web1', 1);
  const one = await usage('web1', 1);
  const all = await usage('*', 25);
  return [
    {
      name: `${many} hosts, 25 at a time`,
      'CPU ms/host': ((all.cpu - one.cpu) / (many - 1)).toFixed(1),
      'KB/host': Math.round((all.rss - one.rss) / (many - 1)),
      'held KB/host': Math.round((all.held - one.held) / (many - 1)),
    },
  ];
};
