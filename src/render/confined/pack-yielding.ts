import { type Data, type DataKey, Float, isDict } from '../../data/values/value.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { Turns } from '../../protocol/turns.ts';
import { isWholeFloat } from '../../protocol/whole-floats.ts';
import { pack } from './wire.ts';

/** Values after which to check whether other work is due. */
const stride = 2000;

/** Milliseconds for which packing may block other work. */
const longest = 15;

/**
 * As `pack`, for data whose size a host chose: yields to other work.
 *
 * @param value Data, or plain JSON as a host sent it
 */
export const packYielding = async (value: Data | Plain): Promise<string> => {
  const turns = new Turns(longest);
  const done: string[] = [];
  let pieces: string[] = [];
  for (const piece of packed(value)) {
    pieces.push(piece);
    if (pieces.length < stride) continue;
    done.push(pieces.join(''));
    pieces = [];
    await turns.pause();
  }
  done.push(pieces.join(''));
  return done.join('');
};

/** Yields the text of `pack` in pieces. */
const packed = function* (value: Data | DataKey | Plain): Generator<string> {
  if (typeof value !== 'object' || value === null || value instanceof Float) yield pack(value);
  else if (Array.isArray(value)) {
    yield '[';
    for (const [at, item] of value.entries()) {
      if (at > 0) yield ',';
      yield* packed(marked(value, at, item));
    }
    yield ']';
  } else {
    yield '{"d":[';
    let isFirst = true;
    for (const [key, item] of isDict(value) ? value : plainEntries(value)) {
      yield `${isFirst ? '' : ','}${pack(key)},`;
      isFirst = false;
      yield* packed(item);
    }
    yield ']}';
  }
};

const plainEntries = function* (value: unknown): Generator<[string, Plain | Float]> {
  if (!isPlainDict(value as Plain)) return;
  for (const [key, item] of Object.entries(value as Record<string, Plain>))
    yield [key, marked(value as object, key, item)];
};

/** Wraps a number of plain JSON that is recorded as a float. */
const marked = <T>(container: object, key: string | number, item: T): T | Float =>
  typeof item === 'number' && isWholeFloat(container, key) ? new Float(item) : item;
