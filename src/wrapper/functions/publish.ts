import type { Data, Dict } from '../../data/values/value.ts';
import { refused, type WrapperCall, type WrapperFunction, type WrapperModule } from '../define.ts';
import { askHosts, targetArgument } from './mine.ts';

const params = [
  'tgt',
  'fun',
  ['arg', null],
  ['tgt_type', 'glob'],
  ['returner', ''],
  ['timeout', 5],
  ['via_master', null],
] as const;

const asked = async ({ ctx, get, text }: WrapperCall): Promise<ReadonlyMap<string, Data>> => {
  const arg = get('arg');
  const args = arg === null || arg === '' ? undefined : Array.isArray(arg) ? arg : [arg];
  return askHosts(ctx, {
    tgt: targetArgument(get('tgt')),
    tgt_type: text('tgt_type'),
    fun: text('fun'),
    ...(args ? { args } : {}),
  });
};

const publishing = (doc: string, shape: (answer: Data) => Data): WrapperFunction => ({
  doc: [
    doc,
    'tgt: the target, as on the command line',
    'fun: a function that `mine_functions` of those hosts list',
    'arg: its arguments, one or a list; without it those that `mine_functions` have',
    'tgt_type: glob, list, pcre, grain, compound …',
    'returner, timeout, via_master: have no effect',
  ].join('\n'),
  params,
  work: async call => {
    const answers: Dict = new Map();
    for (const [id, answer] of await asked(call)) answers.set(id, shape(answer));
    return answers;
  },
});

const why = 'runners need a master';

/** `publish.*`: calls functions on other hosts, if their `mine_functions` list them. */
export const publish: WrapperModule = {
  doc: 'Functions on other hosts, as far as their `mine_functions` list them.',
  functions: {
    publish: publishing('The returns of a function on other hosts, by host id.', answer => answer),
    full_data: publishing(
      'As `publish.publish`, each return as a dictionary with the key `ret`.',
      answer => new Map([['ret', answer]]),
    ),
    runner: refused('publish.runner', `Not done here: ${why}.`, why),
  },
};
