import type { Event } from 'js-yaml';
import { expect, test } from 'vitest';
import { keyPosition } from '../../../src/data/values/position.ts';
import { type Data, toPlain } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { SimilarTexts } from '../../../src/yaml/similar-texts.ts';
import type { YamlCache } from '../../../src/yaml/yaml-cache.ts';

/** What is known of texts, in memory; it counts. */
const memory = <Value>() => {
  const values = new Map<string, Value>();
  const counts = { got: 0, put: 0 };
  const get = (text: string): Value | undefined => {
    const value = values.get(text);
    if (value !== undefined) counts.got += 1;
    return value;
  };
  const put = (text: string, value: Value): void => {
    counts.put += 1;
    values.set(text, value);
  };
  return { known: { get, put }, counts, values };
};

const cacheInMemory = () => {
  const [trees, events] = [memory<Int32Array<ArrayBuffer>>(), memory<readonly Event[]>()];
  const cache: YamlCache = { trees: trees.known, events: events.known };
  return { cache, trees, events };
};

const large = `${Array.from(
  { length: 600 },
  (_, at) => `state_${at}:\n  file.managed:\n    - name: /etc/x${at}\n    - mode: 0644\n`,
).join('')}last: 'quoted: text'\n`;

const anchored = `${large}one: &one [1]\ntwo: *one\n`;

test.each([
  ['a large text', large, 'trees'],
  ['a large text with an anchor', anchored, 'events'],
] as const)('%s is parsed once: later its data and positions are the same', (_, text, kind) => {
  const { cache, ...kinds } = cacheInMemory();
  const other = kind === 'trees' ? 'events' : 'trees';

  const [plain, first, second] = [{}, { cache }, { cache }].map(options =>
    loadYaml(text, { file: 'x.sls', ...options }),
  ) as [Data, Data, Data];

  expect(kinds[kind].counts).toEqual({ got: 1, put: 1 });
  expect(kinds[other].counts).toEqual({ got: 0, put: 0 });
  expect(toPlain(second)).toEqual(toPlain(plain));
  expect(toPlain(first)).toEqual(toPlain(plain));
  expect(keyPosition(plain as never, 'last')).toEqual({ line: 2401, column: 1 });
  expect(keyPosition(second as never, 'last')).toEqual({ line: 2401, column: 1 });
});

test('a text that differs in words from one of the same file is neither looked up nor parsed', () => {
  const { cache, trees } = cacheInMemory();
  const options = { file: 'x.sls', cache: { ...cache, similar: new SimilarTexts() } };
  const other = large.replaceAll('/etc/x', '/srv/web-10/');

  loadYaml(large, options);
  const data = loadYaml(other, options);

  expect(trees.counts).toEqual({ got: 0, put: 1 });
  expect(toPlain(data)).toEqual(toPlain(loadYaml(other)));
  expect(keyPosition(data as never, 'last')).toEqual({ line: 2401, column: 1 });
});

test('a text that has two equal keys in place of different words is refused as alone', () => {
  const options = {
    file: 'x.sls',
    cache: { ...cacheInMemory().cache, similar: new SimilarTexts() },
  };
  const load = (text: string, given: object): unknown => {
    try {
      return loadYaml(text, given);
    } catch (error) {
      return error;
    }
  };
  const text = 'web1: 1\nweb1: 2\n';

  loadYaml('web1: 1\nweb2: 2\n', options);

  expect(load(text, options)).toBeInstanceOf(Error);
  expect(load(text, options)).toEqual(load(text, { file: 'x.sls' }));
});

test('a tree that does not fit its text is not used, and replaced', () => {
  const { cache, trees } = cacheInMemory();
  loadYaml(large, { cache });
  const [kept] = trees.values.values();
  trees.values.set(large, new Int32Array(400));

  expect(toPlain(loadYaml(large, { cache }))).toEqual(toPlain(loadYaml(large)));

  expect(trees.values.get(large)).toEqual(kept);
});

test('a small text is not looked up', () => {
  const { cache, trees, events } = cacheInMemory();

  loadYaml('a: 1\n', { cache });
  loadYaml('a: 1\n', { cache });

  expect([trees.counts, events.counts]).toEqual([
    { got: 0, put: 0 },
    { got: 0, put: 0 },
  ]);
});

test.each([
  ['a bracket is open', `${large}x: [1\n`],
  ['a key occurs twice', `${large}last: 1\n`],
])('a text in which %s is refused as before, each time', (_, broken) => {
  const { cache, trees } = cacheInMemory();
  const load = (known?: YamlCache): unknown => {
    try {
      return loadYaml(broken, { file: 'x.sls', cache: known });
    } catch (error) {
      return error;
    }
  };

  const [alone, first, second] = [load(), load(cache), load(cache)];

  expect(alone).toBeInstanceOf(Error);
  expect(first).toEqual(alone);
  expect(second).toEqual(alone);
  expect(trees.counts.put).toBe(0);
});

test('a host cannot change the structure of a text whose structure is known', () => {
  const { cache, trees, events } = cacheInMemory();
  const text = `${large}os: Debian\nevil: yes\n`;
  const load = (end: number) =>
    loadYaml(text, {
      cache,
      taint: {
        owner: 'web1',
        ranges: [{ start: text.indexOf('Debian'), end, source: 'grain "os"', isNode: false }],
      },
    });
  loadYaml(text, { cache });
  load(text.indexOf('\nevil'));
  expect([trees.counts, events.counts]).toEqual([
    { got: 0, put: 1 },
    { got: 0, put: 1 },
  ]);

  expect(() => load(text.indexOf('yes'))).toThrow(
    expect.objectContaining({ code: 'render-tainted' }),
  );
  expect([trees.counts.got, events.counts.got]).toEqual([0, 1]);
});
