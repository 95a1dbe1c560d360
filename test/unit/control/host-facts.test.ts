import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeSite } from '../../wrapper/site.ts';

let made: Awaited<ReturnType<typeof makeSite>>;
beforeAll(async () => {
  made = await makeSite({});
});
afterAll(() => made.close());

const sourceOf = (text: string): unknown => made.site.facts.taintOf(text)?.[0].source;

test('grains taint strings from when something has read one, and those of before, when new ones come', () => {
  const { facts } = made.site;
  facts.suppose({ role: 'web' });
  expect(sourceOf('web')).toBeUndefined();

  expect(facts.grains.get('role')).toBe('web');
  facts.learnGrains({ role: 'database' });

  expect(sourceOf('web')).toBe('grain "role"');
  expect(sourceOf('database')).toBeUndefined();
  expect(facts.grains.get('role')).toBe('database');
  expect(sourceOf('database')).toBe('grain "role"');
});

test('grains that are confirmed after a read taint strings, too', () => {
  const { facts } = made.site;
  facts.suppose({ os: 'Debian', num_cpus: 1 });
  facts.grains.get('os');
  expect(facts.confirm({ os: 'Debian', shell: '/bin/other' })).toBe(true);

  expect(sourceOf('/bin/other')).toBe('grain "shell"');
});

test('grains that nothing has read are left out, and known after they are learned', () => {
  const { facts } = made.site;
  facts.suppose({ role: 'web' });
  facts.grains.get('id');
  facts.grains.has('state_runs_disabled');
  const { grains } = facts;
  expect(facts.leaveGrains()).toBe(true);
  expect(() => grains.get('role')).toThrow('This value is not known yet.');

  facts.learnGrains({ role: 'database' });

  expect(facts.grains).toBe(grains);
  expect(grains.get('role')).toBe('database');
  expect(facts.leaveGrains()).toBe(false);
});

test('states that a grain disables need the grains', () => {
  const { facts } = made.site;
  facts.suppose({ state_runs_disabled: ['pkg.*'] });
  facts.grains.get('state_runs_disabled');
  expect(facts.leaveGrains()).toBe(false);
});
