import { spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hasProcess, listProcesses } from '../../../src/modules/_shared/commands/processes.ts';
import * as launchctl from '../../../src/modules/service/exec/launchctl_service.ts';
import * as openrc from '../../../src/modules/service/exec/openrc_service.ts';
import * as actions from '../../../src/modules/service/exec/systemd_service/actions.ts';
import * as boot from '../../../src/modules/service/exec/systemd_service/boot.ts';
import * as masks from '../../../src/modules/service/exec/systemd_service/masks.ts';
import * as status from '../../../src/modules/service/exec/systemd_service/status.ts';
import * as sysvinit from '../../../src/modules/service/exec/sysvinit_service.ts';
import { dead } from '../../../src/modules/service/states/service/dead.ts';
import { mod_watch } from '../../../src/modules/service/states/service/mod_watch.ts';
import { running } from '../../../src/modules/service/states/service/running.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';
import { notedPrograms } from '../../modules/_programs.ts';

const state = { dead, mod_watch, running };
const { folder, program, log } = notedPrograms();

/** A systemctl that keeps one unit's state in files, as much as the provider asks of it. */
const fakeSystemd = (): void =>
  program(
    'systemctl',
    `cd ${folder()}
case "$1" in
show) [ -f known ] && echo LoadState=loaded || echo LoadState=not-found
  [ -f up ] && echo ActiveState=active || echo ActiveState=inactive
  [ -f boot ] && echo UnitFileState=enabled || echo UnitFileState=disabled
  echo NeedDaemonReload=no;;
start) touch up;; stop) rm -f up;; enable) touch boot;; disable) rm -f boot;;
esac`,
  );

const context = () =>
  contextOf(
    { service: { ...actions, ...boot, ...masks, ...status } },
    { grains: { init: 'systemd' } },
  );

test('a service is started and enabled once', async () => {
  fakeSystemd();
  writeFileSync(join(folder(), 'known'), '');
  const run = context();
  // The run's own service.offline looks for /run/systemd; this one is online.
  const online = { ...run, salt: { ...run.salt, 'service.offline': async () => false } };
  expect(await within(online, () => state.running('web', { enable: true }))).toEqual({
    name: 'web',
    changes: { web: true },
    result: true,
    comment: 'Service web has been enabled, and is running',
  });
  const before = log().length;
  expect(await within(online, () => state.running('web', { enable: true }))).toEqual({
    name: 'web',
    changes: {},
    result: true,
    comment: 'The service web is already running',
  });
  expect(log().length - before).toBeLessThanOrEqual(1);
  expect(await within(testing(online), () => state.dead('web'))).toMatchObject({
    result: null,
    comment: 'Service web is set to be killed',
  });
  expect(
    await within(online, () => state.mod_watch('web', { sfun: 'running', reload: true })),
  ).toEqual({
    name: 'web',
    changes: { web: true },
    result: true,
    comment: 'Service reloaded',
  });
  expect(log().at(-1)).toBe('systemctl reload -- web.service');
  expect(await within(online, () => state.dead('web', { enable: false }))).toMatchObject({
    changes: { web: true },
    comment: 'Service web has been disabled, and is dead',
  });
});

test('a service that is not there is an error, or a guess in test mode', async () => {
  fakeSystemd();
  const run = context();
  const online = { ...run, salt: { ...run.salt, 'service.offline': async () => false } };
  expect(await within(online, () => state.running('nope'))).toMatchObject({
    result: false,
    comment: 'The named service nope is not available',
  });
  expect(await within(online, () => state.dead('nope'))).toMatchObject({ result: true });
  expect(await within(testing(online), () => state.running('nope'))).toMatchObject({
    result: null,
    comment: 'Service nope not present; if created in this state run, it would have been started',
  });
  expect(await within(online, () => state.running('web', { enabled: true }))).toMatchObject({
    result: false,
    comment:
      'Service web uses non-existent option "enabled".  Perhaps "enable" option was intended?',
  });
});

test('a service that does not start is reported with the end of its journal', async () => {
  program(
    'systemctl',
    'case "$1" in show) echo LoadState=loaded; echo NeedDaemonReload=no;; *) echo "Job failed. See journalctl." >&2; exit 1;; esac',
  );
  program('journalctl', 'echo "web[7]: cannot bind to port 80"');
  await expect(within(context(), () => actions.start('web'))).rejects.toThrow(
    'Job failed. See journalctl.\nIts journal ends:\nweb[7]: cannot bind to port 80',
  );
  expect(log().at(-1)).toBe('journalctl --unit web.service --lines 10 --no-pager --quiet');
  await expect(within(context(), () => actions.stop('web'))).rejects.toThrow(/journalctl\.$/);
});

test('OpenRC says why a service does not start', async () => {
  program('rc-service', 'echo " * rc-service: service x does not exist" >&2; exit 1');
  await expect(within(context(), () => openrc.start('x'))).rejects.toThrow('does not exist');
  expect(log()).toEqual(['rc-service x start']);
});

test('services that launchd has switched off are read in both forms', () => {
  expect(
    launchctl._parseDisabled(
      'disabled services = {\n\t"com.a.b" => disabled\n\t"com.c.d" => enabled\n\t"com.e" => true\n}',
    ),
  ).toEqual(['com.a.b', 'com.e']);
});

test('launchd reports what runs and what is loaded, and executes commands', async () => {
  // As macOS prints it.
  program(
    'launchctl',
    `case "$1 $2" in
'list ') printf 'PID\\tStatus\\tLabel\\n-\\t0\\tcom.a.idle\\n338\\t0\\tcom.a.tool\\n';;
'list com.a.tool') printf '{\\n\\t"Label" = "com.a.tool";\\n\\t"PID" = 338;\\n};\\n';;
'print system/com.a.tool') printf 'system/com.a.tool = {\\n\\tstate = running\\n\\tpid = 338\\n}\\n';;
'print system/com.a.idle') printf 'system/com.a.idle = {\\n\\tstate = not running\\n}\\n';;
'kickstart system/com.a.tool') echo started;;
'bootout system/com.a.none') echo 'Boot-out failed: 3: No such process' >&2; exit 3;;
*) echo "Could not find service \\"$2\\" in domain for system" >&2; exit 113;;
esac`,
  );
  const on = <T>(work: () => Promise<T>): Promise<T> => within(context(), work);
  expect(await on(() => launchctl.list_())).toBe(
    'PID\tStatus\tLabel\n-\t0\tcom.a.idle\n338\t0\tcom.a.tool',
  );
  expect(await on(() => launchctl.list_('com.a.tool'))).toContain('"PID" = 338;');
  await expect(on(() => launchctl.list_('com.none'))).rejects.toThrow(
    'Failed to list service com.none: Could not find service "com.none" in domain for system',
  );
  expect(await on(() => launchctl.loaded('com.a.tool'))).toBe(true);
  expect(await on(() => launchctl.loaded('com.none'))).toBe(false);
  expect(await on(() => launchctl.status('com.a.tool'))).toBe(true);
  expect(await on(() => launchctl.status('com.a.idle'))).toBe(false);
  const tool = 'system/com.a.tool';
  expect(await on(() => launchctl.launchctl('kickstart', {}, tool))).toBe(true);
  expect(await on(() => launchctl.launchctl('kickstart', { return_stdout: true }, tool))).toBe(
    'started\n',
  );
  await expect(on(() => launchctl.launchctl('bootout', {}, 'system/com.a.none'))).rejects.toThrow(
    'Failed to bootout service: Boot-out failed: 3: No such process',
  );
  expect(log().at(-1)).toBe('launchctl bootout system/com.a.none');
});

test('processes are found by their command line, this one never', async () => {
  const child = spawn('sleep', ['31.4159']);
  try {
    await new Promise(resolve => child.once('spawn', resolve));
    expect(await hasProcess('sleep 31.4159')).toBe(true);
    expect(await hasProcess('sleep 27.1828')).toBe(false);
    const me = (await listProcesses()).find(one => one.pid === process.pid);
    expect(me?.uid).toBe(process.getuid?.());
  } finally {
    child.kill();
  }
});

test.skipIf(!existsSync('/etc/init.d'))(
  'init scripts serve where no other init system runs, as in a container',
  async () => {
    const virtual = (init: string) =>
      within(contextOf({}, { grains: { init } }), async () => sysvinit.__virtual__());

    expect(await virtual('sysvinit')).toBe('service');
    expect(await virtual('unknown')).toBe('service');
    expect(await virtual('tini')).toBe('service');
    expect(await virtual('systemd')).toEqual([false, expect.stringContaining('SysV')]);
    expect(await virtual('openrc')).toEqual([false, expect.stringContaining('SysV')]);
  },
);
