import { refused, type WrapperFunction, type WrapperModule } from '../define.ts';

const why = 'no minion runs that could keep a mine';

const refusedMine = (name: string): WrapperFunction =>
  refused(
    `mine.${name}`,
    `Not done here: ${why}.`,
    why,
    'Give what hosts are to know of each other in the pillar or the roster.',
  );

/** `mine.*`: without minions nobody fills a mine; templates that ask it go on with nothing. */
export const mine: WrapperModule = {
  doc: 'The mine, which is always empty: no minion runs that could fill it.',
  functions: {
    ...Object.fromEntries(
      ['update', 'send', 'delete', 'flush', 'get_docker'].map(name => [name, refusedMine(name)]),
    ),
    valid: {
      doc: 'The functions that fill the mine: none.',
      params: [],
      work: () => new Map(),
    },
    get: {
      doc: 'What hosts put into the mine: nothing, as of `salt-call --local` with an empty mine.',
      params: ['tgt', 'fun', ['tgt_type', 'glob'], ['exclude_minion', false]],
      work: () => new Map(),
    },
  },
};
