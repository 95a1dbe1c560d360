import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as chainCalls from '../../../src/modules/firewall/exec/nftables/chains.ts';
import * as ruleCalls from '../../../src/modules/firewall/exec/nftables/rules.ts';
import * as savedCalls from '../../../src/modules/firewall/exec/nftables/saved.ts';
import * as tableCalls from '../../../src/modules/firewall/exec/nftables/tables.ts';
import { nftRuleText } from '../../../src/modules/firewall/nft-rule.ts';
import * as chains from '../../../src/modules/firewall/states/nftables/chains.ts';
import * as rules from '../../../src/modules/firewall/states/nftables/rules.ts';
import * as tables from '../../../src/modules/firewall/states/nftables/tables.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const space = `tsalt-nft-${process.pid}`;
const nftables = { ...chainCalls, ...ruleCalls, ...savedCalls, ...tableCalls };
const canRun =
  process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'nft', 'list', 'ruleset']).status === 0;

test.each([
  [
    { if: 'eth0', proto: 'tcp', dport: '8000:8080', connstate: 'NEW,ESTABLISHED', jump: 'ACCEPT' },
    'meta iifname eth0 ct state { new,established } tcp dport { 8000-8080 } accept',
  ],
  [
    { proto: 'udp', dports: '53,5353,123', sport: '1025:65535', counter: true, jump: 'drop' },
    'counter udp dport { 5353, 123, 53 } udp sport { 1025-65535 } drop',
  ],
  [
    { source: '10.0.0.0/8', daddr: '192.0.2.1', of: 'eth1', target: 'LOGDROP', match: 'state' },
    'meta oifname eth1 ip saddr 10.0.0.0/8 ip daddr 192.0.2.1 jump LOGDROP',
  ],
  [{ proto: 'icmp', jump: 'accept' }, 'meta l4proto icmp accept'],
  [
    { 'icmp-type': 'echo-request', pkttype: 'broadcast', j: 'drop' },
    'icmp type { echo-request } meta pkttype { broadcast } drop',
  ],
  [
    { proto: 'tcp', dport: 80, 'redirect-to': 8080, jump: 'redirect' },
    'tcp dport { 80 } redirect to :8080',
  ],
  [{ 'to-source': '192.0.2.1', jump: 'snat' }, 'snat to 192.0.2.1'],
  [{ 'reject-with': 'icmp type host-unreachable' }, 'reject with icmp type host-unreachable'],
  [{ jump: 'log prefix "in: " accept' }, 'log prefix "in: " accept'],
])('a rule from arguments: %o', (given, expected) => {
  expect(nftRuleText({ ...given, chain: 'input', name: 'x', save: true, __id__: 'x' }, 'ip')).toBe(
    expected,
  );
});

test('an invalid rule is refused by name', () => {
  expect(() => nftRuleText({ dport: 80 }, 'ip')).toThrow('proto must be specified');
  expect(() => nftRuleText({ jump: 'accept', ttl: 3 }, 'ip')).toThrow('takes no argument ttl');
  expect(() => nftRuleText({ jump: 'accept; flush ruleset' }, 'ip')).toThrow('one statement');
  expect(nftRuleText({ source: '2001:db8::/32', jump: 'drop' }, 'inet')).toBe(
    'ip6 saddr 2001:db8::/32 drop',
  );
});

describe.skipIf(!canRun)('the real nft in a network namespace of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-nft-'));
  const path = process.env.PATH;
  const file = join(folder, 'saved.nft');

  beforeAll(() => {
    expect(spawnSync('ip', ['netns', 'add', space]).status).toBe(0);
    writeFileSync(
      join(folder, 'nft'),
      `#!/bin/sh\nexec ip netns exec ${space} /usr/sbin/nft "$@"\n`,
    );
    // The copy on which rules are tried out is a namespace too: there nft runs as it is.
    writeFileSync(
      join(folder, 'unshare'),
      '#!/bin/sh\nshift 2\nexec /usr/bin/unshare --net /usr/sbin/nft "$@"\n',
    );
    for (const name of ['nft', 'unshare']) chmodSync(join(folder, name), 0o755);
    process.env.PATH = `${folder}:${path}`;
  });

  afterAll(() => {
    process.env.PATH = path;
    spawnSync('ip', ['netns', 'del', space]);
    removeFolder(folder);
  });

  const context = contextOf({ nftables });
  const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
  const ruleset = (): string =>
    spawnSync(join(folder, 'nft'), ['list', 'ruleset']).stdout.toString();
  const rulesOf = (chain: string): string[] =>
    (new RegExp(`chain ${chain} \\{\\n([\\s\\S]*?)\\n\\t\\}`).exec(ruleset())?.[1] ?? '')
      .split('\n')
      .map(line => line.trim())
      .filter(line => line !== '' && !line.startsWith('type '));

  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const before = ruleset();
    const told = await within(testing(context), work);
    expect(told.changes).toEqual({});
    expect(told, String(told.comment)).toMatchObject({ result: null });
    expect(ruleset()).toBe(before);
    const done = await run(work);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(Object.keys(done.changes)).toEqual(['locale']);
    expect(ruleset()).not.toBe(before);
    expect(await run(work)).toEqual({ ...done, changes: {}, comment: expect.any(String) });
    return done;
  };

  test('tables, chains, policies and rules come and go once', { tags: 'slow' }, async () => {
    await settles(() => tables.table_present('filter'));
    await settles(() =>
      chains.chain_present('input', { table_type: 'filter', hook: 'input', priority: -10 }),
    );
    await settles(() => chains.chain_present('LOGDROP'));
    await settles(() => chains.set_policy('p', { chain: 'input', policy: 'drop' }));
    expect(ruleset()).toMatch(/type filter hook input priority filter - 10; policy drop;/);

    const web = {
      table: 'filter',
      chain: 'input',
      match: 'state',
      connstate: 'new,established',
      proto: 'tcp',
      dports: '443,80',
      counter: true,
      jump: 'accept',
    };
    const done = await settles(() => rules.append('web', web));
    expect(done.comment).toBe(
      'Set nftables rule for web to: nft add rule ip filter input ct state { new,established } counter tcp dport { 443, 80 } accept for ipv4',
    );
    await settles(() =>
      rules.append('bad', { chain: 'input', source: '10.0.0.1', jump: 'LOGDROP' }),
    );
    await settles(() =>
      rules.insert('lo', { chain: 'input', position: 1, if: 'lo', jump: 'accept' }),
    );
    await settles(() =>
      rules.insert('second', {
        chain: 'input',
        position: 2,
        proto: 'udp',
        dport: 53,
        jump: 'accept',
      }),
    );
    expect(rulesOf('input')).toEqual([
      'iifname "lo" accept',
      'udp dport 53 accept',
      'ct state { established, new } counter packets 0 bytes 0 tcp dport { 80, 443 } accept',
      'ip saddr 10.0.0.1 jump LOGDROP',
    ]);
    await settles(() => rules.delete_('web', { ...web, save: file }));
    expect(rulesOf('input')).toHaveLength(3);
    expect(readFileSync(file, 'utf8')).toMatch(/^#! nft -f\n\ntable ip filter \{/);
    expect(spawnSync('unshare', ['-n', '/usr/sbin/nft', '-f', file]).status).toBe(0);
    expect(await run(() => savedCalls.get_saved_rules(file))).toContain('table ip filter {\n');
    const { handle } = await run(() =>
      ruleCalls.get_rule_handle('filter', 'input', 'iif lo accept'),
    );
    expect(handle).toBeUndefined();
    expect(
      await run(() => ruleCalls.get_rule_handle('filter', 'input', 'iifname lo accept')),
    ).toMatchObject({ result: true, handle: expect.stringMatching(/^\d+$/) });
    expect(await run(() => ruleCalls.delete_('filter', 'input', 1))).toMatchObject({
      result: true,
    });
    expect(rulesOf('input')[0]).toBe('udp dport 53 accept');

    expect(await run(() => chains.flush('f', { chain: 'input' }))).toMatchObject({ result: true });
    expect(rulesOf('input')).toEqual([]);
    await settles(() => chains.chain_absent('LOGDROP'));
    await settles(() => tables.table_absent('filter'));
    expect(ruleset()).toBe('');
  });

  test('address translation in its own family and table', async () => {
    await run(() => tables.table_present('nat', { family: 'inet' }));
    await run(() =>
      chains.chain_present('pre', {
        table: 'nat',
        table_type: 'nat',
        hook: 'prerouting',
        priority: 'dstnat',
        family: 'inet',
      }),
    );
    await settles(() =>
      rules.append('proxy', {
        table: 'nat',
        chain: 'pre',
        family: 'inet',
        proto: 'tcp',
        dport: 80,
        'to-port': 8080,
      }),
    );
    expect(rulesOf('pre')).toEqual(['tcp dport 80 redirect to :8080']);
    const json = await run(() => savedCalls.get_rules_json('inet'));
    expect(json.some(one => 'rule' in one)).toBe(true);
    expect(await run(() => savedCalls.get_rules('inet'))).toHaveLength(1);
  });

  test('a missing object, or an error of nft, fails the state with the reason', async () => {
    const rule = { table: 'nope', chain: 'input', jump: 'accept' };
    expect(await run(() => rules.append('x', rule))).toMatchObject({
      result: false,
      comment: 'Table nope in family ipv4 does not exist',
    });
    expect(await run(() => rules.delete_('x', rule))).toMatchObject({
      result: true,
      changes: nothing,
    });
    // Something that an earlier state may create does not make a prediction fail.
    for (const state of [
      () => rules.append('x', rule),
      () => rules.insert('x', rule),
      () => chains.chain_present('input', { table: 'nope' }),
      () => chains.set_policy('x', { table: 'nope', chain: 'input', policy: 'drop' }),
    ])
      expect(await within(testing(context), state)).toMatchObject({
        result: null,
        changes: nothing,
      });
    expect(await run(() => chains.chain_present('c', { table: 'nope' }))).toMatchObject({
      result: false,
    });
    await run(() => tables.table_present('filter'));
    await run(() => chains.chain_present('input'));
    const nowhere = await run(() => rules.append('x', { chain: 'input', jump: 'NOWHERE' }));
    expect(nowhere.result).toBe(false);
    expect(nowhere.comment).toContain('No such file or directory');
    expect(await run(() => chains.flush('x', { table: 'gone' }))).toMatchObject({
      result: false,
      comment: 'Failed to flush table gone in family ipv4, table does not exist.',
    });
    expect(
      await run(() => chains.flush('x', { table: 'gone', ignore_absence: true })),
    ).toMatchObject({ result: true, changes: nothing });
    expect(await run(() => tables.table_present('a; flush ruleset'))).toMatchObject({
      result: false,
      comment: 'Not a name that nftables takes for a table: a; flush ruleset',
    });
  });
});
