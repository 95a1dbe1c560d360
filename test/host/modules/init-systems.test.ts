import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canRunApart, runApart } from '../../helpers/apart.ts';

/** The results of a service provider for each step, with the real programs on a separate /etc. */
const inside = (
  provider: string,
  prepare: string,
  steps: string,
): Promise<Record<string, unknown>> =>
  runApart(
    { service: `src/modules/service/exec/${provider}.ts` },
    `import { spawn } from 'node:child_process';
    import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
    const script = (path, text) => { writeFileSync(path, text); chmodSync(path, 0o755); };
    ${prepare}
    ${steps}`,
  );

const canRun = canRunApart();
const missing = (...programs: string[]): boolean =>
  !canRun || !programs.every(one => existsSync(one));

const steps = `
  await step('there', () => service.available('tsalt'));
  await step('up before', () => service.status('tsalt'));
  await step('boot before', () => service.enabled('tsalt'));
  await step('enable', () => service.enable('tsalt'));
  await step('enable again', () => service.enable('tsalt'));
  await step('boot', () => service.enabled('tsalt'));
  await step('start', () => service.start('tsalt'));
  await step('start again', () => service.start('tsalt'));
  await step('up', () => service.status('tsalt'));
  await step('restart', () => service.restart('tsalt'));
  await step('stop', () => service.stop('tsalt'));
  await step('stop again', () => service.stop('tsalt'));
  await step('up after', () => service.status('tsalt'));
  await step('disable', () => service.disable('tsalt'));
  await step('disable again', () => service.disable('tsalt'));
  await step('boot after', () => service.enabled('tsalt'));
  await step('none', () => service.missing('tsalt-nope'));
  await step('start none', () => service.start('tsalt-nope'));`;

const expected = {
  there: true,
  'up before': false,
  'boot before': false,
  enable: true,
  'enable again': true,
  boot: true,
  start: true,
  'start again': true,
  up: true,
  restart: true,
  stop: true,
  'stop again': true,
  'up after': false,
  disable: true,
  'disable again': true,
  'boot after': false,
  none: true,
};

describe.skipIf(missing('/sbin/openrc-run', '/sbin/rc-update'))('OpenRC', () => {
  test('starts, stops and enables a service, each also when it is so already', {
    tags: 'slow',
    timeout: 300_000,
  }, async () => {
    const told = await inside(
      'openrc_service',
      `for (const state of ['daemons', 'exclusive', 'failed', 'inactive', 'options', 'started', 'starting', 'stopping', 'tmp'])
         mkdirSync('/run/openrc/' + state, { recursive: true });
       writeFileSync('/run/openrc/softlevel', 'default\\n');
       script('/etc/init.d/tsalt', '#!/sbin/openrc-run\\ncommand=/bin/sleep\\ncommand_args=600\\ncommand_background=yes\\npidfile=/run/tsalt.pid\\n');`,
      steps,
    );
    expect(told).toMatchObject(expected);
    expect(told['start none']).toMatch(/failed: .*does not exist/);
  });

  test('a service of another runlevel is disabled too', async () => {
    const told = await inside(
      'openrc_service',
      `for (const state of ['daemons', 'exclusive', 'failed', 'inactive', 'options', 'started', 'starting', 'stopping', 'tmp'])
         mkdirSync('/run/openrc/' + state, { recursive: true });
       writeFileSync('/run/openrc/softlevel', 'default\\n');
       script('/etc/init.d/tsalt', '#!/sbin/openrc-run\\n');
       const { spawnSync } = await import('node:child_process');
       told.added = spawnSync('rc-update', ['add', 'tsalt', 'sysinit']).status;`,
      `await step('boot', () => service.enabled('tsalt'));
       await step('disable', () => service.disable('tsalt'));
       await step('boot after', () => service.enabled('tsalt'));`,
    );
    expect(told).toEqual({ added: 0, boot: true, disable: true, 'boot after': false });
  }, 300_000);

  // The answers are those of Salt 3006.9's gentoo_service.
  test('runlevels are returned, checked, added and removed', async () => {
    const told = await inside(
      'openrc_service',
      `for (const state of ['daemons', 'exclusive', 'failed', 'inactive', 'options', 'started', 'starting', 'stopping', 'tmp'])
         mkdirSync('/run/openrc/' + state, { recursive: true });
       writeFileSync('/run/openrc/softlevel', 'default\\n');
       script('/etc/init.d/tsalt', '#!/sbin/openrc-run\\n');`,
      `await step('enable', () => service.enable('tsalt', { runlevels: ['boot', 'default'] }));
       await step('levels', async () => (await service.get_enabled()).tsalt);
       await step('all', async () => (await service.get_all()).tsalt);
       await step('in both', () => service.enabled('tsalt', { runlevels: ['boot', 'default'] }));
       await step('in another', () => service.enabled('tsalt', { runlevels: 'sysinit' }));
       await step('one only', () => service.enable('tsalt', { runlevels: 'boot' }));
       await step('levels then', async () => (await service.get_enabled()).tsalt);
       await step('not there', () => service.disable('tsalt', { runlevels: 'sysinit' }));
       await step('disable', () => service.disable('tsalt', { runlevels: 'boot' }));
       await step('levels last', async () => (await service.get_all()).tsalt);
       await step('start', () => service.start('tsalt'));
       await step('globs', () => service.status('tsal*'));
       await step('zap', () => service.zap('tsalt'));
       await step('up', () => service.status('tsalt'));`,
    );
    expect(told).toEqual({
      enable: true,
      levels: ['boot', 'default'],
      all: ['boot', 'default'],
      'in both': true,
      'in another': false,
      'one only': true,
      'levels then': ['boot'],
      'not there': true,
      disable: true,
      'levels last': [],
      start: true,
      globs: { tsalt: true },
      zap: true,
      up: false,
    });
  }, 300_000);
});

describe.skipIf(missing('/usr/bin/runsvdir', '/usr/bin/sv'))('runit', () => {
  test('starts, stops and enables a service, each also when it is so already', async () => {
    const told = await inside(
      'runit_service',
      `for (const folder of ['/etc/sv/tsalt', '/etc/service']) mkdirSync(folder, { recursive: true });
       script('/etc/sv/tsalt/run', '#!/bin/sh\\nexec sleep 600\\n');
       told.watched = readdirSync('/etc/service');
       spawn('runsvdir', ['-P', '/etc/service'], { stdio: 'ignore' });`,
      steps,
    );
    expect(told).toMatchObject({ ...expected, watched: [] });
    expect(told['start none']).toMatch(/failed: .*unable to change to service directory/);
  }, 300_000);

  test('enabling does not start a service unless asked, and all about it can be seen', {
    tags: 'slow',
    timeout: 300_000,
  }, async () => {
    const told = await inside(
      'runit_service',
      `for (const folder of ['/etc/sv/tsalt', '/etc/sv/other', '/etc/service']) mkdirSync(folder, { recursive: true });
       for (const one of ['tsalt', 'other']) script('/etc/sv/' + one + '/run', '#!/bin/sh\\nexec sleep 600\\n');
       spawn('runsvdir', ['-P', '/etc/service'], { stdio: 'ignore' });`,
      `await step('enable', () => service.enable('tsalt'));
       await step('up', () => service.status('tsalt'));
       await step('shown', () => service.show('tsalt'));
       await step('enable other', () => service.enable('other', { start: true }));
       for (let turn = 0; turn < 300 && !(await within(context, () => service.status('other'))); turn += 1)
         await new Promise(resolve => setTimeout(resolve, 100));
       await step('other up', () => service.status('other'));
       await step('globs', () => service.status('ot*'));
       await step('places', () => service.get_svc_avail_path());
       await step('remove', () => service.remove('other'));
       await step('remove again', () => service.remove('other'));
       await step('shown none', () => service.show('nope'));`,
    );
    expect(told).toMatchObject({
      enable: true,
      up: false,
      shown: {
        available: true,
        enabled: true,
        disabled: false,
        running: false,
        autostart: true,
        service_path: '/etc/sv/tsalt',
        command_path: '/etc/sv/tsalt/run',
      },
      'enable other': true,
      'other up': true,
      globs: { other: true },
      places: ['/etc/sv'],
      remove: true,
      'remove again': false,
      'shown none': { available: false, enabled: false, service_path: null },
    });
  });
});

describe.skipIf(missing('/usr/sbin/update-rc.d', '/usr/sbin/service'))('SysV init', () => {
  test('starts, stops and enables a service, each also when it is so already', async () => {
    const header = [
      'Provides: tsalt',
      'Required-Start:',
      'Required-Stop:',
      'Default-Start: 2 3 4 5',
    ]
      .concat(['Default-Stop: 0 1 6', 'Short-Description: a test'])
      .map(line => `# ${line}\\n`)
      .join('');
    const told = await inside(
      'sysvinit_service',
      `script('/etc/init.d/tsalt', '#!/bin/sh\\n### BEGIN INIT INFO\\n${header}### END INIT INFO\\ncase $1 in start|restart) : >/run/tsalt;; stop) rm -f /run/tsalt;; status) [ -e /run/tsalt ] || exit 3;; esac\\n');`,
      steps,
    );
    expect(told).toMatchObject(expected);
    expect(told['start none']).toMatch(/failed: .*unrecognized service/);
  }, 300_000);
});
