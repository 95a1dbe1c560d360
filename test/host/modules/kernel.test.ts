import { execFile, spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as kmod from '../../../src/modules/kernel/exec/kmod.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { notedPrograms } from '../../modules/_programs.ts';

const interfaceWithDot = 'ip link add tsalt.5 type veth peer name tsalt0';
const hasNetwork = spawnSync('unshare', ['-n', 'sh', '-c', interfaceWithDot]).status === 0;

test.skipIf(!hasNetwork)(
  'the name of a parameter may hold that of an interface with a dot',
  async () => {
    const file = resolve('src/modules/kernel/exec/sysctl.ts');
    const program = `import { assign, get } from ${JSON.stringify(file)};
    const told = [];
    for (const name of ['net.ipv4.conf.tsalt/5.rp_filter', 'net/ipv4/conf/tsalt.5/rp_filter']) {
      await assign(name, 2);
      told.push(await get('net/ipv4/conf/tsalt.5/rp_filter'), await get(name));
      await assign(name, 0);
    }
    console.log(told.join());`;
    const node = [process.execPath, '--import', 'tsx', '--input-type=module', '-e', '"$1"'];
    const words = [
      '-n',
      'sh',
      '-c',
      `${interfaceWithDot} && exec ${node.join(' ')}`,
      'sh',
      program,
    ];
    const said = await new Promise(done =>
      execFile('unshare', words, (_, stdout, stderr) => done(stdout || stderr)),
    );
    expect(said).toBe('2,2,2,2\n');
  },
);

describe('modules of the kernel', () => {
  const programs = notedPrograms();

  test('are loaded with their settings', async () => {
    programs.program('modprobe', 'true');
    await kmod.load('tsalt_bond mode=4 miimon=100');
    expect(programs.log()).toEqual(['modprobe tsalt_bond mode=4 miimon=100']);
    await expect(kmod.load('-r x')).rejects.toThrow('-r is not a valid name of a kernel module');
  });
});

test.skipIf(!canRunApart())('a module commented out for the boot is enabled again', async () => {
  const told = await runApart(
    { kmod: 'src/modules/kernel/exec/kmod.ts' },
    `import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    mkdirSync('/run/systemd/system', { recursive: true });
    mkdirSync('/run/bin');
    writeFileSync('/run/bin/modprobe', '#!/bin/sh\\n');
    chmodSync('/run/bin/modprobe', 0o755);
    process.env.PATH = '/run/bin:' + process.env.PATH;
    const file = '/etc/modules-load.d/salt_managed.conf';
    mkdirSync('/etc/modules-load.d', { recursive: true });
    writeFileSync(file, 'one\\n# tsalt_a\\ntwo\\n');
    await step('load', () => kmod.load('tsalt_a', true));
    told.file = readFileSync(file, 'utf8');
    await step('other', () => kmod.load('tsalt_b mode=4', true));
    await step('list', () => kmod.mod_list(true));
    told.both = readFileSync(file, 'utf8');`,
  );
  expect(told.load).toEqual(['tsalt_a']);
  expect(told.file).toBe('one\ntsalt_a\ntwo\n');
  expect(told.other).toEqual(['tsalt_b']);
  expect(told.list).toEqual(['one', 'tsalt_a', 'tsalt_b', 'two']);
  expect(told.both).toBe('one\ntsalt_a\ntwo\ntsalt_b mode=4\n');
});

test.skipIf(!canRunApart())('systemd sets the hardware clock where it runs', async () => {
  const told = await runApart(
    { timezone: 'src/modules/locale/exec/timezone.ts' },
    `import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    mkdirSync('/run/bin');
    await step('alone', () => timezone.set_hwclock('localtime'));
    await step('after', () => timezone.get_hwclock());
    mkdirSync('/run/systemd/system', { recursive: true });
    writeFileSync('/run/bin/timedatectl', '#!/bin/sh\\necho "$*" >> /run/said\\n[ "$2" = true ]\\n');
    chmodSync('/run/bin/timedatectl', 0o755);
    process.env.PATH = '/run/bin:' + process.env.PATH;
    await step('local', () => timezone.set_hwclock('localtime'));
    await step('utc', () => timezone.set_hwclock('UTC'));
    told.said = readFileSync('/run/said', 'utf8');`,
  );
  expect(told).toMatchObject({ alone: true, after: 'localtime', local: true, utc: false });
  expect(told.said).toBe('set-local-rtc true\nset-local-rtc false\n');
});
