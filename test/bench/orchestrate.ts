import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, median, type Row, tableOf } from './measure.ts';
import { type Bed, makeProject, timeTsalt, withBed } from './project.ts';

const groups = 5;
const hostsPerGroup = 10;
const runs = Number(process.env.TSALT_BENCH_RUNS ?? 7);

/** 50 hosts in 5 groups behind one sshd: an orchestration against one run per group. */
export const benchOrchestrate = (): Promise<{ table: string; rows: readonly Row[] }> =>
  withBed(async bed => {
    const folder = projectOf(bed);
    const orchestrated = (): Promise<number> => timeTsalt(bed, folder, ['--orch', 'site']);
    const oneByOne = async (): Promise<number> => {
      let sum = 0;
      for (let group = 1; group <= groups; group += 1)
        sum += await timeTsalt(bed, folder, [`g${group}-*`, 'state.apply', 'work']);
      return sum;
    };
    // The first run brings the runtime to each host.
    await oneByOne();
    const times = await interleave(runs, { orchestrated, oneByOne });
    const [one, other] = [median(times.orchestrated ?? []), median(times.oneByOne ?? [])];
    const pairs = (times.orchestrated ?? []).map((time, at) => time / (times.oneByOne?.[at] ?? 1));
    const rows: Row[] = [
      {
        name: 'one orchestration of 5 steps',
        'median ms': Math.round(one),
        ratio: median(pairs).toFixed(2),
      },
      { name: 'five runs of state.apply', 'median ms': Math.round(other), ratio: '1.00' },
    ];
    return { table: tableOf(rows), rows };
  });

const projectOf = (bed: Bed): string => {
  const { dir, sshd } = bed;
  const folder = makeProject(bed, 'orchestrate');
  const names = Array.from({ length: groups }, (_, group) =>
    Array.from({ length: hostsPerGroup }, (__, host) => `g${group + 1}-${host + 1}`),
  ).flat();
  const entry = `host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}, timeout: 120`;
  writeFileSync(
    join(folder, 'roster.yaml'),
    names.map(id => `${id}: {${entry}, thin_dir: ${dir}/hosts/${id}}\n`).join(''),
  );
  writeFileSync(
    join(folder, 'states/work.sls'),
    Array.from(
      { length: 20 },
      (_, at) =>
        `${dir}/out/file${at}:\n  file.managed:\n    - makedirs: true\n    - contents: text ${at}\n`,
    ).join(''),
  );
  const steps = Array.from({ length: groups }, (_, group) => {
    const before = group === 0 ? '' : `    - require: [{salt: group ${group}}]\n`;
    return `group ${group + 1}:\n  salt.state:\n    - tgt: 'g${group + 1}-*'\n    - sls: work\n${before}`;
  });
  writeFileSync(join(folder, 'states/site.sls'), steps.join(''));
  return folder;
};
