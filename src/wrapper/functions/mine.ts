import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { HostQuestion, WrapperContext } from '../context.ts';
import { refused, type WrapperCall, type WrapperFunction, type WrapperModule } from '../define.ts';

const why = 'nothing is stored: hosts are asked during the run';

const refusedMine = (name: string): WrapperFunction =>
  refused(
    `mine.${name}`,
    `Not done here: ${why}.`,
    why,
    'List the function under `mine_functions` of tsalt.yaml, of the roster or of the pillar; mine.get asks for it.',
  );

/**
 * Asks hosts to call one function.
 *
 * @throws TsaltError `mine-none` if no host can be asked
 */
export const askHosts = (
  ctx: WrapperContext,
  question: HostQuestion,
): Promise<ReadonlyMap<string, Data>> => {
  if (!ctx.askHosts)
    throw new TsaltError('mine-none', `${question.fun}: this command asks no hosts.`, {
      kind: 'render',
    });
  return ctx.askHosts(question);
};

/** Reads a target argument: a string, or a list of ids. */
export const targetArgument = (value: Data): string | readonly string[] =>
  Array.isArray(value) ? value.map(String) : String(value ?? '');

/** One function by name, or the definition of an alias. */
type Allowed = { readonly fun: string; readonly args: readonly Data[]; readonly kwargs: Dict };

/**
 * Returns the host's `mine_functions`: the pillar's override the host's, which override those of
 * all hosts.
 */
const allowedHere = async (ctx: WrapperContext): Promise<Dict> => {
  const all: Dict = new Map();
  const pillar = await ctx.pillar();
  for (const given of [
    ctx.masterOpts.get('mine_functions'),
    ctx.opts.get('mine_functions'),
    pillar.get('mine_functions'),
  ])
    if (isDict(given)) for (const [name, value] of given) all.set(name, value);
    else if (Array.isArray(given)) for (const name of given) all.set(String(name), null);
  return all;
};

/** Reads arguments: a list, in which dictionaries contain named ones, or a dictionary. */
const readAllowed = (name: string, given: Data): Allowed => {
  const items = Array.isArray(given) ? given : given === null || given === '' ? [] : [given];
  const named: Dict = new Map(items.filter(isDict).flatMap(item => [...item]));
  const fun = String(named.get('mine_function') ?? name);
  for (const key of ['mine_function', 'allow_tgt', 'allow_tgt_type']) named.delete(key);
  return { fun, args: items.filter(item => !isDict(item)), kwargs: named };
};

const value = async (call: WrapperCall): Promise<Data> => {
  const { ctx, text, get } = call;
  const name = text('name');
  const all = await allowedHere(ctx);
  if (!all.has(name))
    throw new TsaltError(
      'mine-not-allowed',
      `mine_functions of ${ctx.id} do not contain '${name}'.`,
      {
        hint: `They have: ${[...all.keys()].join(', ') || 'nothing'}. Add it in tsalt.yaml, in the roster or in the pillar.`,
      },
    );
  const { fun, args, kwargs } = readAllowed(name, all.get(name) ?? null);
  const given = get('args');
  return Array.isArray(given) ? ctx.call(fun, given, new Map()) : ctx.call(fun, args, kwargs);
};

/** `mine.*`: data that other hosts return during the run. */
export const mine: WrapperModule = {
  doc: 'Data of other hosts. They are asked during the run, for functions that their `mine_functions` list.',
  functions: {
    get: {
      doc: [
        'The answers of hosts to a function of their `mine_functions`, by host id.',
        'tgt: the target, as on the command line',
        'fun: the function or its alias in `mine_functions`; several as a list, or with commas between, are answered by function',
        'tgt_type: glob, list, pcre, grain, compound …',
        'exclude_minion: leave out the host whose states ask',
        "example: {% for id, addrs in salt['mine.get']('web*', 'network.ip_addrs').items() %}",
      ].join('\n'),
      params: ['tgt', 'fun', ['tgt_type', 'glob'], ['exclude_minion', false]],
      work: async ({ ctx, get, text, flag }) => {
        const tgt = targetArgument(get('tgt'));
        const given = get('fun');
        const names = (Array.isArray(given) ? given.map(String) : String(given ?? '').split(','))
          .map(name => name.trim())
          .filter(name => name !== '');
        const ask = async (fun: string): Promise<Dict> => {
          const answers = await askHosts(ctx, { tgt, tgt_type: text('tgt_type'), fun });
          return new Map([...answers].filter(([id]) => !(flag('exclude_minion') && id === ctx.id)));
        };
        const [only] = names;
        if (names.length === 1 && only !== undefined && !Array.isArray(given)) return ask(only);
        const all: Dict = new Map();
        for (const name of names) all.set(name, await ask(name));
        return all;
      },
    },
    value: {
      doc: 'The result of this host for `mine.get` of a function of its `mine_functions`.\nargs: arguments in place of those that are configured',
      params: ['name', ['args', null]],
      work: value,
    },
    valid: {
      doc: 'The functions that `mine.get` may ask this host for, with their arguments.',
      params: [],
      work: ({ ctx }) => allowedHere(ctx),
    },
    ...Object.fromEntries(
      ['update', 'send', 'delete', 'flush', 'get_docker'].map(name => [name, refusedMine(name)]),
    ),
  },
};
