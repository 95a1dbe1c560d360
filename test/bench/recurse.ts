import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { median, type Row, tableOf } from './measure.ts';
import { type Bed, makeProject, withBed } from './project.ts';
import { cpuCells, type Taken, type TimedCommand, takenBy } from './taken.ts';

type RecurseOptions = {
  /** Numbers of files. */
  readonly sizes: readonly number[];
  readonly runs: number;
};

/**
 * `file.recurse` of many small files, new and unchanged, interleaved with `tar` through the OpenSSH
 * client to the same sshd. Each run is checked: the files are as wanted, and no file that was right
 * is written again.
 */
export const benchRecurse = ({ sizes, runs }: RecurseOptions) =>
  withBed(async bed => {
    const rows: Row[] = [];
    for (const size of sizes) rows.push(...(await measureSize(bed, size, runs)));
    return { table: tableOf(rows), rows };
  });

const measureSize = async (bed: Bed, size: number, runs: number): Promise<Row[]> => {
  const project = makeProject(bed, `recurse-${size}`);
  const source = join(project, 'states/tree');
  const target = join(bed.dir, 'target');
  makeTree(source, size);
  writeFileSync(
    join(project, 'states/many.sls'),
    `${target}:\n  file.recurse:\n    - source: salt://tree\n`,
  );
  const tar = tarCommand(bed, source, target);
  const recurse = recurseCommand(bed, project, 'state.apply', 'many');
  const taken: Record<'tar' | 'new' | 'unchanged', Taken[]> = { tar: [], new: [], unchanged: [] };
  // These make the caches and read the grains.
  for (let run = 0; run < 2; run += 1)
    await takenBy(bed, recurseCommand(bed, project, 'test.ping'));
  for (let run = 0; run < runs; run += 1) {
    settle(target);
    const byTar = await takenBy(bed, tar);
    settle(target);
    const whenNew = await takenBy(bed, recurse);
    checkSame(source, target);
    settle();
    const before = changeTimes(target);
    const unchanged = await takenBy(bed, recurse);
    if (changeTimes(target) !== before) throw new Error('A run without changes wrote files again.');
    taken.tar.push(byTar);
    taken.new.push(whenNew);
    taken.unchanged.push(unchanged);
  }
  removeFolder(target);
  removeFolder(project);
  return Object.entries(taken).map(([name, own]) => ({
    name: `${size} ${name}`,
    'median ms': Math.round(median(own.map(({ wall }) => wall))),
    'x tar': median(own.map(({ wall }, run) => wall / (taken.tar[run]?.wall ?? wall))).toFixed(2),
    ...cpuCells(own),
    'control µs/file': Math.round((median(own.map(({ control }) => control)) * 1000) / size),
  }));
};

const filesOfFolder = 100;

/** Files of 100 to 1,100 bytes, a hundred in a folder. */
const makeTree = (root: string, size: number): void => {
  for (let at = 0; at < size; at += 1) {
    const folder = join(root, `d${Math.floor(at / filesOfFolder)}`);
    if (at % filesOfFolder === 0) mkdirSync(folder, { recursive: true });
    const line = `value of file ${at} of a tree with ${size} files\n`;
    writeFileSync(join(folder, `file-${at}.conf`), line.repeat(3 + (at % 21)));
  }
};

const tarCommand = ({ dir, sshd }: Bed, source: string, target: string): TimedCommand => {
  const known = join(dir, 'known_hosts');
  writeFileSync(known, `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`);
  const options = `-F none -o BatchMode=yes -o UserKnownHostsFile=${known} -i ${sshd.key} -p ${sshd.port}`;
  const there = `mkdir -p ${target} && tar xf - -C ${target}`;
  const script = `tar cf - -C ${source} . | ssh ${options} ${sshd.user}@127.0.0.1 '${there}'`;
  return { argv: ['/bin/sh', '-c', script] };
};

const recurseCommand = (
  { dir }: Bed,
  project: string,
  ...call: readonly string[]
): TimedCommand => ({
  argv: [
    process.execPath,
    join(packageRoot, 'dist/tsalt-ssh.cjs'),
    ...['web1', ...call, '--out=quiet'],
  ],
  cwd: project,
  env: { XDG_CACHE_HOME: join(dir, 'xdg') },
});

/** Lets the disk finish what runs before have written, which the next one would wait for. */
const settle = (removed?: string): void => {
  if (removed !== undefined) removeFolder(removed);
  execFileSync('sync');
};

const checkSame = (source: string, target: string): void => {
  execFileSync('diff', ['-rq', source, target]);
};

const changeTimes = (root: string): string =>
  execFileSync('find', [root, '-type', 'f', '-printf', '%C@ %p\\n'], {
    encoding: 'utf8',
    maxBuffer: 1024 * 1024 * 1024,
  });
