import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import type { CliResult } from './cli.ts';
import type { Project } from './project.ts';

/** Counts of what the runtime of a run did on its host; none of them depends on the machine's speed. */
export type HostCounts = {
  /** System calls by name: those on files and processes that succeeded. */
  readonly calls: Readonly<Record<string, number>>;
  /** Those that failed, by name: most of them found nothing at a path. */
  readonly failed: Readonly<Record<string, number>>;
  /** Bytes that went to the control node. */
  readonly sent: number;
  /** Bytes of files that were read at places of them, as those of the workspace are. */
  readonly read: number;
  readonly promises: number;
  /** Functions of the artifact that were called, those that evaluate its modules among them. */
  readonly functions: number;
  /** Slow modules of Node that were loaded. */
  readonly builtins: readonly string[];
  /** Paths that were opened, in order. */
  readonly opened: readonly string[];
};

/** The system calls that are traced. */
export const traced =
  'openat,statx,newfstatat,fstat,lstat,stat,rename,renameat,renameat2,fsync,fdatasync,syncfs,execve,write,writev,pread64';

/** An SLS of files that one Jinja template makes. */
export const managedFiles = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `{{ grains.root }}/target/${count}/f${at}:
  file.managed:
    - source: salt://one.jinja
    - template: jinja
    - context: {number: ${at}}
    - user: ${userInfo().username}
    - mode: '0644'
    - makedirs: true
`,
  ).join('');

/** strace is there and may trace. */
export const canCount =
  process.platform === 'linux' &&
  spawnSync('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).status === 0;

/**
 * Makes this machine's runs of the project (`@local`) counted ones.
 *
 * @param enter the words of sh before the runtime, such as those that enter a namespace
 */
export const countRuns = (
  project: Project,
  enter = 'exec',
): ((...args: string[]) => Promise<Counted>) => {
  const run = traceHost(project, enter);
  return async (...args) => {
    const { result, trace } = await run({}, '@local', ...args);
    return { result, counts: { ...trace, ...readCounts(join(project.dir, 'counts')) } };
  };
};

/** As `countRuns`, for the lines of a console on this machine: returns what its runtime did. */
export const countLines = (project: Project): ((...lines: string[]) => Promise<Trace>) => {
  const run = traceHost(project, 'exec');
  return async (...lines) => {
    const input = lines.map(line => `${line}\n`).join('');
    const { result, trace } = await run({ input }, 'console', '@local', '--out=quiet');
    if (result.code !== 0) throw new Error(result.stderr);
    return trace;
  };
};

const traceHost = (project: Project, enter: string) => {
  const at = (name: string): string => join(project.dir, name);
  const preload = join(import.meta.dirname, 'count-host.cjs');
  project.write({
    'bin/node': `#!/bin/sh
${enter} strace -f -qq --seccomp-bpf -s 200 -e trace=${traced} -o ${at('trace')} ${process.execPath} --require ${preload} "$@"
`,
  });
  chmodSync(at('bin/node'), 0o755);
  return async (options: { readonly input?: string }, ...args: string[]) => {
    for (const name of ['trace', 'counts']) rmSync(at(name), { force: true });
    const env = { PATH: `${at('bin')}:${process.env.PATH}`, HOST_COUNTS: at('counts') };
    const result = await project.runWith({ ...options, env }, ...args);
    return { result, trace: readTrace(at('trace')) };
  };
};

export type Trace = ReturnType<typeof readTrace>;

type Counted = { readonly result: CliResult; readonly counts: HostCounts };

const readCounts = (path: string): Pick<HostCounts, 'promises' | 'functions' | 'builtins'> =>
  JSON.parse(readFileSync(path, 'utf8'));

/**
 * Reads a trace that strace wrote.
 *
 * @param sentTo - the number of the file whose written bytes count as sent
 */
export const readTrace = (
  path: string,
  sentTo = 1,
): Pick<HostCounts, 'calls' | 'failed' | 'sent' | 'read' | 'opened'> & {
  readonly writes: number;
} => {
  const calls: Record<string, number> = {};
  const failed: Record<string, number> = {};
  const opened: string[] = [];
  let [sent, read, writes] = [0, 0, 0];
  const done = (name: string, given: string, returned: number): void => {
    const counted = returned < 0 ? failed : calls;
    counted[name] = (counted[name] ?? 0) + 1;
    if (returned < 0) return;
    if (name === 'openat') opened.push(/"([^"]*)"/.exec(given)?.[1] ?? '');
    if (name === 'pread64') read += returned;
    if (!/^writev?$/.test(name) || !given.startsWith(`${sentTo},`)) return;
    sent += returned;
    writes += 1;
  };
  /** Arguments of calls that another thread's call interrupted in the trace. */
  const begun = new Map<string, string>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const [, thread = '', name = '', given = '', end = ''] =
      /^(\d+) +(?:<\.\.\. )?(\w+)(?:\(| resumed>)(.*?)(?:\) += (-?\d+).*| <unfinished \.\.\.>)$/.exec(
        line,
      ) ?? [];
    if (name === '') continue;
    if (end === '') begun.set(thread, given);
    else if (line.includes(' resumed>')) done(name, begun.get(thread) ?? '', Number(end));
    else done(name, given, Number(end));
  }
  return { calls, failed, sent, read, writes, opened };
};
