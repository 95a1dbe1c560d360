import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Data, Float, toData, toPlain } from '../../../src/data/values/value.ts';
import { encodeJson, frameType } from '../../../src/protocol/frame.ts';
import { dictOf, isOrderedDict } from '../../../src/protocol/key-order.ts';
import { Peer } from '../../../src/protocol/peer.ts';
import { toJson } from '../../../src/runtime/engine/check-return.ts';

/** Keys as YAML authors write them, and some that would break an encoding. */
const key = fc.oneof(
  fc.integer({ min: 0, max: 30 }).map(String),
  fc.constantFrom('4294967294', '4294967295', '007', '1.5', '-1', '', '\u0000', '__proto__'),
  fc.string({ maxLength: 3 }),
);

const data = fc.letrec<{ any: Data }>(tie => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<Data>(null, true, 7, 'text', '\u0000', new Float(7), new Float(1e20)),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('any')), { maxLength: 5 }).map(pairs => new Map(pairs)),
  ),
})).any;

/** Data as text that shows the order of all keys, and what is a float when it is asked. */
const shown = (value: Data, floats = true): string =>
  value instanceof Map
    ? `{${[...value].map(([name, item]) => `${JSON.stringify(name)}:${shown(item, floats)}`).join()}}`
    : Array.isArray(value)
      ? `[${value.map(item => shown(item, floats)).join()}]`
      : value instanceof Float && floats
        ? `float ${value}`
        : JSON.stringify(value);

const echo = async (value: unknown): Promise<unknown> => {
  const answering: Peer = new Peer({
    write: bytes => void setImmediate(() => asking.receive(bytes)),
    handlers: { echo: (params: unknown) => params },
    events: {},
  });
  const asking: Peer = new Peer({
    write: bytes => void setImmediate(() => answering.receive(bytes)),
    handlers: {},
    events: {},
  });
  return asking.request('echo', value);
};

test('keys keep their order, and whole floats their type, to the host, through copies there, and back', async () => {
  await fc.assert(
    fc.asyncProperty(
      data.filter(value => !(value instanceof Float)),
      async value => {
        const there = (await echo(toPlain(value))) as never;
        expect(shown(toData(there))).toBe(shown(value));
        expect(shown(toData((await echo(toJson(there))) as never))).toBe(shown(value));
        expect(JSON.stringify(there)).toBe(shown(value, false));
      },
    ),
  );
});

test('code that uses such a dict sees an ordinary dict', () => {
  const dict = dictOf([
    ['b', 1],
    ['10', 2],
    ['9', 3],
  ]);
  expect(Object.keys(dict)).toEqual(['b', '10', '9']);
  dict['1'] = 4;
  delete dict.b;
  dict['9'] = 5;
  expect(Object.entries(dict)).toEqual([
    ['10', 2],
    ['9', 5],
    ['1', 4],
  ]);
  expect(dict).toEqual({ 1: 4, 9: 5, 10: 2 });
  expect('10' in dict && Object.hasOwn(dict, '9')).toBe(true);
});

test('dicts that JavaScript keeps in order are plain, and their messages too', () => {
  const plain = [
    toPlain(
      new Map<string, Data>([
        ['b', 1],
        ['a', 2],
      ]),
    ),
    toPlain(
      new Map<number, Data>([
        [80, 'http'],
        [443, 'https'],
      ]),
    ),
  ];
  for (const dict of plain) {
    expect(isOrderedDict(dict as object)).toBe(false);
    expect(encodeJson(dict)[4]).toBe(frameType.json);
  }
});

test('invalid pairs are ordinary data', () => {
  for (const text of ['{"\\u0000":"7"}', '{"\\u0000":[["a"]]}', '{"\\u0000":[[1,2]]}']) {
    const payload = Buffer.from(`{"t":"evt","name":"got","payload":${text}}`);
    const frame = Buffer.concat([Buffer.alloc(5), payload]);
    frame.writeUInt32BE(payload.length);
    frame[4] = frameType.marked;
    const got: unknown[] = [];
    const take = (value: unknown) => void got.push(value);
    const peer = new Peer({ write: () => undefined, handlers: {}, events: { got: take } });
    void peer.receive(frame);
    expect(got).toEqual([JSON.parse(text)]);
  }
});
