import { expect, test } from 'vitest';
import { site } from '../../../render/site.ts';

// Each pair is what Salt 3006.9 printed.
test.each([
  ["{{ '%.2f' % -0.0 }} {{ '%g' % -0.0 }} {{ '%e' % -0.0 }}", '-0.00 -0 -0.000000e+00'],
  ["{{ '{:n}'.format(-0.0) }} {{ '{:.3}'.format(-0.0) }}", '-0 -0.0'],
  ['{{ -0.0|round(1) }}', '-0.0'],
  ["{{ 'inf'|float|round }} {{ 'nan'|float|round(2) }}", 'inf nan'],
  [
    '{{ 1e22|filesizeformat }} {{ -1e22|filesizeformat }}',
    '10.0 ZB -10000000000000000000000 Bytes',
  ],
  ["{{ 'é'.encode('latin-1') }} {{ 'é'.encode('ascii', 'ignore') }}", "b'\\xe9' b''"],
  ["{{ 'é'.encode('ascii', 'replace') }} {{ 'é'.encode() }}", "b'?' b'\\xc3\\xa9'"],
  [
    "{{ 'añ😀b'[1:3] }} {{ 'abc'[-9:2] }} {{ 'abc'[2:1] }} {{ '  😀 x😀 '.strip() }}",
    'ñ😀 ab  😀 x😀',
  ],
])('%s', async (template, expected) => {
  expect(await site().text(template, 'jinja')).toBe(expected);
});

test.each([
  ["{{ 'x'|filesizeformat }}", "could not convert string to float: 'x'"],
  [
    '{{ none|filesizeformat }}',
    "float() argument must be a string or a real number, not 'NoneType'",
  ],
  ["{{ 'x'.encode('klingon') }}", 'unknown encoding: klingon'],
  ["{{ 'é'.encode('ascii') }}", "'ascii' codec can't encode character"],
])('%s fails as in Salt', async (template, reason) => {
  await expect(site().text(template, 'jinja')).rejects.toThrow(`Jinja error: ${reason}`);
});
