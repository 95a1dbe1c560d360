import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LowChunk, StateReturn } from '../../../src/modules/api.ts';
import * as chainCalls from '../../../src/modules/firewall/exec/iptables/chains.ts';
import * as ruleCalls from '../../../src/modules/firewall/exec/iptables/rules.ts';
import * as savedCalls from '../../../src/modules/firewall/exec/iptables/saved.ts';
import { ruleText } from '../../../src/modules/firewall/iptables-rule.ts';
import { parseSavedRules } from '../../../src/modules/firewall/iptables-save.ts';
import { append } from '../../../src/modules/firewall/states/iptables/append.ts';
import * as chains from '../../../src/modules/firewall/states/iptables/chains.ts';
import { delete_ } from '../../../src/modules/firewall/states/iptables/delete.ts';
import { insert } from '../../../src/modules/firewall/states/iptables/insert.ts';
import { mod_aggregate } from '../../../src/modules/firewall/states/iptables/mod_aggregate.ts';
import { set_policy } from '../../../src/modules/firewall/states/iptables/set_policy.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const space = `tsalt-ipt-${process.pid}`;
const iptables = { ...chainCalls, ...ruleCalls, ...savedCalls };
const canRun =
  process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'iptables', '-S']).status === 0;

test.each([
  [
    { jump: 'LOG', 'log-prefix': 'a b ', source: '! 10.0.0.0/8', protocol: 'tcp', save: true },
    '-p tcp ! --source 10.0.0.0/8 --jump LOG --log-prefix "a b "',
  ],
  [
    { proto: 'tcp', dports: [80, 443], connstate: 'NEW', match: 'state', target: 'ACCEPT' },
    '-p tcp -m state --state NEW -m multiport --dports 80,443 --jump ACCEPT',
  ],
  [
    { if: 'eth0', of: '!lo', connstate: ['NEW', 'RELATED'], comment: 'web; $(id) "x"', j: 'DROP' },
    '-i eth0 ! -o lo -m state --state NEW,RELATED -m comment --comment "web; $(id) \\"x\\"" --j DROP',
  ],
  [
    {
      protocol: 'tcp',
      dports: ['!22', 80],
      sports: 'not 1:5',
      match: 'comment,limit',
      comment: 'c',
    },
    '-p tcp -m comment -m limit -m multiport ! --dports 22,80 ! --sports 1:5 --comment "c"',
  ],
  [
    { match: 'policy', proto: 'esp', dir: 'in', pol: 'ipsec', reqid: 1, jump: 'ACCEPT' },
    '-m policy --proto esp --dir in --pol ipsec --reqid 1 --jump ACCEPT',
  ],
  [
    { match: 'recent', name_: 'ssh', set: '', rsource: '', 'match-set': ['a src', '!b dst'] },
    '-m recent --name ssh -m set --match-set a src -m set ! --match-set b dst --set --rsource',
  ],
  [
    { protocol: 'tcp', 'tcp-flags': 'SYN,RST SYN', jump: 'TCPMSS', 'clamp-mss-to-pmtu': '' },
    '-p tcp --tcp-flags SYN,RST SYN --jump TCPMSS --clamp-mss-to-pmtu',
  ],
])('a rule is written as Salt writes it: %o', (given, expected) => {
  expect(ruleText({ ...given, chain: 'INPUT', name: 'x', __id__: 'x', order: 1 })).toBe(expected);
});

test('several ports need a protocol', () => {
  expect(() => ruleText({ dports: '1,2' })).toThrow('protocol must be specified');
});

test('a negation holds for all that a value lists, and a protocol called not… is none', () => {
  expect(ruleText({ protocol: 'tcp', dports: '!22,!80' })).toBe(
    '-p tcp -m multiport ! --dports 22,80',
  );
  expect(ruleText({ source: 'not 1.1.1.1, not 1.1.1.2' })).toBe('! --source 1.1.1.1,1.1.1.2');
  expect(ruleText({ protocol: 'tcp', dport: 'not22' })).toBe('-p tcp ! --dport 22');
  expect(ruleText({ protocol: 'notify' })).toBe('-p notify');
});

test('saved rules are read by table, chain and option', () => {
  const rules = parseSavedRules(
    '# Generated\n*filter\n:INPUT DROP [12:345]\n:LOGDROP - [0:0]\n' +
      '-A INPUT ! -s 10.0.0.0/8 -p tcp -m tcp --dport 22 -m comment --comment "a b" -j LOGDROP\nCOMMIT\n',
  );
  expect(rules.filter?.LOGDROP).toMatchObject({ policy: '-', rules: [] });
  expect(rules.filter?.INPUT).toMatchObject({ policy: 'DROP', 'packet count': '12' });
  const rule = {
    source: ['! 10.0.0.0/8'],
    protocol: ['tcp'],
    match: ['tcp', 'comment'],
    destination_port: ['22'],
    comment: ['a b'],
    jump: ['LOGDROP'],
  };
  expect(rules.filter?.INPUT?.rules).toEqual([rule]);
  expect(rules.filter?.INPUT?.rules_comment).toEqual({ 'a b': rule });
});

describe.skipIf(!canRun)('the real iptables in a network namespace of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-ipt-'));
  const path = process.env.PATH;

  beforeAll(() => {
    expect(spawnSync('ip', ['netns', 'add', space]).status).toBe(0);
    for (const name of ['iptables', 'iptables-save', 'ip6tables', 'ip6tables-save', 'ipset']) {
      writeFileSync(
        join(folder, name),
        `#!/bin/sh\nexec ip netns exec ${space} /usr/sbin/${name} "$@"\n`,
      );
      chmodSync(join(folder, name), 0o755);
    }
    process.env.PATH = `${folder}:${path}`;
  });

  afterAll(() => {
    process.env.PATH = path;
    spawnSync('ip', ['netns', 'del', space]);
    removeFolder(folder);
  });

  // The control node's result for an option that is not set.
  const config = { option: () => '' };
  const context = contextOf({ iptables, config });
  const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
  const file = join(folder, 'saved', 'rules.v4');
  const kernel = (chain: string, program = 'iptables'): string[] =>
    spawnSync(join(folder, program), ['-S', chain]).stdout.toString().trim().split('\n').slice(1);

  /** Test mode predicts and changes nothing, the run changes, the next run has nothing to do. */
  const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
    const before = spawnSync(join(folder, 'iptables-save')).stdout.toString().replace(/^#.*/gm, '');
    const told = await within(testing(context), work);
    expect(told.changes).toEqual({});
    expect(told, String(told.comment)).toMatchObject({ result: null });
    expect(spawnSync(join(folder, 'iptables-save')).stdout.toString().replace(/^#.*/gm, '')).toBe(
      before,
    );
    const done = await run(work);
    expect(done, String(done.comment)).toMatchObject({ result: true });
    expect(done.changes).toHaveProperty('locale');
    expect(await run(work)).toEqual({ ...done, changes: {}, comment: expect.any(String) });
    return done;
  };

  test('chains, rules and policies come and go once', async () => {
    await settles(() => chains.chain_present('LOGDROP'));
    const rule = {
      chain: 'INPUT',
      protocol: 'tcp',
      dport: 22,
      source: '!10.0.0.0/8',
      match: 'state',
      connstate: 'NEW',
      jump: 'LOGDROP',
      comment: 'from "outside"; $(id)',
      save: file,
    };
    const done = await settles(() => append('ssh', rule));
    expect(done.comment).toBe(
      `Set and saved iptables rule ssh for ipv4\n${folder}/iptables --wait -t filter -A INPUT  -p tcp -m state --state NEW --dport 22 -m comment --comment "from \\"outside\\"; $(id)" ! --source 10.0.0.0/8 --jump LOGDROP\nWrote 1 lines to "${file}"`,
    );
    expect(readFileSync(file, 'utf8')).toContain('-j LOGDROP');
    expect(kernel('INPUT')).toEqual([
      '-A INPUT ! -s 10.0.0.0/8 -p tcp -m state --state NEW -m tcp --dport 22 -m comment --comment "from \\"outside\\"; $(id)" -j LOGDROP',
    ]);
    await settles(() => insert('first', { chain: 'INPUT', position: 1, jump: 'ACCEPT', if: 'lo' }));
    expect(kernel('INPUT')[0]).toBe('-A INPUT -i lo -j ACCEPT');
    await settles(() =>
      insert('before', { chain: 'INPUT', position: -1, jump: 'ACCEPT', if: 'b' }),
    );
    expect(kernel('INPUT')[1]).toBe('-A INPUT -i b -j ACCEPT');
    await settles(() => set_policy('drop', { chain: 'FORWARD', policy: 'DROP', save: file }));
    expect(await run(() => savedCalls.get_saved_policy('filter', 'FORWARD', file))).toBe('DROP');
    const gone = await settles(() => delete_('ssh', rule));
    expect(gone.comment).toContain('Deleted and saved iptables rule ssh for ipv4\n');
    expect(readFileSync(file, 'utf8')).not.toContain('-j LOGDROP');
    await settles(() => chains.chain_absent('LOGDROP'));
    await settles(() => append('six', { chain: 'INPUT', family: 'ipv6', jump: 'DROP' }));
    expect(kernel('INPUT', 'ip6tables')).toEqual(['-A INPUT -j DROP']);
  });

  test('a rule is taken away by its number; a chain is flushed each time', async () => {
    await run(() => append('a', { chain: 'OUTPUT', of: 'a', jump: 'ACCEPT' }));
    await run(() => append('b', { chain: 'OUTPUT', of: 'b', jump: 'ACCEPT' }));
    expect(await run(() => delete_('x', { chain: 'OUTPUT', position: 1 }))).toMatchObject({
      result: true,
      changes: { locale: 'x' },
    });
    expect(kernel('OUTPUT')).toEqual(['-A OUTPUT -o b -j ACCEPT']);
    const flush = () => chains.flush('empty', { chain: 'OUTPUT' });
    expect(await within(testing(context), flush)).toMatchObject({ result: null, changes: nothing });
    expect(await run(flush)).toMatchObject({ result: true, changes: { locale: 'empty' } });
    expect(kernel('OUTPUT')).toEqual([]);
  });

  test('aggregated states set all their rules in one state and save once', async () => {
    const chunk = (name: string, port: number): LowChunk => ({
      state: 'iptables',
      fun: 'append',
      name,
      __id__: name,
      __sls__: 'web',
      __env__: 'base',
      order: port,
      chain: 'FORWARD',
      protocol: 'tcp',
      dport: port,
      jump: 'ACCEPT',
      save: file,
    });
    const [low, other] = [chunk('http', 80), chunk('https', 443)];
    await mod_aggregate(low, [low, other, chunk('ran', 1)], {
      'iptables_|-ran_|-ran_|-append': {},
    });
    expect(other).toMatchObject({ __agg__: true });
    const both = () => append('http', { rules: low.rules ?? [] });
    const done = await settles(both);
    expect(done.changes).toEqual({ locale: ['http', 'https'] });
    expect(kernel('FORWARD').map(line => /--dport (\d+)/.exec(line)?.[1])).toEqual(['80', '443']);
    expect(readFileSync(file, 'utf8')).toContain('--dport 443');
    expect(await run(() => append('x', { rules: [{ chain: 'INPUT' }] }))).toMatchObject({
      result: false,
      comment: 'Every entry of "rules" must be a mapping with a "name".',
    });
  });

  test('a rule that is set but not written down is saved', async () => {
    const rule = { chain: 'OUTPUT', protocol: 'udp', dport: 53, jump: 'ACCEPT' };
    await run(() => append('dns', rule));
    const saving = () => append('dns', { ...rule, save: file });
    expect(await within(testing(context), saving)).toMatchObject({
      result: null,
      changes: nothing,
    });
    expect(await run(saving)).toMatchObject({ changes: { saved: `Wrote 1 lines to "${file}"` } });
    expect(await run(saving)).toMatchObject({ result: true, changes: nothing });
    expect(readFileSync(file, 'utf8')).toContain('--dport 53');
    const rules = await run(() => savedCalls.get_saved_rules(file));
    expect(rules).toEqual(await run(() => savedCalls.get_rules()));
  });

  test('rules of the configuration’s save_filters stay out of the file', async () => {
    const filtering = contextOf({ iptables, config: { option: () => ['-A DOCKER.*'] } });
    await run(() => chains.chain_present('DOCKER'));
    await run(() => append('docker', { chain: 'DOCKER', jump: 'RETURN' }));
    await within(filtering, () => savedCalls.save(file));
    expect(readFileSync(file, 'utf8')).not.toContain('-A DOCKER');
    expect(await within(filtering, () => savedCalls.is_saved(file))).toBe(true);
    expect(await run(() => savedCalls.is_saved(file))).toBe(false);
  });

  test('an error of iptables fails the state with its message', async () => {
    expect(await run(() => append('x', { chain: 'NOWHERE', jump: 'ACCEPT' }))).toMatchObject({
      result: false,
      changes: nothing,
    });
    expect(await run(() => append('x', { chain: 'INPUT', family: 'ipx' }))).toMatchObject({
      result: false,
      comment: 'Not a family of addresses: ipx. Write ipv4 or ipv6.',
    });
  });
});
