import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

// The kernel of most test machines has no quotas: these are the programs' own words.
let host: TestHost;
const programs = notedPrograms();
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

const report = `*** Report for user quotas on device /dev/loop0
Block grace time: 7days; Inode grace time: 6days
                        Block limits                File limits
User            used    soft    hard  grace    used  soft  hard  grace
----------------------------------------------------------------------
root      --      20       0       0      0       2     0     0      0
larry     +-     120     100     200 1732280000       3    10    20      0

Statistics:
Total blocks: 7
`;

test('quotas are read, and limits that are not given stay', async () => {
  programs.program('repquota', `cat <<'E'\n${report}E`);
  programs.program(
    'setquota',
    'case "$*" in *nobody*) echo "setquota: user nobody does not exist." >&2; exit 1;; esac',
  );
  const users = {
    'Block Grace Time': ['7days'],
    'Inode Grace Time': ['6days'],
    Users: {
      root: expect.objectContaining({ 'block-used': '20', 'file-grace': '0' }),
      larry: {
        'block-used': '120',
        'block-soft-limit': '100',
        'block-hard-limit': '200',
        'block-grace': '1732280000',
        'file-used': '3',
        'file-soft-limit': '10',
        'file-hard-limit': '20',
        'file-grace': '0',
      },
    },
  };
  expect(await host.call('quota.report', '/q')).toEqual({
    '/q': {
      'User Quotas': users,
      'Group Quotas': expect.objectContaining({ Groups: users.Users }),
    },
  });
  const set = (options: Record<string, unknown>) => host.call('quota.set', '/q', options);
  expect(await set({ user: 'larry', 'block-soft-limit': 150 })).toEqual({
    'User: larry': {
      'block-soft-limit': 150,
      'block-hard-limit': 200,
      'file-soft-limit': 10,
      'file-hard-limit': 20,
    },
  });
  await set({ group: 'new', 'block-hard-limit': '10G' });
  await expect(set({ user: 'nobody' })).rejects.toThrow('user nobody does not exist');
  await expect(set({ user: 'a', group: 'b' })).rejects.toThrow('not both');
  await expect(set({})).rejects.toThrow('A valid user or group was not found');
  await expect(set({ user: 'larry', soft: 1 })).rejects.toThrow("'soft' is not one of block-soft");
  expect(programs.log().filter(line => line.startsWith('setquota'))).toEqual([
    'setquota -u -- larry 150 200 10 20 /q',
    'setquota -g -- new 0 10G 0 0 /q',
    'setquota -u -- nobody 0 0 0 0 /q',
  ]);
});

test('limits that are not given stay for a number and a name with blanks too', async () => {
  const limits = '     --      20       5       6      0       2     7     8      0';
  programs.program(
    'repquota',
    `case "$*" in
    *gone*) echo "repquota: Cannot open quotafile" >&2; exit 1;;
    *n*-u*) echo "----"; echo "#1000${limits}"; echo "1000${limits.replace('8', '9')}";;
    *) echo "----"; echo "domain users${limits}"; echo "1000${limits.replace('8', '9')}";;
    esac`,
  );
  programs.program('setquota', '');
  const set = (mount: string, options: Record<string, unknown>) =>
    host.call('quota.set', mount, options);
  const kept = {
    'block-soft-limit': 1,
    'block-hard-limit': 6,
    'file-soft-limit': 7,
    'file-hard-limit': 8,
  };
  const changed = { 'block-soft-limit': 1 };
  expect(await set('/q', { user: '1000', ...changed })).toEqual({ 'User: 1000': kept });
  expect(await set('/q', { group: 'domain users', ...changed })).toEqual({
    'Group: domain users': kept,
  });
  await expect(set('/gone', { user: 'larry', ...changed })).rejects.toThrow(
    'Cannot open quotafile',
  );
  expect(programs.log().filter(line => line.startsWith('setquota'))).toEqual([
    'setquota -u -- 1000 1 6 7 8 /q',
    'setquota -g -- domain users 1 6 7 8 /q',
  ]);
});

test('quotas are switched once, also when one kind of them is not there', async () => {
  const at = `${programs.folder()}/mode`;
  programs.program('setquota', '');
  programs.program(
    'quotaon',
    `case "$*" in
    *none*) echo "quotaon: Mountpoint (or device) /none not found or has no quota enabled." >&2; exit 1;;
    *gone*) echo "quotaon: Cannot stat() given mountpoint /gone: No such file or directory" >&2; exit 1;;
    -p*) echo "group quota on /q (/dev/loop0) is off"; echo "user quota on /q (/dev/loop0) is $(cat ${at} || echo off)"; exit 1;;
    *) echo on >${at}; echo "quotaon: cannot find group quota file" >&2; exit 1;;
    esac`,
  );
  programs.program('quotaoff', `case "$*" in *stuck*) ;; *) echo off >${at};; esac`);
  expect(await host.call('quota.get_mode', '/q')).toEqual({
    '/q': { device: '/dev/loop0', group: 'off', user: 'off' },
  });
  expect(await host.call('quota.get_mode', '/none')).toEqual({ '/none': 'disabled' });
  expect(await host.call('quota.get_mode', '/gone')).toEqual({ '/gone': 'Not found' });
  const on = { mode: true, quotatype: 'user' };
  expect(await host.test('quota.mode', '/q', on)).toEqual({
    name: '/q',
    result: null,
    changes: { quota: '/q' },
    comment: 'Quota for /q needs to be set to on',
  });
  expect(await host.state('quota.mode', '/q', on)).toEqual({
    name: '/q',
    result: true,
    changes: { quota: '/q' },
    comment: 'Set quota for /q to on',
  });
  expect(await host.state('quota.mode', '/q', on)).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'Quota for /q already set to on',
  });
  expect(await host.state('quota.mode', '/q', { ...on, quotatype: 'group' })).toMatchObject({
    result: false,
    comment: expect.stringContaining('Failed to set quota for /q to on'),
  });
  expect(await host.state('quota.mode', '/q', { ...on, mode: false })).toMatchObject({
    result: true,
    comment: 'Set quota for /q to off',
  });
  expect(await host.state('quota.mode', '/none', on)).toMatchObject({
    result: false,
    comment: expect.stringContaining('There are no user quotas on /none'),
  });
  await expect(host.call('quota.on', '/q')).rejects.toThrow('cannot find group quota file');
});

test('the counters of the kernel are read', async () => {
  programs.program(
    'quotastats',
    'echo "Kernel quota version: 6.5.1"; echo "Number of dquot lookups: 12"',
  );
  expect(await host.call('quota.stats')).toEqual({
    'Kernel quota version': '6.5.1',
    'Number of dquot lookups': '12',
  });
});
