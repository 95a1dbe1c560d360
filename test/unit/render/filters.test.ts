import { expect, test } from 'vitest';
import { site } from '../../render/site.ts';

test.each([
  ["'yes' | to_bool", 'true'],
  ["'no' | to_bool", 'false'],
  ["'abcd' | regex_search: '^(.*)BC(.*)$', ignorecase: true", '["a", "d"]'],
  ["'abcd' | regex_match: 'b(.)'", ''],
  ["'lets replace spaces' | regex_replace: '\\\\s+', '__'", 'lets__replace__spaces'],
  ["'a1b2' | regex_replace: '(?P<l>[a-z])(\\\\d)', '\\\\2\\\\g<l>$&'", '1a$&2b$&'],
  ["'example' | uuid", '9ade8beb-355a-50d8-9011-1c99848a7719'],
  ["'a b' | quote", "'a b'"],
  ['"it\'s" | quote', `'it'"'"'s'`],
  ["'a,b,a' | split: ',' | unique", '["a", "b"]'],
  ["'1,3,2' | split: ',' | max", '3'],
  ['pillar.n | avg', '2.0'],
  ['pillar.n | union: pillar.m', '[1, 2, 3, 4]'],
  ['pillar.n | intersect: pillar.m', '[3]'],
  ['pillar.n | difference: pillar.m', '[1, 2]'],
  ['pillar.n | symmetric_difference: pillar.m', '[1, 2, 4]'],
  ['pillar.deep | flatten', '[1, 2, 3]'],
  ['pillar.deep | flatten: 1', '[1, 2, [3]]'],
  ["pillar.d | traverse: 'a:b:1'", '6'],
  ["pillar.d | traverse: 'a:x', 'none'", 'none'],
  ['pillar.d | yaml', '{a: {b: [5, 6]}}'],
  ['pillar.d | yaml: false', 'a:\n  b:\n  - 5\n  - 6'],
  ['pillar.d | json', '{"a": {"b": [5, 6]}}'],
  ["'<é>' | tojson", '"\\u003c\\u00e9\\u003e"'],
  ["'a\"b' | yaml_encode", '"a\\"b"'],
  ["'say \\\\ it' | yaml_dquote", '"say \\\\ it"'],
  ['"it\'s" | yaml_squote', "'it''s'"],
  ["'0644' | to_num", '644'],
  ["'1.0' | to_num", '1.0'],
  ["'x' | to_num", 'x'],
  ["'2KiB' | human_to_bytes", '2048'],
  ["'CamelsWillLoveThis!' | to_snake_case", 'camels_will_love_this!'],
  ["'snake_case_for_the_win' | to_camelcase", 'snakeCaseForTheWin'],
  ["'/etc' | path_join: 'a', 'b'", '/etc/a/b'],
  ["'random' | md5", '7ddf32e17a6ac5ce04a8ecbf782ca509'],
  ["'get salted' | base64_encode", 'Z2V0IHNhbHRlZA=='],
  ["'Z2V0IHNhbHRlZA==' | base64_decode", 'get salted'],
  ["'192.168.0.1' | is_ip", 'true'],
  ["'::1' | is_ipv4", 'false'],
  ["'::1' | ipwrap", '[::1]'],
  ["'192.168.0.0/24' | network_size", '256'],
  ["pillar.d | set_dict_key_value: 'a:c:d', 7", '{"a": {"b": [5, 6], "c": {"d": 7}}}'],
  ["pillar.d | append_dict_key_value: 'a:b', 7", '{"a": {"b": [5, 6, 7]}}'],
  ["pillar.d | extend_dict_key_value: 'a:b', pillar.m", '{"a": {"b": [5, 6, 3, 4]}}'],
  ["pillar.d | update_dict_key_value: 'a', pillar.d", '{"a": {"b": [5, 6], "a": {"b": [5, 6]}}}'],
  ["pillar.d | json_query: 'a.b[0]'", '5'],
  ["pillar.d | json_query: 'a.{x: b[1], n: length(b)}'", '{"x": 6, "n": 2}'],
  ["'10.0.0.5/24' | ipaddr: options: 'private'", '10.0.0.5/24'],
  ["'10.0.0.5/30' | network_hosts: version: 4", '["10.0.0.5", "10.0.0.6"]'],
  ["'fe80::1' | ip_host", 'fe80::1/128'],
  ['pillar.d | xml', '<?xml version="1.0" ?>\n<a>\n <b>5</b>\n <b>6</b>\n</a>\n'],
  ["'a,b,c,d' | split: ',' | random_shuffle: seed: 'web1'", '["d", "c", "a", "b"]'],
  ["'web1' | check_whitelist_blacklist: blacklist: 'web.'", 'false'],
  ["'a: [1]' | load_yaml", '{"a": [1]}'],
  ["'a\nb' | indent: 2", 'a\n  b'],
])('{{ %s }} is %j', async (expression, expected) => {
  const { text } = site({
    pillar: { n: [1, 2, 3], m: [3, 4], deep: [1, [2, [3]]], d: { a: { b: [5, 6] } } },
  });
  expect(await text(`{{ ${expression} }}`)).toBe(expected);
});

test('a filter that changes a dictionary changes a copy of the pillar', async () => {
  const { text } = site({ pillar: { d: { a: 1 } } });
  const template = "{{ pillar.d | set_dict_key_value: 'b', 2 }} {{ pillar.d }}";
  expect(await text(template)).toBe('{"a": 1, "b": 2} {"a": 1}');
});

test.each(['(a+)+(?!b)$', '(a+)+\\\\1$'])(
  'a regular expression that would run for ever is stopped: %s',
  async pattern => {
    const { failure } = site();
    const text = `{{ "${'a'.repeat(400)}b" | regex_search: "${pattern}" }}`;
    const start = performance.now();
    expect(await failure(text)).toContain('takes too long on this text');
    expect(performance.now() - start).toBeLessThan(30_000);
  },
);
