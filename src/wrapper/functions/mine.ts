import type { WrapperModule } from '../define.ts';

/** `mine.*`: without minions nobody fills a mine; templates that ask it go on with nothing. */
export const mine: WrapperModule = {
  doc: 'The mine, which is always empty: no minion runs that could fill it.',
  functions: {
    get: {
      doc: 'What hosts put into the mine: nothing, as of `salt-call --local` with an empty mine.',
      params: ['tgt', 'fun', ['tgt_type', 'glob'], ['exclude_minion', false]],
      work: () => new Map(),
    },
  },
};
