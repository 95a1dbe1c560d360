import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as group from '../../../src/modules/user/exec/groupadd.ts';
import * as shadow from '../../../src/modules/user/exec/shadow.ts';
import * as change from '../../../src/modules/user/exec/useradd/change.ts';
import * as description from '../../../src/modules/user/exec/useradd/description.ts';
import * as read from '../../../src/modules/user/exec/useradd/read.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

const user = { ...read, ...change, ...description };
const run = <T>(work: () => Promise<T>): Promise<T> => within(contextOf({}), work);
let root: string;

const file = (name: string): string => readFileSync(join(root, 'etc', name), 'utf8');

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tsalt-root-'));
  mkdirSync(join(root, 'etc'));
  const texts = {
    passwd: 'root:x:0:0:root:/root:/bin/sh\nann:x:1500:1500:Ann,12,,,x:/home/ann:/bin/sh\n',
    group: 'root:x:0:\nann:x:1500:\nadm:x:4:ann\n',
    shadow: 'root:*:19000:0:99999:7:::\nann:$6$a$b:19000:0:99999:7:::\n',
    gshadow: 'root:*::\nann:!::\nadm:*::ann\n',
  };
  for (const [name, text] of Object.entries(texts))
    writeFileSync(join(root, 'etc', name), text, { mode: 0o600 });
});
afterEach(() => removeFolder(root));

test('accounts of another system are read from its own files', async () => {
  expect(await run(() => user.info('ann', root))).toMatchObject({
    uid: 1500,
    fullname: 'Ann',
    roomnumber: '12',
    other: 'x',
    groups: ['adm', 'ann'],
  });
  expect(await run(() => user.info('no-such-user', root))).toEqual({});
  expect(await run(() => user.list_users(root))).toEqual(['ann', 'root']);
  expect(await run(() => user.getent({ root }))).toHaveLength(2);
  expect(await run(() => group.info('adm', root))).toMatchObject({ gid: 4, members: ['ann'] });
  expect(await run(() => shadow.info('ann', root))).toMatchObject({ passwd: '$6$a$b', max: 99999 });
  expect(await run(() => shadow.list_users(root))).toEqual(['ann', 'root']);
  await expect(run(() => user.chloginclass('ann', 'staff'))).rejects.toThrow('are of BSD');
  await expect(
    run(() => shadow.set_password('ann', '$6$x$y', { use_usermod: true, root })),
  ).rejects.toThrow('"use_usermod"');
});

test.skipIf(process.getuid?.() !== 0 || !which('useradd'))(
  'accounts of another system are made and changed there, and nowhere else (needs root and the shadow suite)',
  async () => {
    const here = readFileSync('/etc/passwd', 'utf8');
    await run(() => group.add('ops', { gid: 1700, root }));
    const wish = {
      uid: 1600,
      gid: 1700,
      groups: ['adm'],
      createhome: false,
      fullname: 'Bob',
      root,
    };
    expect(await run(() => user.add('bob', wish))).toBe(true);
    expect(file('passwd')).toContain('bob:x:1600:1700:Bob:');
    expect(file('group')).toContain('adm:x:4:ann,bob');
    await run(() => user.chshell('bob', '/bin/zsh', root));
    await run(() => user.chfullname('bob', 'Robert', root));
    await run(() => user.chgroups('bob', 'ann', false, root));
    expect(file('passwd')).toMatch(/bob:x:1600:1700:Robert:.*:\/bin\/zsh/);
    expect(file('group')).toContain('adm:x:4:ann\n');
    expect(await run(() => shadow.set_maxdays('ann', 90, root))).toBe(true);
    expect(file('shadow')).toContain('ann:$6$a$b:19000:0:90:7:::');
    await run(() => group.deluser('adm', 'ann', root));
    expect(file('group')).toContain('adm:x:4:\n');
    await run(() => user.rename('bob', 'rob', root));
    await run(() => user.delete_('rob', { root }));
    await run(() => group.delete_('ops', root));
    expect(file('passwd')).not.toContain('1600');
    expect(file('group')).not.toContain('ops');
    expect(readFileSync('/etc/passwd', 'utf8')).toBe(here);
  },
);
