import fc from 'fast-check';
import { type Event, parseEvents } from 'js-yaml';
import { expect, test } from 'vitest';
import { keyPosition } from '../../../src/data/values/position.ts';
import { type Data, toPlain } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { type EventCache, packEvents, unpackEvents } from '../../../src/yaml/packed-events.ts';

const again = (text: string): Event[] | undefined => {
  const packed = packEvents(parseEvents(text, {}));
  return packed && unpackEvents(packed, text.length);
};

test.each([
  'a: 1\n',
  '- a\n- [b, {c: d}]\n- {e: }\n',
  'a: &x !!str 1\nb: *x\nc: !own {d: e}\n',
  'a: |\n  one\n  two\nb: >+2\n    three\n\nc: "d\\n"\ne: \'f\'\n',
  '---\na: 1\n...\n---\nb: 2\n',
  '? [a]\n: - b\n',
  '',
  '# nothing\n',
])('the events of %j are as before after they were written as numbers', text => {
  const events = parseEvents(text, {});

  expect(again(text)).toEqual(events.length === 0 ? undefined : events);
});

test('the events of any text are as before after they were written as numbers', () => {
  const piece = fc.constantFrom(
    ...['a: ', '- ', '\n', '  ', '[', ']', '{', '}', ', ', '"', "'", '|\n', '>-\n', '&a ', '*a'],
    ...['!!str ', '!x ', '---\n', '? ', ': ', '#', 'word', '1', '\t', 'é', '😀'],
  );
  let read = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), parts => {
      const text = parts.join('');
      let events: Event[];
      try {
        events = parseEvents(text, {});
      } catch {
        return;
      }
      if (events.length === 0) return;
      read += 1;
      expect(again(text)).toEqual(events);
    }),
    { numRuns: 3000 },
  );
  expect(read).toBeGreaterThan(100);
});

test('a document with directives is not kept: they have names of their own', () => {
  expect(packEvents(parseEvents('%TAG !e! tag:example.com,2000:\n---\na: !e!x 1\n', {}))).toBe(
    undefined,
  );
});

test('numbers that were not written whole, or lead out of the text, are refused', () => {
  const text = 'a: {b: [c, *d], e: &d f}\n'.replace('*d', 'd');
  const packed = packEvents(parseEvents(text, {})) ?? new Int32Array();

  expect(unpackEvents(packed, text.length)).toBeDefined();
  expect(unpackEvents(packed.subarray(0, -1), text.length)).toBe(undefined);
  expect(unpackEvents(new Int32Array(packed.length), text.length)).toBe(undefined);
  expect(unpackEvents(new Int32Array(0), text.length)).toBe(undefined);
  expect(unpackEvents(packed, text.length - 5)).toBe(undefined);
  for (const place of [1, 6, 17])
    expect(unpackEvents(packed.with(place, text.length + 1), text.length), `${place}`).toBe(
      undefined,
    );
});

/** A cache in memory, which counts. */
const memory = () => {
  const packs = new Map<string, Int32Array>();
  const counts = { got: 0, put: 0 };
  const cache: EventCache = {
    get: text => {
      const packed = packs.get(text);
      if (packed) counts.got += 1;
      return packed && unpackEvents(packed, text.length);
    },
    put: (text, events) => {
      counts.put += 1;
      const packed = packEvents(events);
      if (packed) packs.set(text, packed);
    },
  };
  return { cache, counts };
};

const large = `${Array.from(
  { length: 600 },
  (_, at) => `state_${at}:\n  file.managed:\n    - name: /etc/x${at}\n    - mode: 0644\n`,
).join('')}last: 'quoted: text'\n`;

test('a large text is parsed once; from its events come the same data and the same positions', () => {
  const { cache, counts } = memory();

  const [plain, first, second] = [{}, { events: cache }, { events: cache }].map(options =>
    loadYaml(large, { file: 'x.sls', ...options }),
  ) as [Data, Data, Data];

  expect(counts).toEqual({ got: 1, put: 1 });
  expect(toPlain(second)).toEqual(toPlain(plain));
  expect(toPlain(first)).toEqual(toPlain(plain));
  expect(keyPosition(second as never, 'last')).toEqual(keyPosition(plain as never, 'last'));
});

test('a small text is not looked up', () => {
  const { cache, counts } = memory();

  loadYaml('a: 1\n', { events: cache });
  loadYaml('a: 1\n', { events: cache });

  expect(counts).toEqual({ got: 0, put: 0 });
});

test('a text with an error is refused as before, each time', () => {
  const { cache, counts } = memory();
  const broken = `${large}x: [1\n`;
  const load = (events?: EventCache): unknown => {
    try {
      return loadYaml(broken, { file: 'x.sls', events });
    } catch (error) {
      return error;
    }
  };

  const [alone, first, second] = [load(), load(cache), load(cache)];

  expect(first).toEqual(alone);
  expect(second).toEqual(alone);
  expect(counts.put).toBe(0);
});

test('a host cannot change the structure of a text whose events are known', () => {
  const { cache } = memory();
  const text = `${large}os: Debian\nevil: yes\n`;
  const start = text.indexOf('Debian');
  const end = text.indexOf('yes');
  loadYaml(text, { events: cache });

  const load = () =>
    loadYaml(text, {
      events: cache,
      taint: { owner: 'web1', ranges: [{ start, end, source: 'grain "os"', isNode: false }] },
    });

  expect(load).toThrow(expect.objectContaining({ code: 'render-tainted' }));
});
