// @module-tag slow
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import {
  canCount,
  countLines,
  managedFiles,
  readTrace,
  type Trace,
  traced,
} from '../../../helpers/host-counts.ts';
import { startProject } from '../../../helpers/project.ts';
import { hasSshd } from '../../../helpers/sshd.ts';
import { type SshdProject, startSshdProject } from '../../../helpers/sshd-project.ts';

/** What the second call of a session costs: the difference of sessions of one call and of two. */
type Second = {
  readonly calls: (name: string) => number;
  readonly sent: number;
  readonly writes: number;
  /** Paths that the second call opened. */
  readonly opened: readonly string[];
};

const secondOf = (one: Trace, two: Trace): Second => {
  const opened = [...two.opened];
  for (const path of one.opened) if (opened.includes(path)) opened.splice(opened.indexOf(path), 1);
  return {
    calls: name => (two.calls[name] ?? 0) - (one.calls[name] ?? 0),
    sent: two.sent - one.sent,
    writes: two.writes - one.writes,
    opened,
  };
};

const files = {
  'states/one.jinja': 'number {{ number }}\n',
  'states/many100.sls': managedFiles(100),
  'states/many1000.sls': managedFiles(1000),
};

const apply = (count: number): string => `state.apply many${count}`;

/** Counts, not times: they are the same on a busy machine. The bounds are a little above them. */
describe.skipIf(!canCount || !hasSshd)(
  'second runs of sessions on the control node (needs strace and sshd)',
  () => {
    let project: SshdProject;
    const second: Record<string, Second> = {};
    const begun: number[] = [];

    const session = async (...lines: string[]): Promise<Trace> => {
      const trace = join(project.dir, 'trace');
      rmSync(trace, { force: true });
      const options = ['-f', '-qq', '--seccomp-bpf', '-s', '200', '-e', `trace=connect,${traced}`];
      const before = project.sessions();
      const { code, stderr } = await tsalt(['console', 'web1', '--out=quiet'], {
        cwd: project.dir,
        env: { XDG_CACHE_HOME: join(project.dir, 'xdg') },
        enter: ['strace', ...options, '-o', trace],
        input: lines.map(line => `${line}\n`).join(''),
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      begun.push(project.sessions() - before);
      const sockets = [
        ...readFileSync(trace, 'utf8').matchAll(/connect\((\d+), \{sa_family=AF_INET, sin_port=/g),
      ];
      expect(sockets).toHaveLength(1);
      return readTrace(trace, Number(sockets[0]?.[1]));
    };

    beforeAll(async () => {
      project = await startSshdProject(files);
      for (const line of ['test.ping', apply(100), apply(1000)]) {
        await session(line);
        await session(line);
        second[line] = secondOf(await session(line), await session(line, line));
      }
    });
    afterAll(() => project?.close());

    test('a session has one connection and one channel, whatever it runs', () => {
      expect(new Set(begun)).toEqual(new Set([1]));
      for (const { calls } of Object.values(second)) expect(calls('connect')).toBe(0);
    });

    test('a second run starts no program, and reads no file of the states again', () => {
      for (const { calls, opened } of Object.values(second)) {
        expect(calls('execve')).toBe(0);
        expect(opened.filter(path => path.includes('/states/'))).toEqual([]);
        // Configuration, roster, what is known of the artifact, and folders: those above these files and that of the states.
        expect(opened.length).toBeLessThanOrEqual(8);
      }
    });

    test('a ping is one message; those of a second run get longer with its states, and few more', () => {
      const [small, large] = [second[apply(100)] as Second, second[apply(1000)] as Second];
      expect(second['test.ping']?.writes).toBeLessThanOrEqual(2);
      expect(small.writes).toBeLessThanOrEqual(6);
      expect((large.writes - small.writes) / 900).toBeLessThanOrEqual(0.1);
      expect((large.sent - small.sent) / 900).toBeLessThanOrEqual(700);
    });
  },
);

describe.skipIf(!canCount)('second runs of sessions on the host (needs strace)', () => {
  test('start no program and no runtime, and open each file once', async () => {
    const project = await startProject({ hosts: [], files });
    try {
      project.write({ 'tsalt.yaml': `cachedir: cache\ngrains: {root: ${project.dir}}\n` });
      const session = countLines(project);
      for (let times = 0; times < 2; times += 1) await session(apply(100));
      const { calls, opened } = secondOf(
        await session(apply(100)),
        await session(apply(100), apply(100)),
      );
      expect(calls('execve')).toBe(0);
      expect(opened.filter(path => path.includes('/target/100/'))).toHaveLength(100);
    } finally {
      await project.close();
    }
  });
});
