import { expect, test } from 'vitest';
import { groupsDue } from '../../../src/modules/user/desired-user.ts';

const gids: Readonly<Record<string, number>> = {
  ann: 1000,
  adm: 4,
  www: 33,
  web: 33,
  old: 7,
  new: 8,
};
const gidOf = (group: string): number | undefined => gids[group];
const own = ['ann', 'ann'] as const;

test.each([
  ['groups that are as named', ['adm', 'ann'], { groups: ['adm'] }, own, undefined],
  ['a further group to come', ['ann'], { groups: ['adm'] }, own, ['adm']],
  ['a group to leave', ['adm', 'ann', 'www'], { groups: ['adm'] }, own, ['adm']],
  [
    'no group to leave',
    ['adm', 'ann'],
    { groups: ['www'], remove_groups: false },
    own,
    ['adm', 'www'],
  ],
  ['no groups named', ['adm', 'ann'], { groups: null }, own, undefined],
  ['none at all', ['adm', 'ann'], { groups: [] }, own, []],
  ['two names of one group', ['ann', 'web', 'www'], { groups: ['www'] }, own, undefined],
  // The former primary group stays a further one, where no groups are named.
  ['another primary group', ['old'], { groups: null }, ['new', 'old'], ['old']],
  ['another primary group, others named', ['old'], { groups: [] }, ['new', 'old'], undefined],
] as const)('%s', (_, have, wanted, primaries, due) => {
  const wish = {
    optional: [],
    remove_groups: true,
    ...wanted,
    groups: wanted.groups && [...wanted.groups],
  };
  expect(groupsDue('ann', { groups: [...have] }, wish, primaries, gidOf)).toEqual(due);
});
