import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fnmatch } from '../../../src/data/python/glob.ts';
import { toData, toDict } from '../../../src/data/values/value.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import { matches, needs, type Subject, targetError } from '../../../src/targeting/match.ts';
import { cpuTime } from '../../helpers/cpu-time.ts';

const grains: PlainDict = {
  os: 'Debian',
  roles: ['web', 'db'],
  rack: { row: 'a', unit: 7 },
  tags: [{ zone: 'z1' }],
  ratio: 1.5,
  virtual: true,
  ipv4: ['127.0.0.1', '192.0.2.10'],
  ipv6: ['::1', '2001:db8::5'],
};
const pillar: PlainDict = { k: 'v', d: { list: ['one', 'two'], sub: 'xyz' }, 'a:b': 'c' };
const nodegroups = {
  webs: 'G@roles:web and web*',
  nested: 'N@webs or db1',
  loop: 'N@loop or x',
  names: ['web1.example.com', 'web2'],
};

const subject = (id = 'web1.example.com'): Subject => ({
  id,
  grains: toDict(grains),
  pillar: toDict(pillar),
  nodegroups,
});
const holds = (expression: Plain, type: string, id?: string, delimiter?: string): boolean =>
  matches(toData(expression), type, subject(id), { delimiter });

test.each([
  ['*', 'a.b/c', true],
  ['web?', 'web1', true],
  ['web?', 'web', false],
  ['web[0-3]', 'web2', true],
  ['web[!0-3]', 'web2', false],
  ['web[!0-3]', 'web4', true],
  ['[]x]', ']', true],
  ['[!]]', ']', false],
  ['[z-a]', 'b', false],
  ['[', '[', true],
  ['[abc', '[abc', true],
  ['a.b', 'axb', false],
  ['WEB', 'web', false],
  ['[*]', '*', true],
  ['\\d', '\\d', true],
])('glob %j against %j: %j', (pattern, name, expected) => {
  expect(fnmatch(name, pattern)).toBe(expected);
});

test('a glob without special characters matches only itself, whatever it contains', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (a, b) => {
      fc.pre(!/[*?[\]]/.test(a));
      expect(fnmatch(a, a)).toBe(true);
      if (a !== b) expect(fnmatch(b, a)).toBe(false);
    }),
  );
});

test.each([
  ['web\\d+\\..*', 'pcre', true],
  ['eb', 'pcre', false],
  ['(?P<kind>web)(?P=kind)?', 'pcre', true],
  ['(?i)WEB', 'pcre', true],
  ['web1.example.com,other', 'list', true],
  ['web1', 'list', false],
  ['os:deb*', 'grain', true],
  ['os', 'grain', false],
  ['roles:web', 'grain', true],
  ['rack:unit:7', 'grain', true],
  ['rack:*', 'grain', true],
  ['tags:zone:z1', 'grain', true],
  ['virtual:true', 'grain', true],
  ['ratio:1.5', 'grain', true],
  ['*:row:a', 'grain', true],
  ['nothing:x', 'grain', false],
  ['os:(debian|ubuntu)', 'grain_pcre', true],
  ['k:V', 'pillar', true],
  ['d:list:two', 'pillar', true],
  ['d:sub:x*z', 'pillar_exact', false],
  ['d:sub:xyz', 'pillar_exact', true],
  ['a:b:c', 'pillar', false],
  ['192.0.2.0/24', 'ipcidr', true],
  ['192.0.2.10', 'ipcidr', true],
  ['10.0.0.0/8', 'ipcidr', false],
  ['2001:db8::/32', 'ipcidr', true],
  ['192.0.2.1/24', 'ipcidr', false],
  ['192.0.2.0/255.255.255.0', 'ipcidr', true],
  ['192.0.2.0/0.0.0.255', 'ipcidr', true],
  ['nested', 'nodegroup', true],
  ['names', 'nodegroup', true],
  ['loop', 'nodegroup', false],
  ['gone', 'nodegroup', false],
  ['N@webs and G@os:Debian', 'compound', true],
  ['not G@os:Debian', 'compound', false],
  ['G@os:RedHat or E@web\\d', 'compound', true],
  ['( G@os:RedHat or web* ) and not L@x,y', 'compound', true],
  ['G|@rack|row|a', 'compound', true],
  ['web* and', 'compound', false],
  ['and web*', 'compound', false],
  ['not not web*', 'compound', false],
  ['web* web*', 'compound', false],
  ['( web*', 'compound', false],
  ['X@y', 'compound', false],
  ['S@192.0.2.0/24 and I@k:v and J@k:^v$ and P@os:D.*', 'compound', true],
])('%j as %s: %j', (expression, type, expected) => {
  expect(holds(expression, type)).toBe(expected);
});

test('a list may be given as a list, and a delimiter of its own', () => {
  expect(holds(['a', 'web1.example.com'], 'list')).toBe(true);
  expect(holds('d/sub/xyz', 'pillar', undefined, '/')).toBe(true);
});

test('says what has to be known before an expression can be decided', () => {
  expect(needs('web*', 'glob')).toEqual({ grains: false, pillar: false });
  expect(needs('os:Debian', 'grain')).toEqual({ grains: true, pillar: false });
  expect(needs('web* or I@k:v', 'compound')).toEqual({ grains: false, pillar: true });
  expect(needs('N@nested', 'compound', nodegroups)).toEqual({ grains: true, pillar: false });
  expect(needs('S@10.0.0.0/8', 'compound')).toEqual({ grains: true, pillar: false });
});

test('explains a target that can match nothing', () => {
  expect(targetError('web*', 'glob')).toBeUndefined();
  expect(targetError('web[1', 'pcre')).toMatch(
    /^Regular expression "web\[1" is not valid: .*never closed/,
  );
  expect(targetError('a(b', 'pcre')).toMatch(/^Regular expression "a\(b" is not valid/);
  expect(targetError('os', 'grain')).toBe('"os" has no value to compare with: write key:value');
  expect(targetError('300.1.1.1', 'ipcidr')).toBe(
    '"300.1.1.1" is neither an address nor a network',
  );
  expect(targetError('web* and', 'compound')).toBe(
    'Target "web* and" makes no sense: it ends where a term is expected',
  );
  expect(targetError('N@gone', 'compound', nodegroups)).toBe('There is no nodegroup "gone"');
  expect(targetError('a', 'magic')).toBe('There is no target type "magic"');
});

test('no expression throws anything but a clear error', () => {
  const types = ['glob', 'pcre', 'list', 'grain', 'grain_pcre', 'ipcidr', 'compound', 'nodegroup'];
  fc.assert(
    fc.property(fc.string(), fc.constantFrom(...types), (expression, type) => {
      try {
        expect(typeof holds(expression, type)).toBe('boolean');
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad-regex' });
      }
    }),
    { numRuns: 500 },
  );
});

test.each([
  ['a*', 'a', true],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['*ab*ab', 'ab', false],
  ['*ab*ab', 'xabab', true],
  ['**', '', true],
  ['*?', '', false],
  ['a**b', 'a\nb', true],
  ['*[!x]?', 'xy\u{1f600}', true],
  ['?', '\u{1f600}', true],
  ['*\u{1f600}?*b', 'a\u{1f600}b', false],
  ['*\u{1f600}?*b', 'a\u{1f600}cb', true],
  ['*.d*.conf', 'x.d.conf', true],
  ['*.d*.conf', 'x.d/y.conf', true],
])('the glob %j on %j: %j', (pattern, name, wanted) => {
  expect(fnmatch(name, pattern)).toBe(wanted);
});

test('a long text with many beginnings costs a glob no time', () => {
  const begun = cpuTime();
  expect(fnmatch('web'.repeat(300_000), '*w*e*b*web*db*')).toBe(false);
  expect(cpuTime() - begun).toBeLessThan(2000);
});
