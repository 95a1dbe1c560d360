import { expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { nothing } from '../../helpers/nothing.ts';

const why =
  which('apparmor_parser') === undefined || !canRunApart() ? ' (needs root and apparmor)' : '';

const text = `abi <abi/3.0>,
include <tunables/global>
profile demo /usr/bin/demo {
  include <abstractions/base>
  /etc/demo r,
}
profile demo//helper {
}
`;

const modules = {
  apparmor: 'src/modules/apparmor/exec/apparmor.ts',
  state: 'src/modules/apparmor/states/apparmor.ts',
};

const prepare = `import { execFileSync } from 'node:child_process';
  import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
  const file = '/etc/apparmor.d/usr.bin.demo';
  writeFileSync(file, ${JSON.stringify(text)});
  const links = () => ['disable', 'force-complain'].filter(
    one => existsSync('/etc/apparmor.d/' + one + '/usr.bin.demo'));`;

/** Most kernels of containers have no AppArmor: what it keeps is a file here, what loads it a script. */
const kernel = `execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/sys/kernel/security']);
  mkdirSync('/sys/kernel/security/apparmor');
  const loaded = '/sys/kernel/security/apparmor/profiles';
  writeFileSync(loaded, 'other (enforce)\\n');
  mkdirSync('/run/bin');
  writeFileSync('/run/bin/apparmor_parser', \`#!/bin/sh
echo "$*" >> /run/asked
case $1 in
  --replace) mode=enforce; [ "$2" = --Complain ] && mode=complain; sed -i '/^demo/d' \${loaded}
    printf 'demo (%s)\\\\ndemo//helper (%s)\\\\n' $mode $mode >> \${loaded} ;;
  --remove) sed -i '/^demo/d' \${loaded} ;;
  *) exec /usr/sbin/apparmor_parser "$@" ;;
esac
\`, { mode: 0o755 });
  process.env.PATH = '/run/bin:' + process.env.PATH;`;

test.skipIf(why)(
  `a profile is held to, told of and disabled, now and at boot${why}`,
  { timeout: 240_000 },
  async () => {
    const told = await runApart(
      modules,
      `${prepare}
      ${kernel}
      await step('enabled', () => apparmor.enabled());
      await step('names', () => apparmor.names('usr.bin.demo'));
      await step('mode', () => apparmor.mode(file));
      for (const mode of ['enforce', 'complain', 'disable', 'enforce']) {
        await thrice(mode, () => state.profile('usr.bin.demo', mode));
        told[mode + ' links'] = links();
        told[mode + ' loaded'] = readFileSync(loaded, 'utf8');
      }
      await step('watch', () => state.mod_watch('usr.bin.demo', { mode: 'enforce', sfun: 'profile' }));
      await step('none', () => state.profile('usr.bin.none'));
      await step('outside', () => state.profile('/etc/passwd'));
      await step('odd', () => state.profile('usr.bin.demo', 'off'));
      writeFileSync(file, 'profile demo {');
      await step('broken', () => state.profile('usr.bin.demo', 'complain'));
      told['broken links'] = links();
      writeFileSync(file, 'profile demo flags=(complain) {\\n}\\n');
      await step('flags', () => state.profile('usr.bin.demo'));
      await step('told of', () => apparmor.mode('usr.bin.demo'));
      told.asked = readFileSync('/run/asked', 'utf8').split('\\n').filter(line => /^--re/.test(line));`,
    );
    const mode = (boot: unknown, now: unknown) => ({ ...(boot ? { boot } : {}), now });
    const change = (old: string, wanted: string) => ({ old, new: wanted });
    expect(told).toMatchObject({
      enabled: true,
      names: ['demo', 'demo//helper'],
      mode: { boot: 'enforce', now: 'disable' },
      'complain told': {
        result: null,
        comment: 'usr.bin.demo would be set to mode complain',
        changes: mode(change('enforce', 'complain'), change('enforce', 'complain')),
      },
      complain: { result: true, comment: 'usr.bin.demo was set to mode complain' },
      'complain again': { result: true, changes: nothing },
      'complain links': ['force-complain'],
      'complain loaded': 'other (enforce)\ndemo (complain)\ndemo//helper (complain)\n',
      disable: { result: true },
      'disable again': { result: true, changes: nothing },
      'disable links': ['disable'],
      'disable loaded': 'other (enforce)\n',
      enforce: { changes: mode(change('disable', 'enforce'), change('disable', 'enforce')) },
      'enforce again': { result: true, changes: nothing },
      'enforce links': [],
      'enforce loaded': 'other (enforce)\ndemo (enforce)\ndemo//helper (enforce)\n',
      watch: { changes: { reloaded: true } },
      none: { result: false, comment: 'No such profile file: /etc/apparmor.d/usr.bin.none' },
      outside: { result: false, comment: 'No such profile file: /etc/passwd' },
      odd: {
        result: false,
        comment: "'off' is not a profile mode. Use one of: enforce, complain, disable",
      },
      broken: { result: false, comment: expect.stringContaining('syntax error') },
      'broken links': [],
      flags: { result: false, comment: expect.stringContaining('sets flags=(complain) itself') },
      'told of': { boot: 'complain', now: 'enforce' },
    });
    const file = '/etc/apparmor.d/usr.bin.demo';
    expect(told.asked).toEqual([
      `--replace ${file}`,
      `--replace --Complain ${file}`,
      '--remove',
      `--replace ${file}`,
      `--replace ${file}`,
    ]);
  },
);

test.skipIf(why)(
  `without AppArmor in the kernel it holds from the next boot with it${why}`,
  { timeout: 240_000 },
  async () => {
    const told = await runApart(
      modules,
      `${prepare}
      execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', '/sys/kernel/security']);
      await step('enabled', () => apparmor.enabled());
      await thrice('complain', () => state.profile(file, 'complain'));
      told.links = links();`,
    );
    expect(told).toMatchObject({
      enabled: false,
      complain: { changes: { boot: { old: 'enforce', new: 'complain' } } },
      'complain again': { result: true, changes: nothing },
      links: ['force-complain'],
    });
  },
);
