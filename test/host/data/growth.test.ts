import { expect, test } from 'vitest';
import { excerptOf } from '../../../src/data/excerpt.ts';
import { dumpYaml } from '../../../src/data/formats/yaml-dump.ts';
import { fnmatch } from '../../../src/data/python/glob.ts';
import { parseIpAddress } from '../../../src/data/python/ip-address.ts';
import { pythonPattern } from '../../../src/data/python/python-pattern.ts';
import { pyRepr } from '../../../src/data/python/python-text.ts';
import { checkType } from '../../../src/data/signatures/check-type.ts';
import { traverse } from '../../../src/data/values/traverse.ts';
import { harmless, outputLinesOf, repr, showValue } from '../../../src/output/text.ts';
import { callFilter } from '../../../src/render/filters/filter.ts';
import { saltFilters } from '../../../src/render/filters/filters.ts';
import { urlize } from '../../../src/render/jinja/filters/prose.ts';
import { decryptAll } from '../../../src/render/secrets.ts';
import { deserialize, serialize } from '../../../src/wrapper/functions/serializers.ts';
import { loadYamlArgument } from '../../../src/yaml/argument.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { growth } from '../../helpers/growth.ts';

type Work = (text: string) => unknown;

const size = 50_000;

/** Texts that a host repeats to make a parser go back and forth. */
const units: readonly string[] = [
  ...' \t\n0a([{<"\'\\:=./,#|?&-!_%`+)]}\u2028\0',
  ...['%(', '%(s', '- ', 'a: ', '&a ', '[a\0', '../', '# ', '\u{1f600} ', '{a: ', '"a" ', '? '],
  ...['<!--', '<?', '&#', '&a', '{{', 'a b ', 'a\n', 'a=b\n', '[a]\n', '- - ', '0_', '1:', '0.'],
  ...['a@a.', 'www.', '[!', '[1,', '{"a":', '<array>', '"""', 'a:\n ', '|\n', '(?:', 'a{1,', '1,'],
  ...['-----BEGIN PGP MESSAGE-----', '{0', '\u0663'],
];

const frames: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['"', 'x'],
  ['[a]\nx1', 'E\0'],
];

const tainted = (text: string, isNode: boolean): unknown =>
  loadYaml(`a: ${text}`, {
    taint: {
      owner: 'web1',
      ranges: [{ start: 3, end: text.length + 3, source: 'grain "x"', isNode }],
    },
  });

const filter =
  (name: string, args: readonly string[]): Work =>
  text => {
    const found = saltFilters[name];
    if (found) callFilter(name, found, text, args, new Map());
  };

const formats = ['json', 'yamlex', 'toml', 'configparser', 'plist', 'keyvalue'];
const onlyHere = /random|gpg|http|dns|regex|whitelist/;

const parsers: ReadonlyMap<string, Work> = new Map<string, Work>([
  ['loadYaml', text => loadYaml(text)],
  ['loadYaml of a tainted value', text => tainted(text, false)],
  ['loadYaml of a tainted node', text => tainted(text, true)],
  ['loadYamlArgument', loadYamlArgument],
  ['dumpYaml', dumpYaml],
  ['traverse', text => traverse(new Map(), text)],
  ['excerptOf', text => excerptOf(text, 5)],
  ['fnmatch of a name', text => fnmatch(text, '*a*b?c*')],
  ['fnmatch of a pattern', text => fnmatch('aab', text)],
  ['pythonPattern', text => pythonPattern(text)],
  ['parseAddress', parseIpAddress],
  ['checkType', text => checkType('number', text)],
  ['pyRepr', pyRepr],
  ['harmless', harmless],
  ['splitLines', outputLinesOf],
  ['show', showValue],
  ['repr', repr],
  ['urlize', text => urlize(text, { limit: undefined, target: undefined, rel: [] })],
  ['decryptAll', text => decryptAll(text, 'PGP MESSAGE', async block => block)],
  ...formats.flatMap((name): [string, Work][] => [
    [`deserialize ${name}`, text => deserialize(name, text, new Map())],
    [
      `serialize ${name}`,
      text => serialize(name, new Map([['a', new Map([['b', text]])]]), new Map()),
    ],
  ]),
  [
    'deserialize a plist string',
    text => deserialize('plist', `<plist><string>${text}</string></plist>`, new Map()),
  ],
  ['deserialize a toml value', text => deserialize('toml', `a = ${text}`, new Map())],
  ['filter json_query', filter('json_query', ['to_number(@)'])],
  ...Object.keys(saltFilters)
    .filter(name => !onlyHere.test(name))
    .map((name): [string, Work] => [`filter ${name}`, filter(name, [])]),
]);

test.each([...parsers])(
  '%s: needs time in proportion to its text',
  { tags: 'slow' },
  async (_, work) => {
    const slow: unknown[] = [];
    for (const unit of units)
      for (const [before, after] of frames) {
        const textOf = (length: number): string =>
          before + unit.repeat(Math.ceil(length / unit.length)) + after;
        const found = await growth(length => {
          const text = textOf(length);
          return () => work(text);
        }, size);
        if (found) slow.push([before, unit, after, ...found]);
      }

    expect(slow).toEqual([]);
  },
);
