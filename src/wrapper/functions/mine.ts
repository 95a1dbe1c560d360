import { refused, type WrapperFunction, type WrapperModule } from '../define.ts';

const why = 'no minion runs that could keep a mine';

const refusedMine = (name: string): WrapperFunction =>
  refused(
    `mine.${name}`,
    `Not done here: ${why}.`,
    why,
    'Write what hosts are to know of each other into the pillar, or as `grains:` into the roster; `{% import_yaml %}` reads a file of the file roots.',
  );

/** `mine.*`: without minions nobody fills a mine. A template that took its silence for an answer would write it down. */
export const mine: WrapperModule = {
  doc: 'The mine, which is always empty: no minion runs that could fill it.',
  functions: {
    ...Object.fromEntries(
      ['get', 'update', 'send', 'delete', 'flush', 'get_docker'].map(name => [
        name,
        refusedMine(name),
      ]),
    ),
    valid: {
      doc: 'The functions that fill the mine: none.',
      params: [],
      work: () => new Map(),
    },
  },
};
