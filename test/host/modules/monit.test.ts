import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { notedPrograms } from '../../modules/_programs.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

test.skipIf(which('monit') === undefined || !canRunApart())(
  'the real monit watches a service, and does not, once each',
  { timeout: 240_000 },
  async () => {
    const told = await runApart(
      { monit: 'src/modules/monit/exec/monit.ts', state: 'src/modules/monit/states/monit.ts' },
      `import { execFileSync } from 'node:child_process';
      import { chmodSync, writeFileSync } from 'node:fs';
      const at = '/run/monit';
      const rc = ['set daemon 300', 'set httpd unixsocket ' + at + '.sock', '  allow root:root',
        'set pidfile ' + at + '.pid', 'set idfile ' + at + '.id', 'set statefile ' + at + '.state',
        'set logfile ' + at + '.log', 'check file passwd with path /etc/passwd', 'check system vm',
        'check file "two words" with path /etc/passwd',
        'check file a_service_with_a_name_longer_than_its_column with path /etc/passwd',
        'check file "-v" with path /etc/passwd'];
      writeFileSync('/etc/monit/monitrc', rc.join('\\n') + '\\n');
      chmodSync('/etc/monit/monitrc', 0o600);
      await step('down', () => state.monitor('passwd'));
      execFileSync('monit', [], { stdio: 'ignore' });
      const settled = async wanted => {
        for (let turn = 0; turn < 600; turn += 1) {
          const found = await within(context, () => monit.summary('passwd'));
          if (found.File?.passwd === wanted) return found;
          await new Promise(resolve => setTimeout(resolve, 100));
        }
        return 'it is not ' + wanted;
      };
      await settled('OK');
      await step('summary', () => monit.summary());
      await step('status', () => monit.status('passwd'));
      await step('no status', () => monit.status('none'));
      await step('watched', () => state.monitor('passwd'));
      await step('off told', () => state.unmonitor('passwd'), { ...context, opts: { ...context.opts, test: true } });
      await step('still', () => settled('OK'));
      await step('off', () => state.unmonitor('passwd'));
      await step('settled', () => settled('Not monitored'));
      await step('off again', () => state.unmonitor('passwd'));
      await step('on', () => state.monitor('passwd'));
      await step('settled on', () => settled('OK'));
      for (const name of ['two words', 'a_service_with_a_name_longer_than_its_column', '-v']) {
        await step(name, () => state.monitor(name));
        await step('off ' + name, () => state.unmonitor(name));
      }
      await step('none', () => state.monitor('none'));
      await step('version', () => monit.version());
      await step('id', () => monit.id_());
      await step('good', () => monit.configtest());
      await step('reload', () => monit.reload_());
      execFileSync('monit', ['quit'], { stdio: 'ignore' });
      await step('new id', () => monit.id_(true));
      writeFileSync('/etc/monit/monitrc', 'odd\\n');
      await step('bad', () => monit.configtest());`,
    );
    const fine = { result: true, changes: {} };
    expect(told).toMatchObject({
      down: { result: false, comment: 'The monit daemon is not running.' },
      summary: {
        System: { vm: 'OK' },
        File: {
          passwd: 'OK',
          'two words': 'OK',
          a_service_with_a_name_longer_than_its_column: 'OK',
          '-v': 'OK',
        },
      },
      'two words': { ...fine, comment: 'two words is being being monitored.' },
      'off two words': { result: true, comment: 'two words stopped being monitored.' },
      a_service_with_a_name_longer_than_its_column: { result: true },
      'off a_service_with_a_name_longer_than_its_column': {
        result: true,
        changes: { a_service_with_a_name_longer_than_its_column: 'Not monitored' },
      },
      'off -v': { result: true, changes: { '-v': 'Not monitored' } },
      status: { File: 'passwd', status: 'OK', 'monitoring status': 'Monitored' },
      'no status': 'No such service',
      watched: { ...fine, comment: 'passwd is being being monitored.' },
      'off told': {
        result: null,
        changes: { passwd: 'Not monitored' },
        comment: 'Service passwd is set to be unmonitored.',
      },
      still: { File: { passwd: 'OK' } },
      off: {
        result: true,
        changes: { passwd: 'Not monitored' },
        comment: 'passwd stopped being monitored.',
      },
      settled: { File: { passwd: 'Not monitored' } },
      'off again': { ...fine, comment: 'passwd is not being monitored.' },
      on: {
        result: true,
        changes: { passwd: 'Running' },
        comment: 'passwd started to be monitored.',
      },
      'settled on': { File: { passwd: 'OK' } },
      none: { result: false, comment: 'none not found in configuration.' },
      version: expect.stringMatching(/^\d+\.\d+/),
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      'new id': expect.stringMatching(/^[0-9a-f]{32}$/),
      good: { comment: 'Syntax OK', result: true },
      reload: true,
      bad: { comment: 'Syntax Error', result: false, stderr: expect.stringContaining('odd') },
    });
    expect(told['off again']).toMatchObject({ changes: fine.changes });
    expect(told['new id']).not.toBe(told.id);
  },
);

let host: TestHost;
const programs = notedPrograms();
beforeEach(() => {
  host = makeHost();
});
afterEach(() => host.remove());

test('the summary of older versions is read', async () => {
  programs.program(
    'monit',
    `case "$*" in *summary) echo "The Monit daemon 5.16 uptime: 1m"; echo; echo "Process 'nginx'                     Running"; echo "System 'web1'                      Not monitored";; esac`,
  );
  expect(await host.call('monit.summary')).toEqual({
    Process: { nginx: 'Running' },
    System: { web1: 'Not monitored' },
  });
  expect(await host.call('monit.summary', 'nginx')).toEqual({ Process: { nginx: 'Running' } });
  for (const name of ['start', 'stop', 'restart', 'monitor', 'unmonitor'])
    expect(await host.call(`monit.${name}`, 'nginx')).toBe(true);
  expect(await host.call('monit.validate')).toBe(true);
  expect(programs.log().slice(2)).toEqual([
    'monit start -- nginx',
    'monit stop -- nginx',
    'monit restart -- nginx',
    'monit monitor -- nginx',
    'monit unmonitor -- nginx',
    'monit validate',
  ]);
});
