import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeText, encodeText } from '../../../src/modules/file/encode-text.ts';
import * as ini from '../../../src/modules/file/exec/ini_manage.ts';

const latin = fc.string({
  unit: fc.integer({ min: 0, max: 255 }).map(code => String.fromCharCode(code)),
});

it.each(['latin-1', 'utf-8', 'utf_16_le'])('%s text is read as it was written', encoding => {
  fc.assert(
    fc.property(latin, text => {
      fc.pre(!text.startsWith('\ufeff'));
      expect(decodeText(encodeText(text, encoding), encoding)).toBe(text);
    }),
  );
});

it('says what an encoding is not, and what it does not have', () => {
  expect(() => decodeText(Buffer.of(0xff, 0xfe, 0xfd))).toThrow("'utf-8' codec can't decode");
  expect(() => decodeText(Buffer.from('a'), 'utf-99')).toThrow('unknown encoding: utf-99');
});

it('an INI file keeps its encoding', async () => {
  const file = join(mkdtempSync(join(tmpdir(), 'tsalt-ini-')), 'app.ini');
  writeFileSync(file, Buffer.from('[main]\nname = Müller\n', 'latin1'));
  expect(await ini.get_option(file, 'main', 'name', '=', 'latin-1')).toBe('Müller');
  await ini.set_option(file, { main: { city: 'Köln' } }, '=', 'latin-1');
  expect(readFileSync(file, 'latin1')).toBe('[main]\nname = Müller\ncity = Köln\n');
});
