import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { readAugeasCommand } from '../../../src/modules/augeas/augeas-commands.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const real = test.skipIf(which('augtool') === undefined);
const lens = 'Hosts.lns';
let host: TestHost;
let folder = '';
let file = '';
let context = '';
beforeEach(() => {
  host = makeHost();
  folder = mkdtempSync(join(tmpdir(), 'tsalt-augeas-'));
  file = join(folder, 'hosts');
  context = `/files${file}`;
  writeFileSync(file, '127.0.0.1 localhost\n10.0.0.1 a b # c\n');
});
afterEach(() => {
  host.remove();
  removeFolder(folder);
});

const text = (): string => readFileSync(file, 'utf8');
const execute = (...commands: string[]) => host.call('augeas.execute', context, lens, commands);

real('commands change a file, all of them or none', async () => {
  expect(
    await execute('set 2/canonical new', 'set 3/ipaddr 10.9.9.9', 'set 3/canonical z'),
  ).toEqual({ retval: true });
  expect(text()).toBe('127.0.0.1 localhost\n10.0.0.1 new b # c\n10.9.9.9\tz\n');
  expect(
    await execute(
      'ins 01 before 1',
      'set 01/ipaddr 1.1.1.1',
      "set 01/canonical 'first'",
      `rm "*[canonical = 'z']"`,
      `mv ${context}/2/alias ${context}/1/alias`,
      'setm *[alias] alias x',
      `set ${context}/01/alias 'y'`,
    ),
  ).toEqual({ retval: true });
  expect(text()).toBe('1.1.1.1\tfirst y\n127.0.0.1 localhost x\n10.0.0.1 new # c\n');
  const before = text();
  expect(await execute('set 1/canonical other', 'set */canonical x')).toEqual({
    retval: false,
    error: 'Too many matches for path expression',
  });
  expect(await execute("set 1/canonical 'a b'")).toEqual({
    retval: false,
    error: 'Unable to save to file!',
  });
  const odd = await host.call('augeas.execute', context, 'Hostz', ['set 1/canonical x']);
  expect(odd).toMatchObject({ retval: false, error: expect.stringContaining('"Hostz.lns"?') });
  expect(text()).toBe(before);
});

test('unknown commands are reported', () => {
  const wrong = (words: string) => ({
    error: `Invalid formatted command, see debug log for details: ${words}`,
  });
  expect(readAugeasCommand('odd x')).toEqual({ error: 'Command odd is not supported (yet)' });
  expect(readAugeasCommand('set')).toEqual(wrong('set'));
  expect(readAugeasCommand('set a b c')).toEqual(wrong('a b c'));
  expect(readAugeasCommand('ins a aside b')).toEqual(wrong('a aside b'));
  expect(readAugeasCommand("set a 'b")).toEqual(wrong("a 'b"));
  expect(readAugeasCommand("set a 'b c'")).toEqual({ method: 'set', words: ['a', 'b c'] });
});

real('a state changes a file once, and in test mode nothing', async () => {
  const options = { context, lens, changes: ['set 1/canonical one', 'set 1/ipaddr 9.9.9.9'] };
  const before = text();
  expect(await host.test('augeas.change', 'x', options)).toEqual({
    name: 'x',
    result: null,
    changes: { updates: options.changes },
    comment: `Executing commands in file "${context}":\n${options.changes.join('\n')}`,
  });
  expect(text()).toBe(before);
  expect(await host.state('augeas.change', 'x', options)).toEqual({
    name: 'x',
    result: true,
    changes: { diff: '--- \n+++ \n@@ -1 +1 @@\n-127.0.0.1 localhost\n+9.9.9.9 one\n' },
    comment: 'Changes have been saved',
  });
  for (const run of ['state', 'test'] as const)
    expect(await host[run]('augeas.change', 'x', options)).toEqual({
      name: 'x',
      result: true,
      changes: {},
      comment: 'No changes made',
    });
  for (const run of ['state', 'test'] as const)
    expect(
      await host[run]('augeas.change', 'x', { ...options, changes: ["set 1/alias 'a b'"] }),
    ).toMatchObject({ result: false, changes: nothing, comment: 'Error: Unable to save to file!' });
});

real('changes without a context are of one file', async () => {
  const change = async (changes: unknown, more = {}) =>
    (await host.state('augeas.change', 'x', { changes, ...more })).comment;
  expect(await change(['set 1/canonical one'])).toBe(
    'Error: Changes should be prefixed with /files if no context is provided, change: set 1/canonical one',
  );
  expect(await change([`set ${context}/1/canonical x`, 'set /files/etc/none/y z'])).toBe(
    `Error: Changes should be made to one file at a time, detected changes to ${file}/1/canonical and /etc/none/y`,
  );
  expect(await change('set a b')).toBe("'changes' must be specified as a list");
  expect(await change(['set a b'], { load_path: '/x' })).toBe(
    "'load_path' must be specified as a list",
  );
  expect(await change(['set'])).toBe(
    'Error: Invalid formatted command, see debug log for details: set',
  );
});

test.skipIf(which('augtool') === undefined || !canRunApart())(
  'nodes of all files are read and set',
  { timeout: 180_000 },
  async () => {
    const told = await runApart(
      { augeas: 'src/modules/augeas/exec/augeas.ts', state: 'src/modules/augeas/states/augeas.ts' },
      `import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
      // All lenses take seconds each time: these are what the hosts file needs.
      const lenses = '/usr/share/augeas/lenses/dist/';
      const needed = ['hosts', 'rx', 'util', 'sep', 'build'].map(name => name + '.aug');
      for (const name of readdirSync(lenses))
        if (!needed.includes(name)) rmSync(lenses + name, { recursive: true });
      writeFileSync('/etc/hosts', '127.0.0.1 localhost\\n10.0.0.1 a b # c\\n');
      const hosts = '/files/etc/hosts';
      await step('get', () => augeas.get(hosts + '/2/', '/ipaddr/'));
      await step('no value', () => augeas.get(hosts + '/2'));
      await step('no node', () => augeas.get(hosts + '/9'));
      await step('odd', () => augeas.get('/files['));
      await step('match', () => augeas.match(hosts + '/*/ipaddr'));
      await step('match one', () => augeas.match(hosts + '/*/ipaddr', '10.0.0.1'));
      await step('match none', () => augeas.match('/files/none'));
      await step('ls', () => augeas.ls(hosts));
      await step('ls one', () => augeas.ls(hosts + '/2/'));
      await step('ls none', () => augeas.ls('/files/none'));
      await step('tree', () => augeas.tree(hosts + '/2'));
      await step('set', () => augeas.setvalue({ prefix: hosts }, '01/ipaddr', '10.0.0.2', '01/canonical', 'new'));
      await step('uneven', () => augeas.setvalue({}, 'a'));
      await step('remove', () => augeas.remove(hosts + '/2'));
      await step('remove none', () => augeas.remove(hosts + '/none'));
      await step('remove odd', () => augeas.remove('/files['));
      await step('change', () => state.change('x', { changes: ['set ' + hosts + '/1/canonical a', 'set ' + hosts + '/1/alias b'] }));
      told.file = readFileSync('/etc/hosts', 'utf8');`,
      ['/usr/share/augeas'],
    );
    const at = '/files/etc/hosts';
    expect(told).toMatchObject({
      get: { [`${at}/2/ipaddr`]: '10.0.0.1' },
      'no value': { [`${at}/2`]: null },
      'no node': { [`${at}/9`]: '' },
      odd: { error: expect.stringContaining('unmatched [') },
      match: { [`${at}/1/ipaddr`]: '127.0.0.1', [`${at}/2/ipaddr`]: '10.0.0.1' },
      'match none': nothing,
      ls: { '1/': null, '2/': null },
      'ls one': { ipaddr: '10.0.0.1', canonical: 'a', alias: 'b', '#comment': 'c' },
      'ls none': nothing,
      set: { retval: true },
      uneven: 'failed: Uneven number of path/value arguments',
      remove: { retval: true, count: 5 },
      'remove none': { retval: true, count: 0 },
      'remove odd': { retval: false, error: 'Invalid node', count: -1 },
      file: '127.0.0.1 a b\n10.0.0.2\tnew\n',
    });
    expect(told['match one']).toEqual({ [`${at}/2/ipaddr`]: '10.0.0.1' });
    expect(told.tree).toEqual({
      [`${at}/2`]: null,
      [`${at}/2/ipaddr`]: '10.0.0.1',
      [`${at}/2/canonical`]: 'a',
      [`${at}/2/alias`]: 'b',
      [`${at}/2/#comment`]: 'c',
    });
  },
);
