import { execFileSync } from 'node:child_process';
import { userInfo } from 'node:os';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { changedJob, isSameJob } from '../../../src/modules/cron/cron-job.ts';
import { type CronJob, parseCrontab, renderCrontab } from '../../../src/modules/cron/crontab.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';
import { runThreeTimes } from '../../states/three-runs.ts';

let host: TestHost;
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const key = 'AAAAC3NzaC1lZDI1NTE5AAAAIPZDGTdoJdHkPC0vAUXLZTkJPyM5aH6TBjmeEiEIU2f/';

test('host.present adds a name, sets the comment and cleans others', async () => {
  const file = host.write('hosts', '127.0.0.1\tlocalhost\n# kept\n10.0.0.9 db1 other\n');
  const here = makeHost({ opts: { 'hosts.file': file } });
  await runThreeTimes(
    { ...here, root: host.root, file: host.file },
    {
      title: '',
      fun: 'host.present',
      name: 'db1',
      args: ['10.0.0.1', { comment: 'the database', clean: true }],
      after: {
        hosts:
          '127.0.0.1\tlocalhost\n# kept\n10.0.0.9\t\tother\n10.0.0.1\t\tdb1\t\t# the database\n',
      },
    },
  );
  await runThreeTimes(
    { ...here, root: host.root, file: host.file },
    { title: '', fun: 'host.only', name: '10.0.0.9', args: [['a', 'b']] },
  );
  // A host whose comment changes is not reported as already present.
  expect(await here.test('host.present', 'db1', '10.0.0.1', { comment: 'new' })).toMatchObject({
    result: null,
    comment: 'Comment for 10.0.0.1 (new) would be added',
  });
  here.remove();
});

test('sysctl.present says in a test what Salt says of a parameter that is not there', async () => {
  const config = host.write('sysctl.conf', 'kernel.no_such = 1\n');
  const plan = (name: string) => host.test('sysctl.present', name, 2, { config });
  expect(await plan('kernel.no_such')).toMatchObject({
    result: null,
    comment: 'Sysctl option kernel.no_such would be changed to 2',
  });
  expect(await plan('kernel.neither')).toMatchObject({
    result: null,
    comment: 'Sysctl option kernel.neither set to be changed to 2',
  });
});

test('ssh_auth.present adds a key once and changes its options', async () => {
  const user = userInfo().username;
  const one = {
    title: '',
    fun: 'ssh_auth.present',
    name: `ssh-ed25519 ${key} anna@laptop`,
    args: [user, { config: `${host.root}/keys` }],
  };
  const added = await host.state(one.fun, one.name, ...one.args);
  expect(added).toMatchObject({
    changes: { [key]: 'New' },
    comment: `The authorized host key ${key} for user ${user} was added`,
  });
  expect(await host.state(one.fun, one.name, ...one.args)).toMatchObject({
    result: true,
    changes: nothing,
  });
  const name = `command="echo a,b",no-pty ssh-ed25519 ${key} anna@laptop`;
  expect(await host.test(one.fun, name, ...one.args)).toMatchObject({ result: null });
  expect(await host.state(one.fun, name, ...one.args)).toMatchObject({
    changes: { [key]: 'Updated' },
  });
  expect(host.file('keys')).toBe(`${name}\n`);
  expect(await host.state('ssh_auth.absent', name, ...one.args)).toMatchObject({
    changes: { [key]: 'Removed' },
  });
  expect(host.file('keys')).toBe('');
});

test('ssh_auth predicts keys of a user whom an earlier state will add, and fails without test mode', async () => {
  const user = 'nobody-here-yet';
  const name = `ssh-ed25519 ${key} anna@laptop`;
  const predicted = { result: null, changes: nothing };
  expect(await host.test('ssh_auth.present', name, user)).toMatchObject({
    ...predicted,
    comment: `Key ${key} for user ${user} is set to be added`,
  });
  expect(await host.test('ssh_auth.manage', 'all', [name], user)).toMatchObject(predicted);
  expect(await host.state('ssh_auth.present', name, user)).toMatchObject({
    result: false,
    comment: `User ${user} does not exist`,
  });
  expect(await host.state('ssh_auth.absent', name, user)).toMatchObject({
    result: true,
    comment: 'Key not present',
  });
  expect(await host.test('ssh_known_hosts.absent', 'old.example.com', { user })).toMatchObject({
    result: true,
    comment: 'Host is already absent',
  });
});

test('ssh_auth refuses text that is not a key', async () => {
  const options = { config: `${host.root}/keys` };
  expect(
    await host.state('ssh_auth.present', 'AAAA\nssh-rsa AAAA', userInfo().username, options),
  ).toMatchObject({
    result: false,
    comment: 'Invalid public ssh key, most likely has spaces or invalid syntax',
  });
});

test.each([
  [
    'AAAAB3NzaC1kc3M',
    'ssh-rsa',
    'Invalid public ssh key, most likely has spaces or invalid syntax',
  ],
  ['no!key==', 'ssh-rsa', 'Invalid public ssh key, most likely has spaces or invalid syntax'],
  [key, 'bogus', "Incorrect encryption key type 'bogus'."],
])('ssh_auth refuses the key %s of type %s, in test mode too', async (name, enc, comment) => {
  const options = { config: `${host.root}/keys`, enc };
  host.write('keys', `ssh-ed25519 ${key}\n`);
  for (const call of [host.test, host.state])
    expect(await call('ssh_auth.present', name, userInfo().username, options)).toMatchObject({
      result: false,
      changes: nothing,
      comment,
    });
  expect(host.file('keys')).toBe(`ssh-ed25519 ${key}\n`);
  const nowhere = { enc, config: `${host.root}/none` };
  expect(await host.test('ssh_auth.present', name, userInfo().username, nowhere)).toMatchObject({
    result: false,
    comment,
  });
});

test.each([
  ['ed25519', 'ssh-ed25519'],
  ['rsa', 'ssh-rsa'],
  ['e', 'ecdsa-sha2-nistp256'],
  ['sk-ssh-ed25519@openssh.com', 'sk-ssh-ed25519@openssh.com'],
])('ssh_auth takes %s for the type %s', async (enc, type) => {
  const options = { config: `${host.root}/keys`, enc };
  const call = () => host.state('ssh_auth.present', key, userInfo().username, options);
  expect(await call()).toMatchObject({ result: true, changes: { [key]: 'New' } });
  expect(host.file('keys')).toBe(`${type} ${key}\n`);
  expect(await call()).toMatchObject({ result: true, changes: nothing });
});

const crontab = `# by hand
0 1 * * * /usr/local/own
# Lines below here are managed by Salt, do not edit
MAILTO=ops@example.com
# nightly SALT_CRON_IDENTIFIER:backup
5 2 * * * /usr/local/backup --all
#DISABLED#*/5 * * * * /usr/local/poll
@reboot /usr/local/up
`;

test('a crontab keeps what others wrote and comes back as it was', () => {
  const tab = parseCrontab(crontab);
  expect(tab.pre).toEqual(['# by hand', '0 1 * * * /usr/local/own']);
  expect(
    tab.crons.map(({ cmd, identifier, comment, commented }) => [
      cmd,
      identifier,
      comment,
      commented,
    ]),
  ).toEqual([
    ['/usr/local/backup --all', 'backup', 'nightly', false],
    ['/usr/local/poll', null, null, true],
  ]);
  expect(tab.env).toEqual([{ name: 'MAILTO', value: 'ops@example.com' }]);
  expect(renderCrontab(tab)).toBe(crontab);
});

const job: CronJob = {
  minute: '5',
  hour: '2',
  daymonth: '*',
  month: 'jan',
  dayweek: '*',
  cmd: 'backup',
  identifier: 'backup',
  comment: 'nightly',
  commented: false,
};
const when = { minute: 5, hour: '2', daymonth: '*', month: 'JAN', dayweek: '*' };
const asItIs = { cmd: 'backup', comment: null, commented: false, identifier: 'backup', when };

test.each([
  ['case, numbers and a comment that is not given make no difference', asItIs, undefined],
  [
    'another time',
    { ...asItIs, when: { ...when, minute: 6 } },
    { minute: '6', comment: 'nightly' },
  ],
  ['a new comment', { ...asItIs, comment: 'weekly' }, { comment: 'weekly' }],
  ['an empty comment takes it away', { ...asItIs, comment: '' }, { comment: null }],
  ['another command', { ...asItIs, cmd: 'backup --all' }, { cmd: 'backup --all' }],
  ['commented out', { ...asItIs, commented: true }, { commented: true, comment: 'nightly' }],
  ['random leaves a time alone', { ...asItIs, when: { ...when, hour: 'random' } }, undefined],
  [
    'random picks where there is none',
    { ...asItIs, when: { ...when, dayweek: 'random' } },
    { dayweek: '3' },
  ],
  [
    'a special time',
    { ...asItIs, when: { spec: '@daily' } },
    { spec: '@daily', comment: 'nightly' },
  ],
] as const)('a job of a crontab: %s', (_, wanted, changed) => {
  const result = changedJob(job, wanted, () => '3');
  if (changed === undefined) expect(result).toBeUndefined();
  else expect(result).toMatchObject(changed);
});

test('an empty comment is none, so that a job without one stays', () => {
  const bare = { ...job, comment: null };
  expect(changedJob(bare, { ...asItIs, comment: '' }, () => '3')).toBeUndefined();
});

test('a special job that gets times loses its special one', () => {
  const { minute, hour, daymonth, month, dayweek, ...said } = job;
  const special = { ...said, spec: '@daily' };
  expect(changedJob(special, asItIs, () => '3')).toEqual(job);
  expect(changedJob(special, { ...asItIs, when: { spec: '@daily' } }, () => '3')).toBeUndefined();
});

test.each([
  ['backup', 'other', 'backup', true],
  ['backup', 'backup', 'other', false],
  ['backup', 'backup', null, false],
  [null, 'backup', 'anything', true],
  [null, 'backup', null, true],
  [null, 'other', 'backup', false],
])('a job with identifier %s is meant by command %s, identifier %s: %s', (own, cmd, id, is) => {
  expect(isSameJob({ ...job, identifier: own }, cmd, id)).toBe(is);
});

test.each([
  ['plain', 'plain'],
  ['two words', 'two words'],
  ['', '""'],
  ['"quoted"', '"quoted"'],
])('a variable of a crontab keeps its value: %s', (value, written) => {
  const empty = parseCrontab('');
  const text = renderCrontab({ ...empty, env: [{ name: 'A', value }] });
  expect(text).toContain(`A=${written}\n`);
  expect(parseCrontab(text).env).toEqual([{ name: 'A', value }]);
});

test('sysctl reports in test mode what a file and the kernel lack', async () => {
  const config = host.write('sysctl.conf', 'kernel.ostype = Linux\n');
  const same = await host.test('sysctl.present', 'kernel.ostype', 'Linux', { config });
  expect(same).toMatchObject({
    result: true,
    comment: 'Sysctl value kernel.ostype = Linux is already set',
  });
  const empty = host.write('empty.conf', '');
  const missing = await host.test('sysctl.present', 'kernel.ostype', 'Linux', { config: empty });
  expect(missing.result).toBe(null);
  await host.state('sysctl.present', 'kernel.ostype', 'Linux', { config: empty });
  expect(host.file('empty.conf')).toContain('kernel.ostype = Linux\n');
  const wrong = await host.state('sysctl.present', 'no.such.key', 1, { config });
  expect(wrong).toMatchObject({
    result: false,
    comment: 'Failed to set no.such.key to 1: sysctl no.such.key does not exist',
  });
});

test('ssh_known_hosts keeps a hashed host that ssh-keygen finds', async () => {
  const config = `${host.root}/known`;
  const options = { config, key, enc: 'ssh-ed25519', port: 2222 };
  expect(await host.test('ssh_known_hosts.present', 'db.example.com', options)).toMatchObject({
    result: null,
  });
  expect(await host.state('ssh_known_hosts.present', 'db.example.com', options)).toMatchObject({
    result: true,
    comment: `db.example.com's key saved to ${config} (key: ${key})`,
  });
  expect(await host.state('ssh_known_hosts.present', 'db.example.com', options)).toMatchObject({
    result: true,
    changes: nothing,
  });
  expect(host.file('known')).not.toContain('db.example.com');
  if (which('ssh-keygen'))
    expect(
      execFileSync('ssh-keygen', ['-F', '[db.example.com]:2222', '-f', config]).toString(),
    ).toContain(key);
  expect(
    await host.state('ssh_known_hosts.absent', 'db.example.com', { config, port: 2222 }),
  ).toMatchObject({ result: true });
  expect(host.file('known')).toBe('');
});

test('alias.present changes one alias and leaves comments and other lines alone', async () => {
  const before = '# mail\npostmaster: root\nroot:\tjoe@example.com   # on call\nroot: twice\n';
  const file = host.write('aliases', before);
  const here = makeHost({ opts: { 'aliases.file': file } });
  const runner = { ...here, root: host.root, file: host.file };
  const about = { title: '', fun: 'alias.present', name: 'root' };
  await runThreeTimes(runner, {
    ...about,
    args: [['a@example.com', '|/bin/true']],
    after: {
      aliases: '# mail\npostmaster: root\nroot: a@example.com, |/bin/true   # on call\n',
    },
  });
  await runThreeTimes(runner, {
    title: '',
    fun: 'alias.present',
    name: 'new',
    args: ['root'],
  });
  await runThreeTimes(runner, { title: '', fun: 'alias.absent', name: 'root', args: [] });
  expect(host.file('aliases')).toBe('# mail\npostmaster: root\nnew: root\n');
  expect(await here.state('alias.present', 'root', 'x\nroot: |evil')).toMatchObject({
    result: false,
    comment: expect.stringContaining('on one line'),
  });
  expect(host.file('aliases')).not.toContain('evil');
  here.remove();
});
