import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { peakMemory } from '../../../helpers/peak-memory.ts';
import { startProject } from '../../../helpers/project.ts';
import { hasSshd, startSshd } from '../../../helpers/sshd.ts';
import { waitFor } from '../../../helpers/wait-for.ts';

const loud = Array.from({ length: 12 }, (_, at) => `loud${at}`);
const honest = ['web1', 'web2'];

/** Runs after the tests, the last one first, also if they fail. */
const cleaning: (() => Promise<unknown> | unknown)[] = [];
afterAll(async () => {
  for (const clean of cleaning.reverse()) await clean();
});

type Event = {
  type: string;
  host?: string;
  text?: string;
  result?: { __id__?: string; result: boolean };
};

/** Returns the process ID that a file has, if that process still runs the program. */
const runningIn = (file: string, pattern: RegExp, program: string): number[] => {
  try {
    const pid = Number(pattern.exec(readFileSync(file, 'utf8'))?.[1]);
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program) ? [pid] : [];
  } catch {
    return [];
  }
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
};

test.skipIf(!hasSshd)(
  'endless output of 12 hosts fills no memory, and others finish meanwhile',
  { tags: 'slow', timeout: 120_000 },
  async () => {
    const project = await startProject({ hosts: [] });
    cleaning.push(() => project.close());
    const sshd = await startSshd({ dir: join(project.dir, 'sshd') });
    cleaning.push(() => sshd.close());
    const ready = join(project.dir, 'ready');
    const pids = join(project.dir, 'pids');
    const stop = join(project.dir, 'stop');
    for (const folder of [ready, pids]) mkdirSync(folder);
    const all = [...loud, ...honest];
    const host = (id: string): string =>
      `${id}: {host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}, ` +
      `thin_dir: ${project.dir}/work/${id}}\n`;
    // All hosts begin at once: the way there is not measured.
    const allOf = (folder: string, count: number): string =>
      `until [ -e ${stop} ] || [ "$(ls ${folder} | wc -l)" = ${count} ]; do sleep 0.2; done`;
    const together = `together:
  cmd.run: [{name: 'touch ${ready}/{{ grains.id }}; ${allOf(ready, all.length)}'}]
`;
    project.write({
      known_hosts: `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`,
      'roster.yaml': all.map(host).join(''),
      'states/top.sls': "base: {'loud*': [loud], 'web*': [honest]}\n",
      'states/loud.sls': `${together}endless:
  cmd.run:
    - name: 'echo $$ > ${pids}/{{ grains.id }}; ${allOf(pids, loud.length)}; [ -e ${stop} ] || exec nice -n 19 yes'
    - timeout: 15
`,
      'states/honest.sls': `${together}beside:
  cmd.run: [{name: '${allOf(pids, loud.length)}'}]
made:
  file.managed:
    - name: ${project.dir}/made/{{ grains.id }}
    - contents: x
    - makedirs: true
last:
  cmd.run: [{name: echo last}]
`,
    });
    const memory = peakMemory(project.dir);
    const control = new AbortController();
    const running = project.runWith(
      { env: memory.env, signal: control.signal },
      ...['*', 'state.apply', '--out', 'ndjson'],
    );
    cleaning.push(async () => {
      control.abort();
      await running.catch(() => undefined);
      writeFileSync(stop, '');
      // Without a link, runtimes go on until their commands have ended.
      const left = (): number[] => [
        ...loud.flatMap(id => runningIn(join(pids, id), /^(\d+)/, 'yes')),
        ...all.flatMap(id =>
          runningIn(join(project.dir, 'work', id, 'run.lock'), /"pid":(\d+)/, 'node'),
        ),
      ];
      const endLeft = (): boolean => {
        const found = left();
        for (const pid of found) kill(pid);
        return found.length === 0;
      };
      await waitFor(endLeft, 20_000);
    });
    const { stdout } = await running;

    const events = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as Event);
    for (const id of loud) {
      const size = events
        .filter(({ type, host }) => type === 'output' && host === id)
        .reduce((sum, { text = '' }) => sum + text.length, 0);
      expect(size).toBeGreaterThan(1000);
      expect(size).toBeLessThan(65_536 + 10 * 500);
    }
    // In this order: the endless commands of all hosts outlast everything of the others.
    const states = events
      .filter(({ type, result }) => type === 'state' && result?.__id__ !== 'together')
      .map(({ host, result }) => [host, result?.__id__, result?.result]);
    const [first, second] = [states.slice(0, 3 * honest.length), states.slice(3 * honest.length)];
    expect(first.sort()).toEqual(
      honest.flatMap(id => ['beside', 'last', 'made'].map(state => [id, state, true])),
    );
    expect(second.sort()).toEqual(loud.toSorted().map(id => [id, 'endless', false]));
    console.log(`control process: ${memory.megabytes()} MB`);
    expect(memory.megabytes()).toBeLessThan(150);
  },
);
