import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

// FreeBSD's own program cannot run here: this one prints what it prints, out of a file of settings.
let host: TestHost;
const programs = notedPrograms();
beforeEach(() => {
  host = makeHost();
  const at = `${programs.folder()}/rc`;
  programs.program(
    'sysrc',
    `touch ${at}
    for word do last=$word; done
    value() { sed -n "s/^$1=//p" ${at}; }
    case "$last" in
    -a) sed 's|=|: |; s|^|/etc/rc.conf: |' ${at};;
    *=*) name=\${last%%=*}; old=$(value $name); sed -i "/^$name=/d" ${at}; echo "$last" >>${at}
      echo "/etc/rc.conf: $name: $old -> \${last#*=}";;
    *) case " $* " in *' -x '*) sed -i "/^$last=/d" ${at}; exit 0;; esac
      if grep -q "^$last=" ${at}; then echo "/etc/rc.conf: $last: $(value $last)"
      elif [ $last = sshd_enable ]; then echo "/etc/defaults/rc.conf: sshd_enable: NO"
      else echo "sysrc: unknown variable '$last'" >&2; exit 1; fi;;
    esac`,
  );
});
afterEach(() => host.remove());

test('a setting is made once, whatever YAML made of its value', async () => {
  const managed = (value: unknown) => ['sysrc.managed', 'sshd_enable', value] as const;
  const old = { '/etc/defaults/rc.conf': { sshd_enable: 'NO' } };
  expect(await host.test(...managed(true))).toEqual({
    name: 'sshd_enable',
    result: null,
    changes: { old, new: 'sshd_enable = YES will be set.' },
    comment: 'The value of "sshd_enable" will be changed!',
  });
  expect(await host.state(...managed(true))).toMatchObject({
    result: true,
    changes: { old, new: { '/etc/rc.conf': { sshd_enable: 'YES' } } },
    comment: 'The value of "sshd_enable" was changed!',
  });
  expect(await host.state(...managed(true))).toMatchObject({
    changes: nothing,
    comment: 'sshd_enable is already set to the desired value.',
  });
  expect(await host.state('sysrc.managed', 'flags', '-p 22: x -> y')).toMatchObject({
    changes: { old: null, new: { '/etc/rc.conf': { flags: '-p 22: x -> y' } } },
  });
  expect(await host.call('sysrc.get', undefined, '/etc/rc.conf.local', 'www')).toEqual({
    '/etc/rc.conf': { sshd_enable: 'YES', flags: '-p 22: x -> y' },
  });
  expect(programs.log().at(-1)).toBe('sysrc -v -f /etc/rc.conf.local -j www -a');
});

test('a setting goes once, and a default is none', async () => {
  expect(await host.state('sysrc.absent', 'sshd_enable')).toMatchObject({ changes: nothing });
  await host.call('sysrc.set', 'sshd_enable', 'YES');
  const old = { '/etc/rc.conf': { sshd_enable: 'YES' } };
  expect(await host.test('sysrc.absent', 'sshd_enable')).toMatchObject({
    result: null,
    changes: { old, new: '"sshd_enable" will be removed.' },
  });
  expect(await host.state('sysrc.absent', 'sshd_enable')).toMatchObject({
    result: true,
    changes: { old, new: 'sshd_enable removed' },
  });
  expect(await host.state('sysrc.absent', 'sshd_enable')).toMatchObject({ changes: nothing });
  expect(await host.state('sysrc.absent', 'other')).toMatchObject({ changes: nothing });
});

test('an invalid value is refused', async () => {
  await expect(host.state('sysrc.managed', 'a', ['x'])).rejects.toThrow('a text, a number');
});

test('an invalid name of a setting is not passed as an option', async () => {
  for (const name of ['-x', 'a=b', 'a b', ''])
    await expect(host.call('sysrc.remove', name)).rejects.toThrow('not a valid name of a setting');
});
