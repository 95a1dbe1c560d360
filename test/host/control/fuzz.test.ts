import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import type { Config } from '../../../src/config/config.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { runFleet } from '../../../src/control/fleet/run.ts';
import { createOutput } from '../../../src/output/output.ts';
import type { HostResult, RunEvent } from '../../../src/protocol/event.ts';
import { openSdb } from '../../../src/request/open-sdb.ts';
import { makeRequest } from '../../../src/request/request.ts';
import { threadTime } from '../../helpers/cpu-time.ts';
import { scratch } from '../../helpers/hosts.ts';
import {
  type Answer,
  type FarEnd,
  type FarScript,
  memoryTransport,
} from '../../helpers/memory-host.ts';
import { dice, WireFuzz } from '../../helpers/wire-fuzz.ts';

// Drives the handlers of real runs: a hostile host sends mutated requests, events, grains and results
// beside an honest one. `TSALT_FUZZ_RUNS` sets the number of inputs, `TSALT_FUZZ_SEED` the seed of
// the first run of hosts: a failure prints the seed that repeats it.
const inputs = Number(process.env.TSALT_FUZZ_RUNS ?? (process.env.CI ? 100_000 : 4000));
const firstSeed = Number(process.env.TSALT_FUZZ_SEED ?? 1);

/**
 * Milliseconds for an answer: more on a machine that does much else, by the time of the runs before
 * anything is measured.
 */
let patience = 600_000;
/** Milliseconds of a processor for one turn of the event loop: the promise is 100. */
const longestTurn = 150;
/**
 * Runs that a turn is measured in before it counts as too long. Other work on the machine, a
 * collection of garbage or a recompilation makes one run slow, but not each of them.
 */
const measurements = 4;

const { path: dir, remove } = scratch('tsalt-fuzz');
afterAll(remove);

const files: Readonly<Record<string, string>> = {
  'tsalt.yaml': [
    'cachedir: cache',
    'file_roots: {base: [states], dev: [dev]}',
    'pillar_roots: {base: [pillar]}',
    'file_recv: true',
    '',
  ].join('\n'),
  'roster.yaml': 'web1: {host: 127.0.0.1, user: a}\nbad: {host: 127.0.0.1, user: a, timeout: 60}\n',
  'states/top.sls': "base:\n  '*':\n    - site\n    - page\n",
  'states/site.sls': `#!jinja|yaml
app:
  file.managed:
    - name: /etc/app.conf
    - source: salt://web/app.conf.j2
    - template: jinja
    - context: {part: app}
own:
  file.managed:
    - name: /etc/own
    - source: /srv/own.j2
    - template: jinja
motd:
  file.managed:
    - name: /etc/motd
    - contents: {{ grains['os'] }} on {{ grains.get('role', 'none') }}
quoted:
  file.managed:
    - name: /etc/quoted
    - contents: {{ (salt['cmd.run']('uname') ~ '') | yaml_dquote }}
{% for ip in grains.get('ips', []) %}
ip-{{ loop.index }}:
  test.nop:
    - name: {{ ip }}
{% endfor %}
plain:
  file.managed:
    - name: /etc/plain
    - source: salt://web/plain.txt
called:
  module.run:
    - name: pillar.get
    - key: secret
slotted:
  test.nop:
    - comment: __slot__:salt:test.echo(x)
matched:
  test.nop:
    - onlyif:
        - fun: match.compound
          tgt: 'G@os:Debian and bad'
`,
  'states/page.sls': `page:
  file.managed:
    - name: /etc/page
    - source: salt://web/page.liquid
    - template: liquid
    - onlyif: test -e {{ grains.host }}
own-page:
  file.managed:
    - name: /etc/own-page
    - source: /srv/own.liquid
    - template: liquid
dir:
  file.recurse:
    - name: /srv/dir
    - source: salt://web/dir
    - template: jinja
data:
  file.serialize:
    - name: /etc/data.yaml
    - formatter: yaml
    - dataset: {host: "{{ grains.host }}", cpus: {{ grains.num_cpus }}}
`,
  'states/web/app.conf.j2': `part={{ part }} os={{ grains.os }} role={{ grains['role'] | default('x') }}
{% for name, value in grains | dictsort %}{{ name }}={{ value | tojson }}
{% endfor %}secret={{ pillar['secret'] }}
`,
  'states/web/page.liquid': '<p>{{ grains.os }} {{ pillar.secret | upcase }}</p>\n',
  'states/web/plain.txt': 'plain text\n',
  'states/web/dir/one.txt': 'one\n',
  'states/web/dir/two.j2': 'two {{ grains.host }}\n',
  'states/db/other.txt': 'CANARY-UNNAMED\n',
  'states/db.sls': '# CANARY-SLS\ndb:\n  test.nop\n',
  'dev/only.txt': 'CANARY-DEV\n',
  'outside.txt': 'CANARY-OUTSIDE\n',
  'pillar/top.sls': 'base:\n  web1: [web1]\n  bad: [bad]\n',
  'pillar/web1.sls': '# CANARY-PILLAR-FILE\nsecret: CANARY-WEB1\n',
  'pillar/bad.sls': 'secret: of bad\nrole: web\n',
};
const canary = Buffer.from('CANARY');

let config: Config;
const env = { ...process.env, HOME: dir };

beforeAll(() => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(dir, path), text, { mode: 0o600 });
  }
  symlinkSync('../../db/other.txt', join(dir, 'states/web/leak'));
  config = loadConfig({ cwd: dir, env });
});

/** Measurements over all runs of hosts. */
const noFigures = () => ({
  inputs: 0,
  runs: 0,
  served: 0,
  refused: 0,
  ended: 0,
  slowest: { milliseconds: 0, what: '' },
  longest: { milliseconds: 0, what: '' },
  /** Turns of more than the promised 100 ms. */
  long: new Map<string, number>(),
  ends: {} as Record<string, number>,
  internal: new Map<string, string>(),
});
const figures = noFigures();

const shorten = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 300);

/** Measures the longest turn of the event loop, with what was sent before it ended. */
const watchTurns = (): { now: (what: string) => void; stop: () => void } => {
  let what = '';
  let [wall, cpu, measured] = [performance.now(), threadTime(), performance.now()];
  const tick = (): void => {
    const now = performance.now();
    // Asking for the processor's time takes long itself.
    if (now - measured > 5) {
      const cpuNow = threadTime();
      const took = Math.min(now - wall, cpuNow - cpu);
      if (took > figures.longest.milliseconds) figures.longest = { milliseconds: took, what };
      if (took > 100) figures.long.set(what, Math.round(took));
      [cpu, measured] = [cpuNow, now];
    }
    wall = now;
  };
  // Looking in each turn instead would take a whole processor from the processes that render.
  const timer = setInterval(tick, 1);
  return {
    now: text => {
      what = text;
    },
    stop: () => clearInterval(timer),
  };
};

/** Runs before anything is measured. */
const warmUp = 8;

const failures: string[] = [];

/** The run: one function, or usually states. */
const calls: readonly (readonly string[])[] = [
  ['*', 'test.arg', 'salt://web/plain.txt'],
  ['-C', 'G@role:web or web1 or bad', 'state.apply'],
  ['--guard=3', '*', 'state.apply'],
  ...Array.from({ length: 10 }, () => ['*', 'state.apply']),
];

/** The command lines, each parsed once: most of a run without an attack would be yargs. */
const parsed = new Map<readonly string[], ReturnType<typeof parseArguments>>();
const givenOf = (call: readonly string[]): ReturnType<typeof parseArguments> => {
  const given = parsed.get(call) ?? parseArguments([...call]);
  parsed.set(call, given);
  return given;
};

/** One run of hosts: `count` inputs by the hostile one, and some that may end its wire. */
const oneRun = async (seed: number, count: number, turns: ReturnType<typeof watchTurns>) => {
  const fuzz = new WireFuzz(dice(seed));
  // Answers are asked for at any time: they must not change what is sent otherwise.
  const answers = new WireFuzz(dice(seed ^ 0x5eed));
  const { below, chance, pick } = dice(seed ^ 0xd1ce);
  const fail = (what: string): void => void failures.push(`TSALT_FUZZ_SEED=${seed}: ${what}`);
  const call = pick(calls);
  const isCall = call === calls[0];
  let honestEnd: FarEnd | undefined;
  let badRun: number | undefined;
  let tail: Buffer = Buffer.alloc(0);
  let badState = 'at work';
  let badIsDone = (): void => undefined;
  const done = new Promise<void>(resolve => {
    badIsDone = () => {
      badState = 'done';
      resolve();
    };
  });

  const answered = (what: string, { error, ended }: Answer, from: number): void => {
    const took = performance.now() - from;
    if (took > figures.slowest.milliseconds) figures.slowest = { milliseconds: took, what };
    if (ended) figures.ended += 1;
    else if (error) figures.refused += 1;
    else figures.served += 1;
    if (error && internal.test(error.code))
      figures.internal.set(`${error.code} ${error.message.slice(0, 80)}`, `seed ${seed}: ${what}`);
  };
  const bounded = async <T>(what: string, work: Promise<T>): Promise<T | undefined> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<undefined>(resolve => {
      timer = setTimeout(() => {
        fail(
          `no answer within ${patience} ms to ${what} (the hostile host is ${badState}, the honest one ${honestEnd ? 'at work' : 'not begun'})`,
        );
        resolve(undefined);
      }, patience);
    });
    const value = await Promise.race([work, late]);
    clearTimeout(timer);
    return value;
  };

  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: one branch for each kind of input
  const attack = async (end: FarEnd): Promise<void> => {
    for (let sent = 0; sent < count && !end.isOver(); ) {
      const open: Promise<unknown>[] = [];
      for (let more = pick([1, 1, 2, 8, 30]); more > 0; more--) {
        sent += 1;
        figures.inputs += 1;
        if (chance(0.15)) {
          const event = fuzz.event();
          const bytes = fuzz.frame({ t: 'evt', ...event });
          turns.now(`seed ${seed} event ${event.name} ${shorten(event.payload)}`);
          for (const piece of fuzz.cut(bytes)) end.send(piece);
          continue;
        }
        const { method, params } = fuzz.request();
        const what = `${method} ${shorten(params)}`;
        const id = end.nextId();
        const from = performance.now();
        turns.now(`seed ${seed} ${what}`);
        open.push(
          bounded(what, end.expect(id)).then(answer => answer && answered(what, answer, from)),
        );
        for (const piece of fuzz.cut(fuzz.frame({ t: 'req', id, method, params }))) end.send(piece);
      }
      await Promise.all(open);
      if (chance(0.1) && !end.isOver()) await askHonest();
    }
    if (chance(0.3) && !end.isOver()) {
      const { method, params } = fuzz.other();
      const what = `${method} ${shorten(params)}`;
      figures.inputs += 1;
      const answer = await bounded(what, end.ask(method, params));
      if (answer) answered(what, answer, performance.now());
    }
    for (let more = 1 + below(4); more > 0 && !end.isOver(); more--) {
      const bytes = fuzz.last(end.nextId);
      figures.inputs += 1;
      turns.now(`seed ${seed} bytes ${bytes.subarray(0, 300).toString('latin1')}`);
      for (const piece of fuzz.cut(bytes)) end.send(piece);
      if (chance(0.5)) await turn();
    }
    await turn();
    if (badRun !== undefined) {
      end.send(
        answers.frame({ t: 'res', id: badRun, value: isCall ? answers.result() : answers.ran() }),
      );
      figures.inputs += 1;
    }
    const late = setTimeout(() => end.exit(pick([0, 1, 255])), pick([1, 20, 50]));
    await end.over;
    clearTimeout(late);
  };
  /** One question after the other: the honest host answers its run if no request is open. */
  let asked: Promise<void> = Promise.resolve();
  const askHonest = (): Promise<void> => {
    asked = asked.then(compareHonest);
    return asked;
  };
  const compareHonest = async (): Promise<void> => {
    if (!honestEnd) return;
    const from = performance.now();
    const [plain, secret] = await Promise.all([
      bounded(
        'a file of the honest host',
        honestEnd.ask('file.get', { path: 'salt://web/plain.txt', saltenv: 'base' }),
      ),
      bounded(
        'pillar of the honest host',
        honestEnd.ask('control.call', { fun: 'pillar.get', args: ['secret'], kwargs: {} }),
      ),
    ]);
    answered('a request of the honest host', plain ?? {}, from);
    if (plain?.content !== 'plain text\n') fail(`the honest host got ${shorten(plain)}`);
    if (secret?.value !== 'CANARY-WEB1') fail(`the honest host got the pillar ${shorten(secret)}`);
  };

  const bad: FarScript = {
    begin: end => {
      void end.over.then(badIsDone);
      const hello = fuzz.hello(fuzz.grains(chance(0.7) ? 0 : 0.25));
      turns.now(`seed ${seed} hello ${shorten(hello)}`);
      figures.inputs += 1;
      if (chance(0.3)) for (const piece of fuzz.cut(fuzz.noise())) end.send(piece);
      end.send(Buffer.from(`\n\0TSALT1 ${JSON.stringify(fuzz.first())}\n`));
      end.send(fuzz.frame({ t: 'evt', name: 'hello', payload: hello }));
    },
    request: ({ id, method }, end) => {
      if (method === 'run' || isCall) {
        badRun = id;
        void attack(end).then(badIsDone);
        return;
      }
      figures.inputs += 1;
      const value = method === 'guard' ? answers.guarded() : answers.result();
      turns.now(`seed ${seed} answer to ${method} ${shorten(value)}`);
      end.send(answers.frame({ t: 'res', id, value }));
    },
    sees: bytes => {
      const all = tail.length === 0 ? bytes : Buffer.concat([tail, bytes]);
      if (all.includes(canary))
        fail(`the hostile host got ${all.subarray(all.indexOf(canary), all.indexOf(canary) + 40)}`);
      tail = Buffer.from(all.subarray(-canary.length + 1));
    },
  };
  const honest: FarScript = {
    begin: end => {
      const grains = { os: 'Debian', host: 'web1', role: 'web', ips: ['10.0.0.2'], num_cpus: 2 };
      end.greet({ protocol: 1, node: 'v22.0.0', pid: 2, user: 'root', grains });
    },
    request: ({ id, method, params }, end) => {
      if (method === 'guard')
        return end.message({
          t: 'res',
          id,
          value: { confirmed: true, restored: [], problems: [] },
        });
      if (method !== 'run' && !isCall)
        return end.message({ t: 'res', id, value: { value: 'Linux', retcode: 0 } });
      honestEnd = end;
      void done.then(async () => {
        await askHonest();
        honestEnd = undefined;
        if (isCall) return end.message({ t: 'res', id, value: { value: 'text', retcode: 0 } });
        for (const { __id__, state, fun, name } of params.chunks) {
          const tag = `${state}_|-${__id__}_|-${name}_|-${fun}`;
          end.message({ t: 'evt', name: 'state-start', payload: { tag, id: __id__, fun, name } });
          const result = { result: true, comment: '', changes: {}, name };
          end.message({ t: 'evt', name: 'state', payload: { tag, result } });
        }
        end.message({ t: 'res', id, value: { retcode: 0 } });
      });
    },
  };

  const given = givenOf(call);
  const sdb = openSdb(config, env);
  const ask = (): Promise<never> => Promise.reject(new Error('nobody is there'));
  const request = await makeRequest({ given, config, env, sdb, ask });
  const results: HostResult[] = [];
  let printed = 0;
  const print = (text: string): void => {
    printed += text.length;
  };
  const output = await createOutput({
    options: { ...outputOptions, out: pick(['highstate', 'nested', 'json', 'yaml', 'raw', 'txt']) },
    write: print,
    complain: print,
    logLevel: 'trace',
    timeline: false,
  });
  const emit = (event: RunEvent): void => {
    if (event.type === 'host') results.push(event.result);
    output.emit(event);
  };
  const transport = memoryTransport(({ id }) => (id === 'bad' ? bad : honest));
  await bounded(
    'the run',
    runFleet(request, emit, new AbortController().signal, () => transport),
  );
  await output.finish();
  figures.runs += 1;
  const [web1] = results.filter(({ id }) => id === 'web1');
  const [lying] = results.filter(({ id }) => id === 'bad');
  const why = lying?.failure?.code ?? (lying?.states ? 'states' : 'compile');
  figures.ends[why] = (figures.ends[why] ?? 0) + 1;
  if (printed === 0) fail('nothing was printed');
  if (results.length !== 2) fail(`${results.length} results`);
  const isRight = isCall
    ? web1?.value === 'text'
    : Object.values(web1?.states ?? {}).filter(({ result }) => result === true).length === 13;
  if (web1?.failure || web1?.retcode !== 0 || !isRight)
    fail(`the honest host ended with ${shorten(web1)}`);
  if (lying?.failure?.code === 'internal')
    fail(`the hostile host caused: ${lying.failure.message}`);
};

/** Makes a run, and repeats it with the same inputs while a turn of it takes too long. */
const measuredRun = async (seed: number, count: number, turns: ReturnType<typeof watchTurns>) => {
  const before = figures.longest;
  figures.longest = { milliseconds: 0, what: '' };
  await oneRun(seed, count, turns);
  let shortest = figures.longest;
  for (let more = 1; more < measurements && shortest.milliseconds >= longestTurn; more++) {
    const known = { ...figures, ends: { ...figures.ends } };
    figures.longest = { milliseconds: 0, what: '' };
    await oneRun(seed, count, turns);
    if (figures.longest.milliseconds < shortest.milliseconds) shortest = figures.longest;
    Object.assign(figures, known);
  }
  figures.longest = shortest.milliseconds > before.milliseconds ? shortest : before;
};

const internal = /^(?:TypeError|RangeError|ReferenceError|SyntaxError|internal)$/;

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve));

const outputOptions = {
  color: true,
  static: false,
  state_output: 'full',
  state_verbose: true,
  state_tabular: false,
  state_output_diff: false,
  state_output_profile: true,
  state_output_pct: false,
  state_compress_ids: false,
  state_output_exclude: [],
  state_output_terse: [],
};

/** Prints the figures of a long run now and then. */
let shown = 0;
const showProgress = (from: number, rss: number): void => {
  if (inputs <= 100_000 || figures.inputs < shown + 20_000) return;
  shown = figures.inputs;
  const seconds = Math.round((performance.now() - from) / 1000);
  console.log(
    `${shown} inputs, ${figures.runs} runs, ${seconds} s, ${Math.round(rss / 2 ** 20)} MB`,
  );
};

const collectGarbage = (): void => {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
};

test(`a hostile host gets nothing and stops nobody, whatever it sends (${inputs} inputs)`, {
  tags: 'slow',
  timeout: 600_000 + inputs * 50,
}, async () => {
  const loose = (error: unknown): void =>
    void failures.push(`nobody caught: ${error instanceof Error ? error.stack : shorten(error)}`);
  process.on('unhandledRejection', loose);
  process.on('uncaughtException', loose);
  const turns = watchTurns();
  const from = performance.now();
  let heapBefore = 0;
  let rss = 0;
  try {
    // Code that is loaded and compiled once does not belong to the cost of an input.
    for (let seed = 1; seed <= warmUp; seed++) await oneRun(seed, 200, turns);
    patience = Math.max(patience, (performance.now() - from) * 10);
    Object.assign(figures, { ...noFigures(), internal: figures.internal });
    collectGarbage();
    heapBefore = process.memoryUsage().heapUsed;
    for (let seed = firstSeed; figures.inputs < inputs && failures.length === 0; seed++) {
      await measuredRun(seed, dice(seed ^ 0x1e46).pick([3, 10, 30, 150]), turns);
      rss = Math.max(rss, process.memoryUsage().rss);
      showProgress(from, rss);
      expect(Object.keys(Object.prototype)).toEqual([]);
    }
  } finally {
    turns.stop();
    process.off('unhandledRejection', loose);
    process.off('uncaughtException', loose);
  }
  collectGarbage();
  const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);
  const grown = megabytes(process.memoryUsage().heapUsed - heapBefore);
  const { internal: found, long, ...measured } = figures;
  const seconds = Math.round((performance.now() - from) / 1000);
  const slow = [...long].sort(([, a], [, b]) => b - a).slice(0, 20);
  console.log(JSON.stringify({ ...measured, slow, seconds, rss: megabytes(rss), grown }, null, 1));
  expect(failures.slice(0, 5)).toEqual([]);
  expect([...found].slice(0, 20)).toEqual([]);
  expect(figures.longest.milliseconds, figures.longest.what).toBeLessThan(longestTurn);
  expect(grown).toBeLessThan(150);
  expect(megabytes(rss)).toBeLessThan(1500);
});
