import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { dumpJson } from '../../../src/data/formats/json-dump.ts';
import {
  type Data,
  type DataKey,
  type Dict,
  isDict,
  toData,
} from '../../../src/data/values/value.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import type { WrapperContext } from '../../../src/wrapper/context.ts';
import { callWrapper } from '../../../src/wrapper/define.ts';
import { dataOf } from '../../../src/wrapper/outcome.ts';
import { findWrapper } from '../../../src/wrapper/table.ts';

/** Salt 3006's result of a call, its changes of the arguments, or its error. */
type Case = {
  readonly call: string;
  readonly args: Plain[];
  readonly kwargs: PlainDict;
  readonly gives?: Plain;
  readonly leaves?: Plain[];
  readonly fails?: string;
};

const { cases, grains, pillar } = JSON.parse(
  readFileSync(new URL('../../formulas/functions.json', import.meta.url), 'utf8'),
) as { cases: Case[]; grains: PlainDict; pillar: PlainDict };

/** JSON has only string keys: `@int 1`, `@float 7.4` and `@bool true` encode others. */
const keyOf = (key: DataKey): DataKey => {
  const [, kind, text = ''] = /^@(int|float|bool) (.*)$/.exec(String(key)) ?? [];
  return kind === undefined ? key : kind === 'bool' ? text === 'true' : Number(text);
};

const typed = (data: Data): Data => {
  if (Array.isArray(data)) return data.map(typed);
  return isDict(data) ? new Map([...data].map(([key, item]) => [keyOf(key), typed(item)])) : data;
};

const read = (plain: Plain): Data => typed(toData(plain));
const readDict = (plain: PlainDict): Dict => read(plain) as Dict;

const context = {
  id: 'minion1.example.com',
  grains: readDict(grains),
  opts: new Map(),
  masterOpts: new Map(),
  config: { pillar_merge_lists: false },
  pillar: async () => readDict(pillar),
} as unknown as WrapperContext;

describe('functions that formulas call while they render answer as in Salt', () => {
  for (const { call, args, kwargs, gives, leaves, fails } of cases)
    test(`${call} ${JSON.stringify(args).slice(0, 90)} ${JSON.stringify(kwargs)}`, async () => {
      const found = findWrapper(call);
      if (!found) throw new Error(`${call} is not there`);
      const given = args.map(read);
      const answer = callWrapper(call, found, context, given, readDict(kwargs)).then(dataOf);
      if (fails !== undefined) return expect(answer).rejects.toThrow();
      expect(dumpJson(await answer)).toBe(dumpJson(read(gives ?? null)));
      expect(dumpJson(given)).toBe(dumpJson(read(leaves ?? args)));
    });
});
