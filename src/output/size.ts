import type { HostResult } from '../protocol/event.ts';
import { isPlainDict, type Plain, type PlainDict, setOwn } from '../protocol/plain.ts';
import type { StateResults } from '../protocol/result.ts';

/** The size of a number, or of an item of a list or dictionary without its strings. */
const itemSize = 8;

/** About how many characters a result has. */
export const resultSize = ({ value, states, problems }: HostResult): number => {
  let size = 0;
  const open: unknown[] = [value, states, problems];
  while (open.length > 0) {
    const next = open.pop();
    size += itemSize;
    if (typeof next === 'string') size += next.length;
    else if (Array.isArray(next)) for (const item of next) open.push(item);
    else if (typeof next === 'object' && next !== null)
      for (const [key, item] of Object.entries(next)) {
        size += key.length;
        open.push(item);
      }
  }
  return size;
};

const mark = '… [cut]';

/** Cuts a result to a number of characters; a mark replaces the missing parts. */
export const cutResult = (result: HostResult, most: number): HostResult => {
  const room = { left: most };
  const { value, states } = result;
  return {
    ...result,
    ...(value === undefined ? {} : { value: cut(value, room) }),
    ...(states === undefined ? {} : { states: cutStates(states, room) }),
  };
};

/** All states stay, with their outcomes. */
const cutStates = (states: StateResults, room: Room): StateResults => {
  const fitting: StateResults = {};
  for (const [tag, state] of Object.entries(states))
    setOwn(fitting, tag, {
      ...state,
      comment: cut(state.comment, room) as string,
      changes: cut(state.changes, room) as PlainDict,
    });
  return fitting;
};

type Room = { left: number };

/** Copies a substring, which would otherwise keep the whole string in memory. */
const copyOf = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le');

const cutText = (text: string, room: Room): string => {
  const length = Math.max(0, room.left);
  room.left -= text.length;
  return text.length <= length ? text : copyOf(text.slice(0, length)) + mark;
};

const cut = (value: Plain, room: Room): Plain => {
  room.left -= itemSize;
  if (typeof value === 'string') return cutText(value, room);
  if (Array.isArray(value)) {
    const list: Plain[] = [];
    for (const item of value) {
      if (room.left <= 0) return [...list, mark];
      list.push(cut(item, room));
    }
    return list;
  }
  if (!isPlainDict(value)) return value;
  const dict: PlainDict = {};
  for (const [key, item] of Object.entries(value)) {
    if (room.left <= 0) {
      setOwn(dict, mark, true);
      break;
    }
    setOwn(dict, cutText(key, room), cut(item, room));
  }
  return dict;
};
