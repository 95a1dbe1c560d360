import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as iptables from '../../src/modules/exec/iptables.ts';
import { ruleWords } from '../../src/modules/lib/iptables-rule.ts';
import * as state from '../../src/modules/state/iptables.ts';
import { contextOf, testing, within } from './_context.ts';

const space = `tsalt-ipt-${process.pid}`;
const canRun =
  process.getuid?.() === 0 && spawnSync('unshare', ['-n', 'iptables', '-S']).status === 0;

test('a rule is words in the order iptables wants them', () => {
  expect(
    ruleWords({
      jump: 'LOG',
      'log-prefix': 'a b ',
      source: '! 10.0.0.0/8',
      protocol: 'tcp',
      dports: [80, 443],
      connstate: 'NEW',
      comment: 'web; $(id)',
      save: true,
      table: 'filter',
    }),
  ).toEqual([
    ...['-p', 'tcp', '-m', 'state', '--state', 'NEW', '-m', 'multiport', '--dports', '80,443'],
    ...['-m', 'comment', '--comment', 'web; $(id)', '!', '--source', '10.0.0.0/8'],
    ...['--jump', 'LOG', '--log-prefix', 'a b '],
  ]);
  expect(() => ruleWords({ dports: '1,2' })).toThrow('protocol must be specified');
});

describe.skipIf(!canRun)('the real iptables in a network namespace of its own', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tsalt-ipt-'));
  const path = process.env.PATH;

  beforeAll(() => {
    expect(spawnSync('ip', ['netns', 'add', space]).status).toBe(0);
    for (const name of ['iptables', 'iptables-save']) {
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
  });

  const context = contextOf({ iptables });
  const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
  const file = join(folder, 'rules.v4');

  test('chains, rules and policies come and go once', async () => {
    const chain = () => state.chain_present('LOGDROP', { table: 'filter' });
    const rule = () =>
      state.append('ssh', {
        chain: 'INPUT',
        protocol: 'tcp',
        dport: 22,
        source: '!10.0.0.0/8',
        jump: 'LOGDROP',
        comment: 'from "outside"',
        save: file,
      });
    const policy = () => state.set_policy('drop', { chain: 'FORWARD', policy: 'DROP' });
    for (const step of [chain, rule, policy]) {
      if (step === rule) await run(chain);
      expect((await within(testing(context), step)).result).toBe(null);
      const first = await run(step);
      expect(first.result).toBe(true);
      expect(first.changes).toHaveProperty('locale');
      expect(await run(step)).toMatchObject({ result: true, changes: {} });
    }
    expect(readFileSync(file, 'utf8')).toMatch(
      /-A INPUT ! -s 10\.0\.0\.0\/8 -p tcp .*--dport 22 .*-j LOGDROP/,
    );
    const first = await run(() =>
      state.insert('first', { chain: 'INPUT', position: 1, jump: 'ACCEPT', if: 'lo' }),
    );
    expect(first.result).toBe(true);
    const { stdout } = spawnSync('ip', ['netns', 'exec', space, 'iptables', '-S', 'INPUT']);
    expect(stdout.toString().split('\n')[1]).toBe('-A INPUT -i lo -j ACCEPT');
    const gone = await run(() =>
      state.delete_('first', { chain: 'INPUT', jump: 'ACCEPT', if: 'lo' }),
    );
    expect(gone.changes).toEqual({ locale: 'first' });
  });

  test('what iptables refuses fails the state with its words', async () => {
    expect(await run(() => state.append('x', { chain: 'NOWHERE', jump: 'ACCEPT' }))).toMatchObject({
      result: false,
      changes: {},
    });
  });
});
