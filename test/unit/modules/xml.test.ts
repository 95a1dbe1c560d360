import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeHost } from '../../states/runner.ts';

const host = makeHost();
afterAll(() => host.remove());

const text = `<?xml version="1.0"?>
<!-- top -->
<root a="1" b="x &amp; y">
  text <b/>tail
  <e id="1">one</e>
  <e id="2">two<!-- c --> more<i>in</i> after</e>
  <e id="3"/>
  <s><e id="4">four &lt;&#228;</e><p><e>deep</e></p></s>
  <n xml:lang="de" c='q"q'><![CDATA[<raw> & ]]>x</n>
</root>
`;
const named = `<r xmlns="http://d" xmlns:p="http://p"><p:c p:k="v">t</p:c><c>u</c><d xmlns="">plain</d></r>`;

// The results of Salt 3006.9 (ElementTree).
test.each([
  ['.', '\n  text '],
  ['e', 'one'],
  ['s/e', 'four <ä'],
  ['s//p/e', 'deep'],
  ['//e', 'one'],
  [".//e[@id='2']", 'two more'],
  [".//e[@id!='1']", 'two more'],
  ['e[2]', 'two more'],
  ['e[last()]', null],
  ['e[last()-1]', 'two more'],
  ['s/..', '\n  text '],
  ["e[i='in']", 'two more'],
  ["e[.='one']", 'one'],
  ["e[.!='one']", 'two more'],
  [".//*[@id='4']", 'four <ä'],
  ['n', '<raw> & x'],
  ['b', null],
  ['e[9]', false],
  ['nope', false],
  ['', false],
])('the path %s finds what it finds in Salt', async (path, value) => {
  expect(await host.call('xml.get_value', host.write('a.xml', text), path)).toBe(value);
});

test('one of very many elements is found by its place', async () => {
  const path = host.write('many.xml', `<r>${'<e/>'.repeat(99_999)}<e>last</e></r>`);
  expect(await host.call('xml.get_value', path, 'e[last()]')).toBe('last');
  expect(await host.call('xml.get_value', path, './/e[100000]')).toBe('last');
});

test('names in namespaces are asked for by address', async () => {
  const path = host.write('ns.xml', named);
  expect(await host.call('xml.get_value', path, '{http://p}c')).toBe('t');
  expect(await host.call('xml.get_value', path, '{*}c')).toBe('t');
  expect(await host.call('xml.get_value', path, '{http://d}c')).toBe('u');
  expect(await host.call('xml.get_value', path, 'd')).toBe('plain');
  expect(await host.call('xml.get_value', path, 'c')).toBe(false);
  expect(await host.call('xml.get_attribute', path, '{*}c')).toEqual({ '{http://p}k': 'v' });
});

test('a value and an attribute are set, and all else stays as it was', async () => {
  const path = host.write('b.xml', text);
  expect(await host.call('xml.set_value', path, "e[@id='3']", '<&ä')).toBe(true);
  expect(await host.call('xml.set_value', path, "e[@id='2']", 'new')).toBe(true);
  expect(await host.call('xml.set_attribute', path, 's', 'k', '"1"')).toBe(true);
  expect(await host.call('xml.set_attribute', path, 'n', 'c', 'd')).toBe(true);
  const lang = '{http://www.w3.org/XML/1998/namespace}lang';
  expect(await host.call('xml.set_attribute', path, 'n', lang, 'fr')).toBe(true);
  expect(readFileSync(path, 'utf8')).toBe(
    text
      .replace('<e id="3"/>', '<e id="3">&lt;&amp;&#228;</e>')
      .replace('two<!-- c --> more', 'new')
      .replace('<s>', '<s k="&quot;1&quot;">')
      .replace(`xml:lang="de" c='q"q'`, 'xml:lang="fr" c="d"'),
  );
  expect(await host.call('xml.get_value', path, "e[@id='3']")).toBe('<&ä');
  expect(await host.call('xml.set_value', path, 'nope', 'x')).toBe(false);
  expect(await host.call('xml.set_attribute', path, 'nope', 'x', 'y')).toBe(false);
});

test('tabs and line ends of a value come back as they were', async () => {
  const path = host.write('lines.xml', '<a/>');
  const value = ' a\tb\r\nc\rd\n';
  expect(await host.call('xml.set_attribute', path, '.', 'k', value)).toBe(true);
  expect(await host.call('xml.get_attribute', path, '.')).toEqual({ k: value });
  expect(await host.call('xml.set_value', path, '.', value)).toBe(true);
  expect(await host.call('xml.get_value', path, '.')).toBe(value);
});

test.each([
  ['<a>&#1114112;</a>', 'line 1: &#1114112; is no character'],
  ['<a k="&#xD800;"/>', 'line 1: &#xD800; is no character'],
  ['<a>&LT;</a>', 'line 1: &LT; is not known'],
  ['<a><b></a>', 'line 1: </a> closes nothing that is open'],
  ['<a/>\n<b/>', 'line 2: a second root element'],
  ['<a>&nbsp;</a>', 'line 1: &nbsp; is not known'],
  ['<a><b/>', '<a> is not closed'],
  ['', 'there is no element'],
  ['<p:a/>', 'line 1: prefix p has no namespace'],
])('%j is refused, with the place', async (broken, why) => {
  const path = host.write('broken.xml', broken);
  await expect(host.call('xml.get_value', path, '.')).rejects.toThrow(`${path}: ${why}`);
});

test('a path that is none, and a file that is not there, are named', async () => {
  const path = host.write('a.xml', text);
  for (const wrong of ['e[0]', 'e[', 'e[@]', 'e[foo()]', "e[@id='1"])
    await expect(host.call('xml.get_value', path, wrong)).rejects.toThrow(path);
  const none = join(host.root, 'none.xml');
  await expect(host.call('xml.get_value', none, '.')).rejects.toThrow(`The file ${none} cannot be`);
  const latin = host.write('latin.xml', '<?xml version="1.0" encoding="latin1"?><a/>');
  await expect(host.call('xml.get_value', latin, '.')).rejects.toThrow('only UTF-8 is read');
});
