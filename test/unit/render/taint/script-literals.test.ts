import { expect, test } from 'vitest';
import { taintedSite } from '../../../render/taint/site.ts';

const refused = expect.objectContaining({ code: 'render-tainted' });

test('mako: words of the template that a host sent as well stay code of the next engine', async () => {
  const { data } = taintedSite({ grains: { a: 'lo', b: 'slsutil', c: 'copying', d: 'hello' } });
  const text = [
    '#!mako|jinja|yaml',
    '<% const x = 1; %>',
    "a: {{ salt['slsutil.copying']('hello') }}",
    'b: ${x} hello',
  ].join('\n');
  expect(await data(text)).toEqual({ a: 'hello', b: '1 hello' });
});

test.each([
  'a: ${grains.os}',
  'a: x${grains.os}y\nb: hello',
  '<%def name="f()">${grains.os}</%def>a: ${await f()}',
  '<% const v = grains.os; %>a: ${v}',
  '<%block name="f">a: ${grains.os}\n</%block>',
])('mako: what a host sent is still found beside text of the template: %s', async text => {
  const { data } = taintedSite({ grains: { os: 'Debian\n    - user: root #' } });
  await expect(data(`#!mako|yaml\n${text}`)).rejects.toEqual(refused);
});

test('mako: a value of a host is found where the template has the same word', async () => {
  const { data } = taintedSite({ grains: { os: 'a: 1\nhello: 2' } });
  await expect(data('#!mako|yaml\nx: hello\n${grains.os}')).rejects.toEqual(refused);
});
