import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canRunApart, runApart } from '../../helpers/apart.ts';

const canRun =
  canRunApart() &&
  ['/usr/sbin/locale-gen', '/usr/share/i18n/SUPPORTED'].every(one => existsSync(one));

test.skipIf(!canRun)(
  'the real locale-gen makes a locale once; one that is none leaves nothing behind',
  { tags: 'slow', timeout: 300_000 },
  async () => {
    const told = await runApart(
      { locale: 'src/modules/locale/exec/locale.ts', state: 'src/modules/locale/states/locale.ts' },
      `import { readFileSync } from 'node:fs';
      const listed = () => readFileSync('/etc/locale.gen', 'utf8').split('\\n').filter(line => /^[^#\\s]/.test(line));
      told.before = listed();
      await step('wrong', () => state.present('xx_YY.UTF-8'));
      await step('wrong set', () => state.present('fo_FO.KOI8-R'));
      told.unchanged = listed();
      await step('made', () => state.present('fo_FO.UTF-8'));
      await step('again', () => state.present('fo_FO.utf8'));
      await step('euro', () => state.present('ga_IE@euro'));
      told.after = listed();`,
    );
    expect(told.wrong).toEqual({
      name: 'xx_YY.UTF-8',
      result: false,
      changes: {},
      comment: 'Failed to generate locale xx_YY.UTF-8',
    });
    expect(told['wrong set']).toMatchObject({ result: false });
    expect(told.unchanged).toEqual(told.before);
    expect(told.made).toEqual({
      name: 'fo_FO.UTF-8',
      result: true,
      changes: { locale: 'fo_FO.UTF-8' },
      comment: 'Generated locale fo_FO.UTF-8',
    });
    expect(told.again).toMatchObject({
      result: true,
      comment: 'Locale fo_FO.utf8 is already present',
    });
    expect(told.euro).toMatchObject({ result: true, changes: { locale: 'ga_IE@euro' } });
    expect(told.after).toEqual([
      ...(told.before as string[]),
      'fo_FO.UTF-8 UTF-8',
      'ga_IE@euro ISO-8859-15',
    ]);
  },
);

test.skipIf(!canRunApart())('the locale of the system is set wherever it stands', async () => {
  const told = await runApart(
    { locale: 'src/modules/locale/exec/locale.ts', state: 'src/modules/locale/states/locale.ts' },
    `import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
    const [conf, debian] = ['/etc/locale.conf', '/etc/default/locale'];
    const start = files => {
      for (const file of [conf, debian]) rmSync(file, { force: true });
      for (const [file, text] of Object.entries(files)) writeFileSync(file, text);
    };
    const now = () => [conf, debian].map(file => (existsSync(file) ? readFileSync(file, 'utf8') : null));
    const settle = async name => {
      await step(name, () => state.system('fo_FO.UTF-8'));
      await step(name + ' again', () => state.system('fo_FO.UTF-8'));
      told[name + ' files'] = now();
    };
    mkdirSync('/etc/default', { recursive: true });
    start({});
    await settle('none');
    start({ [conf]: 'LANG=C\\n', [debian]: '# x\\nLC_TIME=C\\nLANG="C"' });
    await settle('both');
    start({ [conf]: 'LANG=C\\n' });
    symlinkSync('../locale.conf', debian);
    await settle('link');
    told.isLink = lstatSync(debian).isSymbolicLink();
    await step('wrong', () => state.system('C; id'));`,
  );
  for (const name of ['none', 'both', 'link']) {
    expect(told[name], name).toMatchObject({
      result: true,
      changes: { locale: 'fo_FO.UTF-8' },
      comment: 'Set system locale fo_FO.UTF-8',
    });
    expect(told[`${name} again`], name).toMatchObject({
      result: true,
      changes: {},
      comment: 'System locale fo_FO.UTF-8 already set',
    });
  }
  const line = 'LANG=fo_FO.UTF-8\n';
  expect(told['none files']).toEqual([null, line]);
  expect(told['both files']).toEqual([line, `# x\nLC_TIME=C\n${line.trim()}`]);
  expect(told['link files']).toEqual([line, line]);
  expect(told.isLink).toBe(true);
  expect(told.wrong).toMatchObject({ result: false, changes: {} });
});
