import { afterEach, beforeEach, expect, test } from 'vitest';
import { nothing } from '../../helpers/nothing.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
const programs = notedPrograms();
beforeEach(() => {
  host = makeHost();
  const at = `${programs.folder()}/profile`;
  programs.program(
    'tuned-adm',
    `case "$1" in
    list) printf 'Available profiles:\\n- balanced       - General profile\\n- powersave\\n- virtual  - Inside a guest\\n- virtual-guest - Inside a guest\\nCurrent active profile: balanced\\n\\n** COLLECTED WARNINGS **\\n- odd\\n';;
    active) if [ -e ${at} ]; then echo "Current active profile: $(cat ${at})"; else echo 'No current active profile.'; exit 1; fi;;
    profile) shift; [ "$*" != powersave ] && echo "$*" >${at};;
    off) rm -f ${at};;
    esac`,
  );
});
afterEach(() => host.remove());

test('a profile is used once, and one whose name begins alike is another one', async () => {
  expect(await host.call('tuned.list')).toEqual([
    'balanced',
    'powersave',
    'virtual',
    'virtual-guest',
  ]);
  expect(await host.call('tuned.active')).toBe('none');
  const name = 'virtual-guest';
  expect(await host.test('tuned.profile', name)).toEqual({
    name,
    result: null,
    changes: { old: 'none', new: 'Profile will be set to virtual-guest' },
    comment: 'The state of "none" will be changed.',
  });
  expect(await host.state('tuned.profile', name)).toEqual({
    name,
    result: true,
    changes: { old: 'none', new: name },
    comment: 'The state of "virtual-guest" was changed!',
  });
  expect(await host.state('tuned.profile', name)).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'System already in the correct state',
  });
  expect(await host.state('tuned.profile', 'virtual')).toMatchObject({
    changes: { old: name, new: 'virtual' },
  });
  expect(await host.state('tuned.profile', 'balanced  virtual')).toMatchObject({ result: true });
  expect(await host.state('tuned.profile', 'balanced virtual')).toMatchObject({ changes: nothing });
  expect(await host.state('tuned.profile', 'odd')).toMatchObject({
    result: false,
    comment: 'Invalid Profile Name',
  });
  expect(await host.state('tuned.profile', 'powersave')).toMatchObject({
    result: false,
    changes: nothing,
  });
  expect(await host.call('tuned.profile', 'powersave')).toBe(false);
});

test('tuned is switched off once', async () => {
  await host.call('tuned.profile', 'balanced');
  const changes = { old: 'balanced', new: 'off' };
  expect(await host.test('tuned.off', 'x')).toMatchObject({
    result: null,
    changes: { old: 'balanced', new: 'Profile will be set to off' },
  });
  expect(await host.state('tuned.off', 'x')).toMatchObject({ result: true, changes });
  expect(await host.state('tuned.off', 'x')).toMatchObject({
    result: true,
    changes: nothing,
    comment: 'System already in the correct state',
  });
  expect(await host.call('tuned.off')).toBe(true);
});
