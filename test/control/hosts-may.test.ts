import { expect, test } from 'vitest';
import { controlFunctions, isControlFunction } from '../../src/wrapper/table.ts';

test('a host can call nothing that renders its text, runs commands or reads what its job does not name', () => {
  const dangerous = [
    'slsutil.renderer',
    'pillar.ext',
    'cp.get_file_str',
    'defaults.get',
    'state.apply',
    'state.template_str',
    'sdb.get',
    'grains.items',
    '__proto__.get',
    'constructor.name',
  ];
  expect(dangerous.filter(isControlFunction)).toEqual([]);
  const offered = controlFunctions().map(({ name }) => name);
  expect(offered.filter(name => dangerous.includes(name))).toEqual([]);
  expect(offered).toContain('pillar.get');
});
