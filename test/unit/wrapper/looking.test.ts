import { expect, test } from 'vitest';
import { findWrapper, isReadOnly } from '../../../src/wrapper/table.ts';

test.each(['pillar.get', 'grains.get', 'grains.filter_by', 'config.get', 'defaults.merge'])(
  '%s only looks, and lives on the control node',
  name => {
    expect(isReadOnly(name)).toBe(true);
    expect(findWrapper(name)).toBeDefined();
  },
);

test.each([
  ['cmd.run', 'runs on the host'],
  ['log.info', 'writes'],
  ['pillar.items', 'compiles the pillar anew'],
  ['pillar.ext', 'asks other programs'],
  ['saltutil.refresh_pillar', 'changes what others see'],
  ['slsutil.renderer', 'renders'],
  ['state.apply', 'changes the host'],
  ['match.compound', 'runs matchers of the user’s'],
  ['mine.get', 'is about other hosts'],
  ['constructor.get', 'is no module'],
])('%s is more than a look: it %s', name => {
  expect(isReadOnly(name)).toBe(false);
});

test.each(['__proto__.get', 'constructor.name', 'toString.call', 'get', ''])(
  'findWrapper: returns nothing for the name %j',
  name => {
    expect(findWrapper(name)).toBeUndefined();
  },
);
