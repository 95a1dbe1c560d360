import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { canRunApart, runApart } from '../helpers/apart.ts';

/** What a provider of services says to each step, with the real programs on an /etc of their own. */
const inside = (
  provider: string,
  prepare: string,
  steps: string,
): Promise<Record<string, unknown>> =>
  runApart(
    { service: `src/modules/exec/${provider}.ts` },
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
  test('starts, stops and enables a service, each also when it is so already', async () => {
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
  }, 300_000);

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
