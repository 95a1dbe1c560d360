import { readFileSync } from 'node:fs';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { HostWork } from '../../../src/control/apart/host-work.ts';
import type { RenderJob } from '../../../src/control/apart/jobs.ts';
import { poolSize } from '../../../src/render/confined/limits.ts';
import { pack } from '../../../src/render/confined/wire.ts';
import { longestTurn, threadTime } from '../../helpers/cpu-time.ts';

const empty = '{"d":[]}';

const template = (pipe: string, text: string): RenderJob => ({
  type: 'render',
  text,
  file: '/srv/own',
  pipe,
  saltenv: 'base',
  grains: pack(new Map([['os', 'Debian']])),
  pillar: empty,
  opts: empty,
  extra: empty,
});

const nothing = (): Promise<never> => Promise.reject(new Error('nothing is asked here'));

const rendered = (host: string, pipe: string, text: string): Promise<string> =>
  new HostWork(host).inTurn(async () => template(pipe, text), nothing);

const loops = (variable: string): string => `{% for ${variable} in (1..5000) %}`;
/** The result of work, or that it goes on: a test that waits for ever would not say what it waits for. */
const within = <T>(seconds: number, work: Promise<T>): Promise<T | string> =>
  Promise.race([work, sleep(seconds * 1000, `still at work after ${seconds} s`, { ref: false })]);

const endless = `${['a', 'b', 'c'].map(loops).join('')}${'{% endfor %}'.repeat(3)}`;

test('templates without an end, of as many hosts as there are processes, are ended; another host gets its own', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  await rendered('first', 'liquid', '{{ 1 }}');
  const hosts = Array.from({ length: poolSize }, (_, at) => `bad${at}`);
  const longest = await longestTurn(async () => {
    const bad = hosts.map(host => rendered(host, 'liquid', endless).catch(String));
    const good = rendered('web1', 'jinja', '{{ grains.os }}');
    expect(await good).toBe('Debian');
    for (const error of bad) expect(await within(100, error)).toMatch(/took more than 3 s/);
  });
  expect(longest).toBeLessThan(100);
});

test.each([
  ['liquid', '{% for i in (1..100000000) %}{% endfor %}'],
  [
    'liquid',
    "{% assign a = 'a,a,a,a' | split: ',' %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}",
  ],
])(
  '%s: a template that takes all memory ends nothing but itself: %s',
  { tags: 'slow', timeout: 60_000 },
  async (pipe, text) => {
    await expect(rendered('bad', pipe, text)).rejects.toThrow(/took (?:too much|more than 400 MB)/);
    expect(await rendered('bad', 'jinja', '{{ grains.os }}')).toBe('Debian');
  },
);

test.each([
  ['sorts', "{{ ('a b ' * 45000).split() | sort | length }}", '90000'],
  ['wraps', "{{ ('a ' * 500000) | wordwrap(1) | length }}", '999999'],
  ['replaces', "{{ ('ab' * 500000) | replace('a', 'ccc') | length }}", '2000000'],
  ['reads YAML', "{{ ('- [1, 2, {a: b}]\n' * 15000) | load_yaml | length }}", '15000'],
])(
  'a filter that %s a text of a megabyte holds up nobody',
  async (_, text, length) => {
    await rendered('web1', 'jinja', '1');
    const work = async () => expect(await rendered('bad', 'jinja', text)).toBe(length);
    // Looking at each turn takes longer than the turns: first without that.
    const from = threadTime();
    await work();
    expect(threadTime() - from).toBeLessThan(100);
    expect(await longestTurn(work)).toBeLessThan(100);
  },
  60_000,
);

test('a template that waits for its host keeps no process from others, and asks for nothing twice', async () => {
  const asked: string[] = [];
  let goOn = (): void => undefined;
  const gate = new Promise<void>(resolve => {
    goOn = resolve;
  });
  const waiting = Array.from({ length: 2 * poolSize }, (_, at) =>
    new HostWork(`slow${at}`).inTurn(
      async () => template('jinja', "{{ salt['a.b'](1) }}-{{ salt['a.b'](2) }}"),
      async ([fun, args]) => {
        asked.push(`${at} ${fun} ${args}`);
        await gate;
        return { value: pack(`${at}:${args}`) };
      },
    ),
  );
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBe(waiting.length);
  expect(await rendered('web1', 'jinja', '{{ grains.os }}')).toBe('Debian');
  goOn();
  expect(await Promise.race([Promise.all(waiting), sleep(20_000)])).toEqual(
    waiting.map((_, at) => `${at}:[1]-${at}:[2]`),
  );
  expect(asked.sort()).toEqual(
    waiting.flatMap((_, at) => [`${at} a.b [1]`, `${at} a.b [2]`]).sort(),
  );
}, 60_000);

test('one template of a host is rendered at a time; after three that took too much, none', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const work = new HostWork('bad');
  const hosts = Array.from({ length: poolSize }, (_, at) => `web${at}`);
  const others = () => Promise.all(hosts.map(host => rendered(host, 'jinja', '{{ grains.os }}')));
  // All processes have started: each of them could render at once.
  await others();
  const asked: number[] = [];
  let goOn = (): void => undefined;
  const gate = new Promise<void>(resolve => {
    goOn = resolve;
  });
  const render = (text: string, number = 0): Promise<string> =>
    work.inTurn(
      async () => template('jinja', text),
      async () => {
        asked.push(number);
        await gate;
        return { value: '1' };
      },
    );
  const all = [1, 2, 3].map(number => render("{{ salt['a.b']() }}", number));
  await expect.poll(() => asked.length, { timeout: 20_000 }).toBeGreaterThan(0);
  for (let count = 0; count < 5; count += 1) await others();
  expect(asked).toEqual([1]);
  goOn();
  await Promise.all(all);
  expect(asked).toEqual([1, 2, 3]);
  const greedy = async () => template('liquid', '{% assign a = (1..100000000) %}');
  for (let count = 0; count < 3; count += 1)
    await expect(work.inTurn(greedy, nothing)).rejects.toThrow(/took (?:too much|more than)/);
  await expect(render('x')).rejects.toThrow(/3 texts of bad took too much: no more are rendered/);
  expect(await rendered('web1', 'jinja', 'x')).toBe('x');
});

const sorts = "{{ ('a b ' * 45000).split() | sort | length }}";

test('the texts of one host take a bounded time together, each of them being short', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const work = new HostWork('bad', 800);
  const render = (text: string): Promise<string> =>
    work.inTurn(async () => template('jinja', text), nothing);
  let rendered = 0;
  const all = async (): Promise<void> => {
    for (; rendered < 200; rendered += 1) expect(await render(sorts)).toBe('90000');
  };
  await expect(all()).rejects.toThrow('Texts of bad took more than 0.8 s together.');
  expect(rendered).toBeGreaterThan(0);
  await expect(render('x')).rejects.toThrow('together');
  await expect(new HostWork('bad', 800).now(template('liquid', endless), nothing)).rejects.toThrow(
    'Texts of bad took more than 0.8 s together.',
  );
});

test('a template that begins again for each answer takes no more time in all', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const work = new HostWork('bad', 800);
  let asked = 0;
  const others = async () => {
    asked += 1;
    const hosts = Array.from({ length: poolSize }, (_, at) => `web${at}`);
    await Promise.all(hosts.map(host => rendered(host, 'jinja', 'x')));
    return { value: '1' };
  };
  // Each stretch ends before the periodic check of the limits.
  const text = `${sorts}{% for i in range(200) %}{{ salt['a.b'](i) }}{% endfor %}`;
  const ended = work.inTurn(async () => template('jinja', text), others).catch(String);
  expect(await within(100, ended)).toContain('took more than 0.8 s together');
  expect(asked).toBeGreaterThan(1);
  expect(asked).toBeLessThan(150);
});

test('a host whose run is over has nothing computed any more', async () => {
  const hosts = Array.from({ length: 2 * poolSize }, (_, at) => new HostWork(`bad${at}`));
  const ended = hosts
    .flatMap(work =>
      [endless, 'x'].map(text => work.inTurn(async () => template('liquid', text), nothing)),
    )
    .map(work => work.catch((error: Error) => error.message));
  await sleep(200);
  const from = performance.now();
  for (const work of hosts) work.close();
  for (const message of await Promise.all(ended))
    expect(message).toMatch(/[Tt]he run of (its|the) host has ended/);
  expect(performance.now() - from).toBeLessThan(1000);
  expect(await rendered('web1', 'jinja', 'x')).toBe('x');
});

/** The processes that this one has started and that have not ended. */
const processes = (): string[] =>
  readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');

test.skipIf(process.platform !== 'linux')(
  'the end of a host ends no process whose job ends by itself',
  async () => {
    await rendered('first', 'jinja', 'x');
    const before = processes();
    const started = new Set<string>();
    for (let count = 0; count < 20; count += 1) {
      const work = new HostWork('bad');
      const ended = work
        .inTurn(async () => template('jinja', '{{ grains.os }}'), nothing)
        .catch(String);
      await setImmediate();
      work.close();
      expect(await ended).toMatch(/[Tt]he run of (its|the) host has ended/);
      expect(await rendered('web1', 'jinja', 'x')).toBe('x');
      for (const pid of processes()) started.add(pid);
    }
    for (const pid of before) started.delete(pid);
    expect(started.size).toBeLessThan(10);
  },
);

test('a template that asks for more than it may is refused', async () => {
  const answer = { value: pack('x'.repeat(4_000_000)) };
  const work = new HostWork('bad').inTurn(
    async () => template('jinja', "{% for i in range(9) %}{% set a = salt['a.b']() %}{% endfor %}"),
    async () => answer,
  );
  await expect(work).rejects.toThrow(/requests more than 16777216 characters/);
  const long = rendered('bad', 'jinja', "{{ salt['a.b']('x' * 2000000) }}");
  await expect(long).rejects.toThrow(/requests more than 1048576 characters/);
});

test('a document of a host is read in the same way, and its aliases make no more of it', async () => {
  const read = (text: string): Promise<string> =>
    new HostWork('bad').inTurn(
      async () => ({
        type: 'read',
        format: 'yaml',
        text,
        most: { values: 50_000, characters: 262_144 },
      }),
      nothing,
    );
  expect(await read('a: [1, x]')).toBe(pack(new Map([['a', [1, 'x']]])));
  await expect(read('a: [')).rejects.toThrow(/did not find expected/);
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e']
    .map((key, at) => `${key}: &${key} [${Array(9).fill(`*${'abcdefgh'[at]}`)}]\n`)
    .join('')}`;
  const longest = await longestTurn(async () => {
    await expect(read(bomb)).rejects.toThrow(/contains more than 50000 values/);
    expect((await read('- [1, {a: b}]\n'.repeat(9000))).length).toBeGreaterThan(100_000);
  });
  expect(longest).toBeLessThan(100);
});
