import { expect, test } from 'vitest';
import { canRunApart, runApart } from '../../helpers/apart.ts';

const modules = {
  keyboard: 'src/modules/locale/exec/keyboard.ts',
  state: 'src/modules/locale/states/keyboard.ts',
};

test.skipIf(!canRunApart())('Debian keeps the layout in a file', async () => {
  const told = await runApart(
    modules,
    `import { readFileSync, writeFileSync } from 'node:fs';
    const file = '/etc/default/keyboard';
    writeFileSync(file, '# mine\\nXKBMODEL="pc105"\\nXKBLAYOUT="us"\\nXKBOPTIONS=""\\n');
    await thrice('set', () => state.system('de,fr'));
    told.file = readFileSync(file, 'utf8');
    await step('odd', () => state.system('de"; reboot'));
    writeFileSync(file, 'XKBMODEL="pc105"');
    await step('none', () => keyboard.get_sys());
    await step('added', () => keyboard.set_sys('us'));
    told.added = readFileSync(file, 'utf8');`,
  );
  expect(told).toMatchObject({
    'set told': { result: null, comment: 'System layout de,fr needs to be set' },
    set: {
      result: true,
      changes: { layout: 'de,fr' },
      comment: 'Set system keyboard layout de,fr',
    },
    'set again': { result: true, comment: 'System layout de,fr already set' },
    file: '# mine\nXKBMODEL="pc105"\nXKBLAYOUT="de,fr"\nXKBOPTIONS=""\n',
    odd: { result: false },
    none: '',
    added: 'XKBMODEL="pc105"\nXKBLAYOUT="us"\n',
  });
});

test.skipIf(!canRunApart())(
  'elsewhere the layout is set through systemd, and in X through setxkbmap',
  async () => {
    const told = await runApart(
      modules,
      `import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
    mkdirSync('/run/systemd/system', { recursive: true });
    mkdirSync('/run/bin');
    const program = (name, text) => {
      writeFileSync('/run/bin/' + name, '#!/bin/sh\\necho "' + name + ' $*" >> /run/said\\n' + text);
      chmodSync('/run/bin/' + name, 0o755);
    };
    program('localectl', 'printf "   System Locale: LANG=C.UTF-8\\\\n       VC Keymap: $(cat /run/keymap)\\\\n      X11 Layout: fr\\\\n"');
    program('setxkbmap', 'printf "rules:      evdev\\\\nmodel:      pc105\\\\nlayout:     us\\\\n"');
    writeFileSync('/run/keymap', '(unset)');
    process.env.PATH = '/run/bin:' + process.env.PATH;
    const suse = { ...context, grains: { ...context.grains, os_family: 'Suse' } };
    await step('unset', () => keyboard.get_sys(), suse);
    await step('set', () => state.system('de'), suse);
    writeFileSync('/run/keymap', 'de');
    await step('again', () => state.system('de'), suse);
    await step('x again', () => state.xorg('us'), suse);
    await step('x', () => state.xorg('gb'), suse);
    told.said = readFileSync('/run/said', 'utf8');`,
    );
    expect(told).toMatchObject({
      unset: '',
      set: { result: true, changes: { layout: 'de' } },
      again: { result: true, comment: 'System layout de already set' },
      'x again': { result: true, comment: 'XOrg layout us already set' },
      x: { result: true, comment: 'Set XOrg keyboard layout gb' },
    });
    expect((told.said as string).split('\n')).toEqual([
      'localectl status',
      'localectl status',
      'localectl set-keymap de',
      'localectl status',
      'setxkbmap -query',
      'setxkbmap -query',
      'setxkbmap gb',
      '',
    ]);
  },
);
