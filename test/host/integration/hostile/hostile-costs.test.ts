// @module-tag slow
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type HostileProject,
  type HostileScript,
  startHostileProject,
} from '../../../helpers/hostile-host.ts';
import { peakMemory } from '../../../helpers/peak-memory.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

const dir = mkdtempSync(join(tmpdir(), 'tsalt-costs-'));
const peak = peakMemory(dir);
let hostile: HostileProject;

beforeAll(async () => {
  hostile = await startHostileProject({
    files: {
      'states/restart.sls': 'again:\n  system.reboot: []\n',
      'states/asks.sls':
        "#!jinja|yaml\na{{ salt['test.echo']('x') | length }}:\n  test.nop:\n    - name: x\n",
      'states/often.sls':
        "#!jinja|yaml\n{% for a in range(20) %}{% set b = salt['test.echo']('x') %}{% endfor %}\na:\n  test.nop: []\n",
      'states/own.sls': [
        'own:',
        '  file.managed:',
        `    - name: ${join(dir, 'out')}`,
        `    - source: ${join(dir, 'own.j2')}`,
        '    - template: jinja',
        // The honest host renders its template while the other one attacks.
        `    - onlyif: until [ -e ${join(dir, 'begun')} ]; do sleep 0.1; done`,
        '',
      ].join('\n'),
    },
  });
  writeFileSync(join(dir, 'own.j2'), 'os={{ grains.os }} {{ salt["test.echo"]("asked") }}\n');
  writeFileSync(
    join(dir, 'turns.cjs'),
    `const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const time = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
let [before, longest, begun] = [0, 0, false];
setInterval(() => {
  const now = time();
  if (begun) longest = Math.max(longest, now - before);
  begun ||= existsSync(${JSON.stringify(join(dir, 'begun'))});
  before = now;
}, 1).unref();
process.on('exit', () => writeFileSync(${JSON.stringify(join(dir, 'longest'))}, String(longest)));
`,
  );
});
afterAll(async () => {
  await hostile.close();
  removeFolder(dir);
});

/** Runs beside an honest host; at a terminal, too, the run must come to its end. */
const beside = async (
  script: HostileScript,
  { terminal = false, job = ['test.ping'], args = [] as string[] } = {},
) => {
  hostile.attack({ script });
  const { code, stdout, stderr } = await hostile.runWith(
    { terminal, env: peak.env },
    ...['--timeout', '60', '--static', '--out', 'json', ...args, '*', ...job],
  );
  expect(hostile.told()).toEqual([]);
  const begin = stdout.indexOf('{');
  const results = JSON.parse(stdout.slice(begin, stdout.lastIndexOf('}') + 1));
  return {
    code,
    web1: results.web1,
    bad: results.bad,
    stderr,
    megabytes: peak.megabytes(),
  };
};

const attacks: readonly (readonly [string, HostileScript, RegExp])[] = [
  [
    'a request whose number is a text of a megabyte',
    ({ message }) => message({ t: 'req', id: 'x'.repeat(1_000_000), method: 'no', params: null }),
    /it sent a message without a number of its request/,
  ],
  [
    'a request whose number is a list',
    ({ message }) => message({ t: 'req', id: [[1]], method: 'file.get', params: null }),
    /it sent a message without a number of its request/,
  ],
  [
    'two requests of one number',
    ({ raw, frame }) => {
      const one = frame(1, Buffer.from('{"t":"req","id":7,"method":"no","params":null}'));
      raw(Buffer.concat([one, one]));
    },
    /it sent request 7 twice/,
  ],
  [
    'a request of 40 MB',
    ({ message }) => message({ t: 'req', id: 1, method: 'no', params: 'x'.repeat(40_000_000) }),
    /it sent too long requests at once/,
  ],
  [
    'a line of the log nested 100000 levels deep',
    ({ text }) => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      text(Buffer.from(`{"t":"evt","name":"log","payload":${deep}}`));
    },
    /it sent data nested deeper than 200 levels/,
  ],
  [
    'an answer of 60 MB of empty dicts',
    ({ text, id }) =>
      text(Buffer.from(`{"t":"res","id":${id},"value":[${'{},'.repeat(20_000_000)}1]}`)),
    /it sent more than 1000000 values in one message/,
  ],
  [
    'a dict of 300000 keys',
    ({ reply }) => {
      const wide = Object.fromEntries(Array.from({ length: 300_000 }, (_, at) => [`k${at}`, 1]));
      reply({ value: wide, retcode: 0 });
    },
    /it sent more than 200000 keys in one dict/,
  ],
  [
    'parts without an end',
    ({ raw, frame }) => {
      const part = frame(5, Buffer.alloc(1024 * 1024, 'x'));
      for (let at = 0; at < 80; at += 1) raw(part);
    },
    /it sent a message over the limit/,
  ],
  [
    'an error that is a text',
    ({ message, id }) => message({ t: 'res', id, error: 'no' }),
    /it sent an error that is not an object/,
  ],
  ['an answer that is null', ({ reply }) => reply(null), /a malformed answer to "call"/],
  [
    'an exit code that is a dict',
    ({ reply }) => reply({ value: 1, retcode: { valueOf: 1 } }),
    /a malformed answer to "call"/,
  ],
  [
    'the start of a state that has no name as text',
    ({ event }) => event('state-start', { tag: 'x', id: { toString: 1 }, fun: 'x', name: 'x' }),
    /a malformed event "state-start"/,
  ],
];

test.each(attacks)('a host that sends %s ends its own run only', async (_, script, cause) => {
  const { code, web1, bad, megabytes } = await beside(script);
  expect(String(bad)).toMatch(cause);
  expect(web1).toBe(true);
  expect(code).toBe(69);
  expect(megabytes).toBeLessThan(400);
});

test('a template gets no answer of very many values', async () => {
  const { web1, bad } = await beside(
    ({ method, reply }) => {
      if (method === 'call') reply({ value: Array(300_000).fill('x'), retcode: 0 });
      else reply({ retcode: 0 });
    },
    { job: ['state.sls', 'asks', 'test=True'] },
  );
  expect(JSON.stringify(bad)).toMatch(/The answer to 'test.echo' has more than 200000 values/);
  expect(Object.values(web1 as Record<string, object>)).toMatchObject([{ result: true }]);
});

test('all answers that templates get are bounded together', async () => {
  const { web1, bad, megabytes } = await beside(
    ({ method, reply }) => {
      if (method === 'call') reply({ value: 'x'.repeat(7_000_000), retcode: 0 });
      else reply({ retcode: 0 });
    },
    { job: ['state.sls', 'often', 'test=True'] },
  );
  expect(JSON.stringify(bad)).toMatch(/calls of templates have more than 32 MB together/);
  expect(Object.values(web1 as Record<string, object>)).toMatchObject([{ result: true }]);
  expect(megabytes).toBeLessThan(600);
});

test('at a terminal a name that no text can be made of ends nothing', async () => {
  // Replayed to the progress, which begins later: by then nobody reads the wire that it came on.
  const { web1, bad } = await beside(
    async ({ event, reply }) => {
      event('state-start', {
        tag: 'x_|-x_|-x_|-x',
        id: 'x',
        fun: 'x.x',
        name: { toString: 1, valueOf: 1 },
      });
      await new Promise(resolve => setTimeout(resolve, 1000));
      reply({ value: 'mine', retcode: 0 });
    },
    { terminal: true },
  );
  expect(web1).toBe(true);
  expect(bad).toBe('mine');
});

test('a host that asks for one restart after the other ends its own run only', async () => {
  const { bad, web1 } = await beside(
    ({ method, params, reply }) => {
      if (method === 'run' && params.resume)
        reply({
          retcode: 0,
          restart: { ...params.resume.restart, tag: params.resume.restart.tag },
        });
      else if (method === 'run')
        reply({
          retcode: 0,
          restart: { tag: 'x', boot: 'y', delay: 0, wait: 1, kept: {} },
        });
      else reply({ value: 'other boot', retcode: 0 });
    },
    { job: ['state.sls', 'restart', 'test=True'] },
  );
  expect(bad).toMatch(/x requests a second restart/);
  expect(Object.values(web1 as Record<string, object>)).toMatchObject([{ name: 'again' }]);
});

test('a host that fills the log loses the rest of it, and nothing of the others', async () => {
  const file = join(dir, 'log');
  const { web1, bad, stderr, megabytes } = await beside(
    ({ event }) => {
      for (let at = 0; at < 100; at += 1)
        event('log', { level: 'warning', module: 'x', message: 'x'.repeat(1_000_000) });
    },
    { args: ['--log-file', file, '--log-file-level', 'warning', '--log-level', 'error'] },
  );
  expect([web1, bad, stderr]).toEqual([true, true, '']);
  expect(statSync(file).size).toBeLessThan(70 * 1024 ** 2);
  expect(readFileSync(file, 'latin1')).toMatch(/bad: .*64 MB of log: the rest of it is left out/);
  expect(megabytes).toBeLessThan(400);
});

test('a host that asks and never reads the answers has few of them piled up', async () => {
  const { web1, megabytes } = await beside(async ({ event, message, reply }) => {
    process.stdin.pause();
    for (let at = 1; at <= 200_000; at += 1) {
      event('ping', null);
      if (at % 1000 === 0) message({ t: 'req', id: at, method: 'x'.repeat(50), params: null });
    }
    reply({ value: 1, retcode: 0 });
  });
  expect(web1).toBe(true);
  expect(megabytes).toBeLessThan(400);
});

test('an answer of 40 MB arrives whole', async () => {
  const { bad, web1 } = await beside(({ reply }) =>
    reply({
      value: [
        'y'.repeat(20_000_000),
        Array.from({ length: 400_000 }, () => 'long enough for its list to be cut'),
      ],
      retcode: 0,
    }),
  );
  expect(web1).toBe(true);
  expect(bad[0].length).toBe(20_000_000);
  expect(bad[1].length).toBe(400_000);
});

test('templates of a host that take long, or all memory, block nobody for more than 100 ms', async () => {
  const endless = `${['a', 'b', 'c'].map(name => `{% for ${name} in (1..5000) %}`).join('')}${'{% endfor %}'.repeat(3)}`;
  hostile.attack({
    given: {
      begun: join(dir, 'begun'),
      texts: [
        ['jinja', "{{ ('a b ' * 45000).split() | sort | length }}"],
        ['jinja', "{{ ('ab' * 500000) | replace('a', 'ccc') | wordwrap(1) | length }}"],
        ['jinja', "{{ ('- [1, 2, {a: b}]\n' * 15000) | load_yaml | unique | list | length }}"],
        ['liquid', '{% for i in (1..3000000) %}{% endfor %}'],
        [
          'liquid',
          "{% assign a = 'a,a' | split: ',' %}{% for i in (1..60) %}{% assign a = a | concat: a %}{% endfor %}",
        ],
        ['liquid', endless],
        ['jinja', "{{ ('a' * 40) | regex_match('(a+)+$') }}"],
      ],
    },
    script: async ({ method, given, ask, reply, tell, renderKey }) => {
      if (method !== 'run') return;
      process.getBuiltinModule('node:fs')!.writeFileSync(given.begun, '');
      const answers = given.texts.map(async ([template, text]: [string, string]) => {
        const state = `/etc/${template}`;
        const key = renderKey(state, `/etc/own.${template}`, template);
        const { content, error } = await ask('file.render', { key, text });
        tell(content ?? error?.message ?? '');
      });
      await Promise.all(answers);
      reply({ retcode: 0 });
    },
  });
  hostile.project.write({
    'states/top.sls': 'base:\n  web1: [own]\n  bad: [theirs]\n',
    'states/theirs.sls': ['jinja', 'liquid']
      .map(
        name =>
          `${name}:\n  file.managed:\n    - name: /etc/${name}\n    - source: /etc/own.${name}\n    - template: ${name}\n`,
      )
      .join(''),
  });
  const { stdout } = await hostile.runWith(
    { env: { NODE_OPTIONS: `--require ${join(dir, 'turns.cjs')}` } },
    ...['--static', '--out', 'json', '*', 'state.apply'],
  );
  const { web1 } = JSON.parse(stdout) as { web1: Record<string, { result: boolean }> };
  expect(Object.values(web1).map(({ result }) => result)).toEqual([true]);
  expect(readFileSync(join(dir, 'out'), 'utf8')).toBe('os=Debian asked\n');
  expect(hostile.told()).toHaveLength(7);
  expect(hostile.told().filter(text => /which is too much/.test(text))).toHaveLength(2);
  expect(Number(readFileSync(join(dir, 'longest'), 'utf8'))).toBeGreaterThan(0);
  expect(Number(readFileSync(join(dir, 'longest'), 'utf8'))).toBeLessThan(100);
}, 120_000);
