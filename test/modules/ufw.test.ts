import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import type { StateReturn } from '../../src/modules/api.ts';
import * as ufw from '../../src/modules/exec/ufw.ts';
import * as state from '../../src/modules/state/ufw.ts';
import { nothing } from '../helpers/nothing.ts';
import { contextOf, testing, within } from './_context.ts';

/** A stand-in that answers in ufw's words and keeps rules in a file, a line each. */
const program = `#!/bin/sh
cd "$(dirname "$0")" || exit 1
touch rules on defaults
dry=; [ "$1" = --dry-run ] && { dry=1; shift; }
case "$*" in
  'status verbose') [ -s on ] || { echo 'Status: inactive'; exit; }
    echo 'Status: active'; echo 'Logging: on (low)'; echo "Default: $(cat in 2>/dev/null || echo deny) (incoming), allow (outgoing), disabled (routed)";;
  status) [ -s on ] && echo 'Status: active' || echo 'Status: inactive';;
  '--force enable') echo 1 >on; echo 'Firewall is active and enabled on system startup';;
  '--force disable') : >on; echo 'Firewall stopped and disabled on system startup';;
  'default '*' incoming') echo "$2" >in; echo "Default incoming policy changed to '$2'";;
  'insert 1 '*) shift 2
    [ -s rules ] || { echo "ERROR: Invalid position '1'" >&2; exit 1; }
    if grep -qxF -- "$*" rules; then echo 'Skipping inserting existing rule'
    else [ -n "$dry" ] || { echo "$*" | cat - rules >new; mv new rules; }; echo 'Rule inserted'; fi;;
  *' port nonsense'*) echo "ERROR: Bad port 'nonsense'" >&2; exit 1;;
  *) if grep -qxF -- "$*" rules; then echo 'Skipping adding existing rule'; echo 'Skipping adding existing rule (v6)'
     else [ -n "$dry" ] || echo "$*" >>rules; echo 'Rules updated'; fi;;
esac
`;
const folder = mkdtempSync(join(tmpdir(), 'tsalt-ufw-'));
const path = process.env.PATH;
writeFileSync(join(folder, 'ufw'), program);
chmodSync(join(folder, 'ufw'), 0o755);
process.env.PATH = `${folder}:${path}`;
vi.setConfig({ testTimeout: 30_000 });

afterAll(() => {
  process.env.PATH = path;
  rmSync(folder, { recursive: true, force: true });
});

const context = contextOf({ ufw });
/** Test mode tells, the run does, and the next run has nothing to do. */
const settles = async (work: () => Promise<StateReturn>): Promise<void> => {
  expect(await within(testing(context), work)).toMatchObject({ result: null });
  const done = await within(context, work);
  expect(done, String(done.comment)).toMatchObject({ result: true });
  expect(Object.keys(done.changes)).toHaveLength(1);
  expect(await within(context, work)).toMatchObject({ result: true, changes: nothing });
};

// With a ufw of its own the machine's settings would answer.
test.skipIf(existsSync('/etc/default/ufw'))('is turned on and off, with its defaults', async () => {
  await settles(() => state.enabled('ufw'));
  await settles(() => state.default_incoming('in', { default: 'reject' }));
  expect(await within(context, () => ufw.get_defaults())).toEqual({
    incoming: 'reject',
    outgoing: 'allow',
    routed: 'disabled',
  });
  await settles(() => state.disabled('ufw'));
});

test('adds rules in the words of its manual page', async () => {
  const any = { to_port: '*', protocol: 'tcp' };
  await settles(() => state.deny('first', { ...any, from_addr: '10.0.0.9' }));
  await settles(() =>
    state.allow('web', { protocol: 'tcp', to_port: 80, comment: `"it's; $(web)"` }),
  );
  await settles(() => state.limit('ssh', { interface: 'eth0', protocol: 'tcp', to_port: '22' }));
  await settles(() =>
    state.deny('bad', { from_addr: '10.0.0.0/8', from_port: 53, to_addr: '10.1.1.1' }),
  );
  await settles(() => state.allow('app', { app: 'OpenSSH' }));
  await settles(() => state.allow('name', { from_addr: 'localhost', app: '*' }));
  expect(readFileSync(join(folder, 'rules'), 'utf8').trim().split('\n')).toEqual([
    'deny from 10.0.0.0/8 port 53 to 10.1.1.1',
    'deny proto tcp from 10.0.0.9 to any',
    "allow proto tcp from any to any port 80 comment it's; $(web)",
    'limit in on eth0 proto tcp from any to any port 22',
    'allow from any to any app OpenSSH',
    'allow from 127.0.0.1 to any',
  ]);
  expect(await within(context, () => state.allow('x', { to_port: 'nonsense' }))).toMatchObject({
    result: false,
    comment: "Bad port 'nonsense'",
  });
  expect(await within(context, () => state.allow('x', { app: 'a', to_port: 1 }))).toMatchObject({
    result: false,
  });
});
