import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { builtinMetadata } from '../../src/bundle/metadata.ts';
import { isCovered, isSameSpan, readMember } from '../../src/modules/lib/ipset-members.ts';
import { canRunApart, runApart } from '../helpers/apart.ts';

test('a member is an element with options', () => {
  expect(readMember('10.0.0.1 timeout 5 comment "of mine"')).toEqual({
    element: '10.0.0.1',
    comment: 'of mine',
  });
  expect(readMember('10.0.0.0/24')).toEqual({ element: '10.0.0.0/24', comment: undefined });
});

test('addresses are compared as such', () => {
  expect(isSameSpan('10.0.0.7/24', '10.0.0.0/24')).toBe(true);
  expect(isSameSpan('10.0.0.0/24', '10.0.0.0/25')).toBe(false);
  expect(isSameSpan('fd00::1', 'fd00:0::0001')).toBe(true);
  expect(isSameSpan('10.0.0.1,tcp:80', '10.0.0.1,tcp:80')).toBe(true);
  expect(isCovered('10.0.0.1-10.0.0.3', ['10.0.0.3', '10.0.0.1', '10.0.0.2'])).toBe(true);
  expect(isCovered('10.0.0.1-10.0.0.3', ['10.0.0.3', '10.0.0.1'])).toBe(false);
  expect(isCovered('10.0.0.4/30', ['10.0.0.0/29'])).toBe(true);
  expect(isCovered('fd00::/126', ['fd00::', 'fd00::1', 'fd00::2/127'])).toBe(true);
});

test('options of sets and entries are arguments', () => {
  const functions = builtinMetadata().find(one => one.kind === 'exec' && one.file === 'ipset');
  const argumentsOf = (name: string): string[] =>
    (functions?.functions.find(one => one.name === name)?.signature.keywords ?? []).map(
      one => one.name,
    );
  expect(argumentsOf('new_set')).toEqual(expect.arrayContaining(['comment', 'range', 'timeout']));
  expect(argumentsOf('add')).toEqual(expect.arrayContaining(['comment', 'skbmark', 'timeout']));
});

const hasSets =
  canRunApart() && spawnSync('unshare', ['-n', 'ipset', 'create', 't', 'hash:ip']).status === 0;

describe.skipIf(!hasSets)('the sets of a kernel', () => {
  test('come, are filled, emptied and go', { timeout: 120_000 }, async () => {
    const told = await runApart(
      { ipset: 'src/modules/exec/ipset.ts', state: 'src/modules/state/ipset.ts' },
      `const nets = 'nets';
      await thrice('set', () => state.set_present(nets, 'hash:net', { comment: true, timeout: 0 }));
      await thrice('entries', () => state.present('lab', { set_name: nets, entry: ['192.0.2.0/24', '203.0.113.4-203.0.113.7'] }));
      await thrice('comments', () => state.present('lab', { set_name: nets, comment: 'all of it', entry: ['192.0.2.0/24', '198.51.100.7 comment "one machine"'] }));
      await step('one', () => ipset.check(nets, '192.0.2.99'));
      await step('half', () => ipset.check(nets, '192.0.2.0/25'));
      await step('found', () => ipset.test(nets, '192.0.2.99'));
      await step('timeout', () => ipset.add(nets, '192.0.2.128/25', { timeout: 900, nomatch: true }));
      await step('counters', () => ipset.add(nets, '192.0.2.1', { packets: 3 }));
      await thrice('out', () => state.absent('lab', { set_name: nets, entry: '198.51.100.7' }));
      await thrice('ports', () => state.set_present('ports', 'bitmap:port', { range: '1-1024' }));
      await thrice('port', () => state.present('web', { set_name: 'ports', entry: [80, 443] }));
      await thrice('six', () => state.set_present('six', 'hash:ip,port', { family: 'ipv6' }));
      await thrice('address', () => state.present('x', { set_name: 'six', entry: 'fd00::1,tcp:80' }));
      await step('sets', () => ipset.list_sets());
      await step('renamed', () => ipset.rename_set('six', 'sixth'));
      await step('flushed', () => state.flush('ports'));
      await step('after', () => ipset.check('ports', '80'));
      await thrice('gone', () => state.set_absent('ports'));
      await step('no set', () => state.present('x', { set_name: 'nowhere', entry: '10.0.0.1' }));
      await step('no type', () => state.set_present('x', 'hash:wings'));
      await step('no entry', () => state.present('x', { set_name: nets }));
      await step('bad entry', () => state.present('x', { set_name: nets, entry: 'wings' }));`,
      [],
      100,
      ['--net'],
    );
    for (const name of ['set', 'entries', 'comments', 'out', 'ports', 'port', 'six', 'address'])
      expect([name, told[`${name} told`], told[name], told[`${name} again`]]).toMatchObject([
        name,
        { result: null },
        { result: true, changes: { locale: expect.any(String) } },
        { result: true, changes: expect.not.objectContaining({ locale: expect.anything() }) },
      ]);
    expect(told).toMatchObject({ one: true, half: false, found: true, timeout: 'Success' });
    expect(told.counters).toBe('failed: Error: Set nets not created with counters support');
    expect((told['entries again'] as { comment: string }).comment).toBe(
      'entry for 192.0.2.0/24 already in set nets for ipv4\nentry for 203.0.113.4-203.0.113.7 already in set nets for ipv4\n',
    );
    expect(told.sets).toMatchObject([
      { Name: 'nets', Type: 'hash:net', 'Number of entries': '3' },
      { Name: 'ports', Type: 'bitmap:port', 'Number of entries': '2' },
      { Name: 'six', Header: expect.stringContaining('family inet6') },
    ]);
    expect(told).toMatchObject({ renamed: true, flushed: { result: true }, after: false });
    expect(told.gone).toMatchObject({ result: true, changes: { locale: 'ports' } });
    expect(told['gone again']).toMatchObject({
      comment: 'ipset set ports for ipv4 is already absent',
    });
    expect(told['no set']).toMatchObject({
      result: false,
      comment: 'Error: Set nowhere does not exist',
    });
    for (const name of ['no type', 'no entry', 'bad entry'])
      expect(told[name]).toMatchObject({ result: false });
  });
});
