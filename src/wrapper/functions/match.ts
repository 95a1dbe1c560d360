import type { TargetType } from '../../config/request.ts';
import { mergeRecursive } from '../../data/values/merge.ts';
import type { Data } from '../../data/values/value.ts';
import { isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { matches } from '../../targeting/match.ts';
import type { WrapperCall, WrapperFunction, WrapperModule } from '../define.ts';

const test = async (
  { ctx, get }: WrapperCall,
  type: TargetType | 'pillar_exact',
): Promise<boolean> =>
  matches(
    String(get('tgt') ?? ''),
    type,
    {
      id: typeof get('minion_id') === 'string' ? String(get('minion_id')) : ctx.id,
      grains: ctx.grains,
      pillar: await ctx.pillar(),
      nodegroups: ctx.nodegroups,
      matchers: ctx.matchers,
    },
    { delimiter: String(get('delimiter') || ':') },
  );

/** Matchers of the id alone: another id may follow the target directly. */
const byId: ReadonlySet<string> = new Set(['glob', 'pcre', 'list', 'compound']);

const matcher = (type: TargetType | 'pillar_exact', doc: string): WrapperFunction => ({
  doc,
  params: byId.has(type)
    ? ['tgt', ['minion_id', null]]
    : ['tgt', ['delimiter', ':'], ['minion_id', null]],
  work: call => test(call, type),
});

/** `match.*`: matches this host. */
export const match: WrapperModule = {
  doc: 'Whether this host matches a target expression.',
  functions: {
    glob: matcher('glob', 'Matches the id by a glob.'),
    pcre: matcher('pcre', 'Matches the id by a regular expression.'),
    list: matcher('list', 'Whether the id is in a list.'),
    grain: matcher('grain', 'Matches a grain by a glob: `os:Deb*`.'),
    grain_pcre: matcher('grain_pcre', 'Matches a grain by a regular expression.'),
    pillar: matcher('pillar', 'Matches a pillar value by a glob.'),
    pillar_pcre: matcher('pillar_pcre', 'Matches a pillar value by a regular expression.'),
    ipcidr: matcher('ipcidr', 'Whether the host has an address in a network.'),
    compound: matcher('compound', 'Matches a compound expression: `G@os:Debian and web*`.'),
    filter_by: {
      doc: 'The entry of a dictionary whose key, a compound expression, matches this host.',
      params: [
        'lookup',
        ['tgt_type', 'compound'],
        ['minion_id', null],
        ['merge', null],
        ['merge_lists', false],
        ['default', 'default'],
      ],
      work: async call => {
        const lookup = call.get('lookup');
        if (!isDict(lookup)) return null;
        for (const [key, value] of lookup)
          if (await test(withTarget(call, key as Data), 'compound'))
            return withMerge(value, call.get('merge'), call.flag('merge_lists'));
        return lookup.get(call.text('default')) ?? null;
      },
    },
    ifelse: {
      doc: "The value after the first compound expression that matches this host; the last argument if none does. `salt['match.ifelse']('web*', 80, 'db*', 5432, 22)`\nkeywords: tgt_type, minion_id, merge, merge_lists",
      params: [],
      rest: true,
      keywords: ['merge', 'merge_lists', 'minion_id', 'tgt_type'],
      work: async call => {
        const { rest, extra } = call;
        if (rest.length % 2 === 0)
          throw new TsaltError(
            'arguments',
            'The ifelse function must have an odd number of arguments!',
          );
        const named: WrapperCall = { ...call, get: name => extra.get(name) ?? null };
        const isMatch = async (target: Data): Promise<boolean> =>
          typeof target === 'boolean' ? target : test(withTarget(named, target), 'compound');
        let found = rest.at(-1) ?? null;
        for (let at = 0; at + 1 < rest.length; at += 2)
          if (await isMatch(rest[at] ?? null)) {
            found = rest[at + 1] ?? null;
            break;
          }
        return withMerge(found, named.get('merge'), named.get('merge_lists') === true);
      },
    },
    data: {
      doc: 'Not supported: a host has no data store between runs.',
      params: ['tgt'],
      work: () => {
        throw new TsaltError(
          'not-supported',
          'match.data is not supported: a host has no store of data between runs.',
          { hint: 'match.pillar and match.grain use the data of the run.' },
        );
      },
    },
    search_by: {
      doc: 'The keys of a dictionary among whose values, compound expressions, one matches this host.',
      params: ['lookup', ['tgt_type', 'compound'], ['minion_id', null]],
      work: async call => {
        const lookup = call.get('lookup');
        if (!isDict(lookup)) return null;
        const found: Data[] = [];
        for (const [key, targets] of lookup)
          for (const target of Array.isArray(targets) ? targets : [])
            if (await test(withTarget(call, target), 'compound')) {
              found.push(key as Data);
              break;
            }
        return found.length > 0 ? found : null;
      },
    },
  },
};

const withMerge = (value: Data, merge: Data, joinLists: boolean): Data => {
  if (merge === null || (isDict(merge) && merge.size === 0)) return value;
  if (!isDict(merge))
    throw new TsaltError('arguments', 'filter_by merge argument must be a dictionary.');
  return isDict(value) ? mergeRecursive(value, merge, joinLists) : merge;
};

const withTarget = (call: WrapperCall, target: Data): WrapperCall => ({
  ...call,
  get: name => (name === 'tgt' ? String(target) : call.get(name)),
});
