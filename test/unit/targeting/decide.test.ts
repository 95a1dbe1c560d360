import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decideTarget, matches } from '../../../src/targeting/match.ts';

const nodegroups = { webs: 'web* and not web9', mixed: 'N@webs or G@role:db' };
const known = (id: string, grains: Record<string, string> = {}) => ({
  id,
  grains: new Map(Object.entries(grains)),
  nodegroups,
});

describe('decide', () => {
  test.each([
    ['web*', 'glob', 'web1', true],
    ['web*', 'glob', 'db1', false],
    ['os:Debian', 'grain', 'web1', undefined],
    ['site:north', 'grain', 'web1', true],
    ['site:south', 'grain', 'web1', false],
    ['key:value', 'pillar', 'web1', undefined],
    ['10.0.0.0/8', 'ipcidr', 'web1', undefined],
    ['web* and G@os:Debian', 'compound', 'db1', false],
    ['web* and G@os:Debian', 'compound', 'web1', undefined],
    ['web* or G@os:Debian', 'compound', 'web1', true],
    ['not web* and G@os:Debian', 'compound', 'web1', false],
    ['G@site:south and I@a:b', 'compound', 'web1', false],
    ['N@webs', 'compound', 'web9', false],
    ['mixed', 'nodegroup', 'web1', true],
    ['mixed', 'nodegroup', 'db1', undefined],
    ['nobody', 'nodegroup', 'web1', false],
    ['web* and', 'compound', 'web1', false],
  ] as const)('%s as %s: %s is %s', (expression, type, id, answer) => {
    expect(decideTarget(expression, type, known(id, { site: 'north' }))).toBe(answer);
  });

  test('agrees with the whole evaluation, whatever the grains that are not known yet', () => {
    const term = fc.constantFrom(
      'web*',
      'L@web1,db1',
      'E@db.*',
      'G@os:Debian',
      'G@role:web',
      'G@site:north',
      'P@role:w.*',
      'N@webs',
      'N@mixed',
    );
    const expression = fc.letrec<{ any: string }>(tie => ({
      any: fc.oneof(
        { depthSize: 'small' },
        term,
        tie('any').map(one => `not ( ${one} )`),
        fc.tuple(tie('any'), tie('any')).map(([a, b]) => `( ${a} ) and ( ${b} )`),
        fc.tuple(tie('any'), tie('any')).map(([a, b]) => `( ${a} ) or ( ${b} )`),
      ),
    })).any;
    const value = fc.constantFrom('Debian', 'web', 'db', 'north', 'south');
    const grains = fc.record({ os: value, role: value, site: value }, { requiredKeys: [] });
    let decided = 0;
    fc.assert(
      fc.property(
        expression,
        fc.constantFrom('web1', 'web9', 'db1'),
        grains,
        grains,
        (text, id, own, collected) => {
          const answer = decideTarget(text, 'compound', known(id, own as Record<string, string>));
          if (answer === undefined) return;
          decided += 1;
          const all = new Map(Object.entries({ ...collected, ...own })) as Map<string, string>;
          const whole = { id, grains: all, pillar: new Map(), nodegroups };
          expect(answer).toBe(matches(text, 'compound', whole));
        },
      ),
      { numRuns: 2000 },
    );
    expect(decided).toBeGreaterThan(300);
  });
});
