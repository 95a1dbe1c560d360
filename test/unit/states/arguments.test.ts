import { userInfo } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import type { ModuleFunction, PlainDict } from '../../../src/modules/api.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost | undefined;
afterEach(() => host?.remove());

/** A host with some execution functions of its own, and the calls that they got. */
const hostWith = (
  answers: Record<string, unknown>,
  options: { grains?: PlainDict } = {},
): { made: TestHost; calls: unknown[][] } => {
  const calls: unknown[][] = [];
  const salt: Record<string, ModuleFunction> = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [
      name,
      async (...args: unknown[]) => {
        calls.push([name, ...args]);
        return typeof answer === 'function' ? answer(...args) : answer;
      },
    ]),
  );
  const made = makeHost({ salt, ...options });
  host = made;
  return { made, calls };
};

const job = (number: string, tag: string, date: string, user = 'root') => ({
  job: number,
  tag,
  user,
  date,
  time: '16:05',
  queue: 'a',
});
const jobs = [
  job('1', 'rose', '2026-03-13'),
  job('2', 'rose', '2026-04-13'),
  job('3', '', '2027-04-14', 'games'),
];

test.each([
  ['all, without a filter', {}, ['1', '2', '3']],
  ['by tag', { tag: 'rose' }, ['1', '2']],
  ['by tag, month and day', { tag: 'rose', month: '04', day: 13 }, ['2']],
  ['by a year of two digits', { year: 27 }, ['3']],
  ['by a year of four digits and the time', { year: 2026, hour: 16, minute: 5 }, ['1', '2']],
  ['by user', { runas: 'games' }, ['3']],
  ['by number', { jobid: 2 }, ['2']],
])('at.absent removes jobs: %s', async (_, filter, removed) => {
  const { made, calls } = hostWith({ 'at.atq': { jobs }, 'at.atrm': {} });
  expect(await made.test('at.absent', 'x', filter)).toMatchObject({
    result: null,
    changes: { removed },
  });
  expect(calls.map(([name]) => name)).toEqual(['at.atq']);
  expect(await made.state('at.absent', 'x', filter)).toMatchObject({ changes: { removed } });
  expect(calls.at(-1)).toEqual(['at.atrm', ...removed]);
});

test('at.absent has nothing to do where no job fits', async () => {
  const { made } = hostWith({ 'at.atq': { jobs } });
  expect(await made.state('at.absent', 'x', { tag: 'lily' })).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'removed 0 job(s)',
  });
});

test('at.watch adds its job when it is woken, and only then', async () => {
  const { made, calls } = hostWith({ 'at.at': { jobs: [job('4', 't', '2026-01-01')] } });
  const options = { job: 'true', tag: 't' };
  expect(await made.state('at.watch', 'later', { timespec: '02:00', ...options })).toMatchObject({
    result: true,
    changes: nothing,
  });
  expect(calls).toEqual([]);
  const woken = { sfun: 'watch', timespec: '02:00', ...options };
  expect(await made.state('at.mod_watch', 'later', woken)).toMatchObject({
    result: true,
    changes: { job: '4' },
  });
  expect(calls).toEqual([['at.at', '02:00', 'true', { tag: 't', runas: null }]]);
  expect(
    await made.state('at.watch', 'later', { timespec: '02:00', unique_tag: true }),
  ).toMatchObject({
    result: false,
    comment: 'no tag provided and unique_tag is set to True',
  });
});

test('an event carries grains and further arguments; environment and pillar stay out of the log', async () => {
  const { made, calls } = hostWith({ 'event.send': true }, { grains: { os: 'Debian', id: 'a' } });
  const options = { data: { x: 1 }, with_grains: ['os'], more: 'y' };
  expect(await made.state('event.fire_master', 'my/tag', options)).toMatchObject({
    result: true,
    changes: { tag: 'my/tag', data: { x: 1 } },
  });
  expect(calls).toEqual([
    ['event.send', 'my/tag', { data: { grains: { os: 'Debian' }, more: 'y', x: 1 } }],
  ]);
  for (const secret of ['with_pillar', 'with_env'])
    expect(await made.state('event.send', 'my/tag', { [secret]: true })).toMatchObject({
      result: false,
      comment: expect.stringContaining(`'${secret}' is not supported`),
    });
  expect(calls).toHaveLength(1);
});

test('debconf.set_file answers what is not answered so, and shows no password', async () => {
  const { made, calls } = hostWith({
    'debconf.get_answer': (_: string, question: string) =>
      question === 'postfix/mailname' ? { type: 'string', value: 'example.com' } : null,
    'debconf.set': true,
  });
  made.control.set(
    'answers',
    '# postfix\npostfix postfix/mailname string {{ mail }}\npostfix postfix/roots multiselect a, b\nmysql-server root/pw password s3cret\n',
  );
  const options = { template: 'liquid', context: { mail: 'example.com' } };
  const planned = await made.test('debconfmod.set_file', 'f', 'salt://answers', options);
  expect(planned).toMatchObject({
    result: null,
    comment: 'Debconf selections would have been set.',
  });
  expect(calls.filter(([name]) => name === 'debconf.set')).toEqual([]);
  const done = await made.state('debconfmod.set_file', 'f', 'salt://answers', options);
  expect(done).toMatchObject({
    result: true,
    changes: { 'postfix/roots': 'a, b', 'root/pw': '(password hidden)' },
    comment: 'Debconf selections were set.',
  });
  expect(calls.filter(([name]) => name === 'debconf.set')).toEqual([
    ['debconf.set', 'postfix', 'postfix/roots', 'multiselect', 'a, b'],
    ['debconf.set', 'mysql-server', 'root/pw', 'password', 's3cret'],
  ]);
  expect(await made.state('debconfmod.set_file', 'f', 'salt://none')).toMatchObject({
    result: false,
    comment: expect.stringContaining('not found'),
  });
});

test('the source of a file is rendered with Jinja, as in Salt', async () => {
  const { made } = hostWith({});
  made.control.set('part', 'port {{ port }}\n');
  const name = made.write('conf', 'first\n');
  const options = { source: 'salt://part', context: { port: 8080 } };
  expect(await made.state('file.append', name, options)).toMatchObject({ result: true });
  expect(made.file('conf')).toBe('first\nport 8080\n');
});

test('ssh_auth.manage lets the keys of a source log in as well', async () => {
  const user = userInfo().username;
  const { made } = hostWith({});
  const config = join(made.root, 'keys');
  const key = (letter: string): string => `AAAAC3NzaC1lZDI1NTE5AAAAI${letter.repeat(43)}`;
  made.control.set('team', `ssh-ed25519 ${key('B')} b@team\n`);
  made.write('keys', `ssh-ed25519 ${key('C')} gone\n`, 0o600);
  const run = () =>
    made.state('ssh_auth.manage', 'team', [`ssh-ed25519 ${key('A')} a@own`], user, {
      source: 'salt://team',
      config,
    });
  expect((await run()).result).toBe(true);
  expect(made.file('keys')).toBe(`ssh-ed25519 ${key('A')} a@own\nssh-ed25519 ${key('B')} b@team\n`);
  expect((await run()).changes).toEqual({});
});

test.each([
  ['file.shortcut', { target: '/srv' }, 'file.symlink'],
  ['network.routes', { routes: [] }, 'file.managed'],
])('%s is refused, and the way around it named', async (fun, options, instead) => {
  const { made } = hostWith({});
  for (const run of [made.test, made.state])
    expect(await run(fun, 'x', options)).toMatchObject({
      result: false,
      changes: nothing,
      comment: expect.stringContaining(instead),
    });
});
