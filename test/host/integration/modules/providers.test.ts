import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { tsalt } from '../../../helpers/cli.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

const project = mkdtempSync(join(tmpdir(), 'providers-'));
afterAll(() => removeFolder(project));

const run = (providers: string, ...args: string[]) => {
  writeFileSync(join(project, 'tsalt.yaml'), `cachedir: cache\nproviders: ${providers}\n`);
  return tsalt(['--local', '--out', 'json', ...args], { cwd: project, env: { HOME: project } });
};

test("providers take the names of Salt's documents", { tags: 'slow' }, async () => {
  const { stdout, stderr } = await run(
    '{service: systemd, pkg: aptpkg, user: user, cmd: cmdmod}',
    'test.providers',
  );
  expect(stderr).toBe('');
  expect(JSON.parse(stdout).local).toMatchObject({ systemd_service: 'service', aptpkg: 'pkg' });
  const debian = await run('{service: debian_service, pkg: zypper}', 'test.provider', 'service');
  expect(JSON.parse(debian.stdout)).toEqual({ local: 'sysvinit_service' });
  const cmd = await run('{cmd: cmdmod}', 'cmd.run', 'echo hi');
  expect(JSON.parse(cmd.stdout)).toEqual({ local: 'hi' });
});

test('an unknown provider is refused with the names that there are', async () => {
  const { stdout, code } = await run('{service: sysetmd}', 'service.status', 'cron');
  expect(stdout).toContain("there is no provider 'sysetmd' of service; there are: ");
  expect(stdout).toContain('openrc_service, runit_service, systemd_service, sysvinit_service');
  expect(code).not.toBe(0);
});
