import fc from 'fast-check';
import { type Event, parseEvents } from 'js-yaml';
import { expect, test } from 'vitest';
import { packEvents, unpackEvents } from '../../../src/yaml/packed-events.ts';

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
