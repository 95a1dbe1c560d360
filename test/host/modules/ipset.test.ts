import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import * as ipset from '../../../src/modules/firewall/exec/ipset.ts';
import { holdsEntry, parseEntry } from '../../../src/modules/firewall/ipset-members.ts';
import * as state from '../../../src/modules/firewall/states/ipset.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';
import { notedPrograms } from '../../modules/_programs.ts';

const holds = (members: string[], entry: string): boolean =>
  holdsEntry(members.map(parseEntry), parseEntry(entry));

test('an entry is there when all of its addresses are', () => {
  expect(holds(['192.0.2.0/24'], '192.0.2.7')).toBe(true);
  expect(holds(['192.0.2.0/24'], '192.0.2.0/23')).toBe(false);
  expect(holds(['192.0.2.7'], '192.0.2.0/24')).toBe(false);
  expect(holds(['192.0.2.1', '192.0.2.3', '192.0.2.2'], '192.0.2.1-192.0.2.3')).toBe(true);
  expect(holds(['192.0.2.1', '192.0.2.3'], '192.0.2.1-192.0.2.3')).toBe(false);
  expect(holds(['2001:db8::/32'], '2001:0db8:0::1')).toBe(true);
  expect(holds(['192.0.2.1,tcp:80'], '192.0.2.1,tcp:80')).toBe(true);
  expect(holds(['192.0.2.1,tcp:80'], '192.0.2.1,tcp:81')).toBe(false);
  expect(holds(['192.0.2.1 timeout 12 comment "a b"'], '192.0.2.1 comment "a b"')).toBe(true);
  expect(holds(['192.0.2.1 timeout 12 comment "a b"'], '192.0.2.1 timeout 90')).toBe(true);
  expect(holds(['192.0.2.1 comment "a b"'], '192.0.2.1 comment a')).toBe(false);
  expect(holds(['192.0.2.0/24 nomatch'], '192.0.2.1')).toBe(false);
});

/** Whether the kernel here has sets, in a network of their own. */
const hasSets = (): boolean => {
  const words = ['--net', 'ipset', 'create', 'x', 'hash:ip'];
  return process.getuid?.() === 0 && !!which('ipset') && spawnSync('unshare', words).status === 0;
};

describe.skipIf(!hasSets())('the real ipset, in a network of its own', () => {
  const { program, log } = notedPrograms();
  const context = contextOf({ ipset });
  const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
  let network: ChildProcess;
  beforeAll(async () => {
    network = spawn('unshare', ['--net', 'sh', '-c', 'echo; exec sleep 600'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    await new Promise(done => network.stdout?.once('data', done));
  });
  afterAll(() => void network.kill());
  beforeEach(() => {
    const real = which('ipset');
    program('ipset', `exec nsenter -t ${network.pid} -n ${real} "$@"`);
  });

  /** The results of test mode, of a run, and of a second run. */
  const thrice = async (work: () => ReturnType<typeof state.flush>) => [
    await within(testing(context), work),
    await run(work),
    await run(work),
  ];

  test('sets and entries come once and go', async () => {
    const made = await thrice(() =>
      state.set_present('net', 'hash:net', 'ipv4', { comment: true, counters: true, timeout: 0 }),
    );
    const changes = { locale: 'net' };
    expect(made).toMatchObject([
      { result: null, changes, comment: 'ipset set net would be added for ipv4' },
      { result: true, changes, comment: 'ipset set net created successfully for ipv4' },
      { result: true, changes: {}, comment: 'ipset set net already exists for ipv4' },
    ]);
    expect(log()).toContain('ipset create net hash:net timeout 0 counters family inet comment');

    const entry = ['192.0.2.0/24', '198.51.100.7 timeout 90'];
    const filled = await thrice(() =>
      state.present('mine', entry, 'ipv4', { set_name: 'net', comment: 'spam & more' }),
    );
    expect(filled).toMatchObject([
      { result: null, changes: { locale: 'mine' } },
      { result: true, changes: { locale: 'mine' } },
      {
        result: true,
        changes: {},
        comment:
          'entry for 192.0.2.0/24 already in set net for ipv4\nentry for 198.51.100.7 already in set net for ipv4\n',
      },
    ]);
    expect(log()).toContain('ipset add -exist net 192.0.2.0/24 comment spam & more');
    expect(await run(() => ipset.check('net', '192.0.2.9 comment "spam & more"'))).toBe(true);
    expect(await run(() => ipset.check('net', '192.0.2.9 comment other'))).toBe(false);
    expect(await run(() => ipset.test('net', '192.0.2.9'))).toBe(true);

    const gone = await thrice(() =>
      state.absent('x', '192.0.2.0/24', null, 'ipv4', { set_name: 'net' }),
    );
    expect(gone.map(({ result, changes }) => [result, Object.keys(changes).length])).toEqual([
      [null, 1],
      [true, 1],
      [true, 0],
    ]);
    expect(await run(() => ipset.list_sets())).toMatchObject([
      { Name: 'net', Type: 'hash:net', 'Number of entries': '1' },
    ]);
    expect(await run(() => state.flush('net'))).toMatchObject({ result: true, changes });
    const left = await thrice(() => state.set_absent('net'));
    expect(left).toMatchObject([
      { result: null, changes },
      { result: true, changes, comment: 'ipset set net deleted successfully for family ipv4' },
      { result: true, changes: {} },
    ]);
    expect(await run(() => ipset.list_sets())).toEqual([]);
  });

  test('impossible requests are reported: no set, no support, an unknown type, no entry', async () => {
    expect(
      await run(() => state.present('x', '192.0.2.1', 'ipv4', { set_name: 'none' })),
    ).toMatchObject({
      result: false,
      comment:
        'Failed to add to entry 192.0.2.1 to set none for family ipv4.\nError: Set none does not exist\n',
    });
    expect(await run(() => state.flush('none'))).toMatchObject({ result: false });
    expect(await run(() => state.present('x'))).toMatchObject({ result: false });
    expect(await run(() => state.set_present('t', 'tree:ip'))).toMatchObject({
      result: false,
      comment: 'Failed to create set t for ipv4: Error: Set Type is invalid',
    });
    expect(await run(() => state.set_present('t', 'bitmap:ip'))).toMatchObject({ result: false });
    expect(
      await run(() => state.set_present('six', 'hash:ip', 'ipv6', { maxelem: 10 })),
    ).toMatchObject({ result: true });
    expect(await run(() => ipset.add('six', '2001:db8::1', 'ipv6', { comment: 'a' }))).toBe(
      'Error: Set six not created with comment support',
    );
    expect(await run(() => ipset.add('six', '192.0.2.1', 'ipv6'))).toMatch(/^Error: ipset v/);
    expect(await run(() => ipset.add('six', '2001:db8::1', 'ipv6'))).toBe('Success');
    expect(await run(() => ipset.rename_set('six', 'seven'))).toBe(true);
    expect(await run(() => ipset.delete_('seven', '2001:db8::1'))).toBe('Success');
    expect(await run(() => ipset.delete_set('seven'))).toBe(true);
    await expect(run(() => ipset.check_set('x', 'ipv5'))).rejects.toThrow("'ipv5' is not a family");
  });
});
