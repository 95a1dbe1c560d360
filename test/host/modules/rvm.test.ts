import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import * as rvm from '../../../src/modules/ruby/exec/rvm.ts';
import * as state from '../../../src/modules/ruby/states/rvm.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, within } from '../../modules/_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-rvm-'));
afterAll(() => removeFolder(folder));

test('without rvm nothing is there, and a gemset cannot be', async () => {
  const context = contextOf({ rvm });
  // No machine that runs tests has this account.
  expect(await within(context, () => rvm.list_('nobody-has-this'))).toEqual([]);
  expect(await within(context, () => state.gemset_present('app'))).toMatchObject({
    result: false,
    comment: 'RVM is not installed.',
    changes: nothing,
  });
});

/** The output of rvm 1.29, from a folder of rubies and gemsets; every call is recorded. */
const program = `#!/bin/sh
home=${folder}
echo "$*" >> $home/log
case "$1 $2 $3 $4 $5" in
list*) cat $home/rubies;;
install*) case $2 in bad*) echo "Unknown ruby interpreter version: $2" >&2; exit 1;; esac
  echo "   ruby-$2 [ x86_64 ]" >> $home/rubies;;
'alias create default'*) sed -i 's/^=\\*/  /; s/^  *ruby-'"$4"' /=* ruby-'"$4"' /' $home/rubies;;
*' do rvm gemset list') echo; echo "gemsets for ruby-3.2.2 (found in /usr/local/rvm/gems/ruby-3.2.2)"; echo "=> (default)"; cat $home/sets;;
*' do rvm gemset list_all') printf 'gemsets for ruby-3.2.2 (found in /x)\\n=> (default)\\n   global\\n\\ngemsets for jruby-9.4 (found in /y)\\n   one\\n   two\\n';;
*' do rvm gemset create') echo "   $6" >> $home/sets;;
*' do gem list'*) echo 'rake (13.0.6, default: 12.0)';;
*) echo "did $*";;
esac
`;

test.skipIf(!canRunApart())(
  'rubies and gemsets come once, by recorded answers of rvm',
  { timeout: 240_000 },
  async () => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'rvm'), program, { mode: 0o755 });
    writeFileSync(
      join(folder, 'rubies'),
      '\nrvm rubies\n\n=* ruby-1.9.3-p551 [ x86_64 ]\n   jruby-9.4.2.0 [ x86_64 ]\n   rbx-2.11 [ x86_64 ]\n\n# => - current\n',
    );
    writeFileSync(join(folder, 'sets'), '   global\n');
    const told = await runApart(
      {
        rvm: 'src/modules/ruby/exec/rvm.ts',
        gem: 'src/modules/ruby/exec/gem.ts',
        state: 'src/modules/ruby/states/rvm.ts',
      },
      `import { copyFileSync, mkdirSync } from 'node:fs';
      await step('missing', () => rvm.is_installed());
      mkdirSync('/usr/local/rvm/bin', { recursive: true });
      copyFileSync(${JSON.stringify(join(folder, 'rvm'))}, '/usr/local/rvm/bin/rvm');
      const dry = { ...context, opts: { ...context.opts, test: true } };
      await step('is', () => rvm.is_installed());
      await step('list', () => rvm.list_());
      for (const ruby of ['1.9.3', 'ruby-1.9.3', 'ruby-1.9.3-p551', 'jruby', 'rbx-2.11'])
        await step(ruby, () => state.installed(ruby));
      told.told = await within(dry, () => state.installed('3.2.2', { default: true }));
      const options = { default: true, opts: ['--disable-install-document'], env: { CC: 'cc' } };
      await step('made', () => state.installed('3.2.2', options));
      await step('again', () => state.installed('3.2.2', options));
      await step('default', () => state.installed('1.9.3-p551', { default: true }));
      await step('bad', () => state.installed('bad-1'));
      told.set = await within(dry, () => state.gemset_present('3.2.2@app'));
      await step('gemset', () => state.gemset_present('3.2.2@app'));
      await step('gemset again', () => state.gemset_present('app', { ruby: '3.2.2' }));
      await step('gemset lost', () => state.gemset_present('2.0@app'));
      await step('all', () => rvm.gemset_list_all());
      await step('do', () => rvm.do_('3.2.2@app', "bundle 'a b'"));
      await step('user', () => rvm.install_ruby('2.7.8', 'nobody', { opts: ['-j2'] }));
      await step('gems', () => gem.list('rake', { ruby: '3.2.2@app' }));`,
      ['/usr/local'],
    );
    const there = { result: true, changes: {}, comment: 'Requested ruby exists.' };
    expect(told).toMatchObject({
      missing: false,
      is: true,
      list: [
        ['ruby', '1.9.3-p551', true],
        ['jruby', '9.4.2.0', false],
        ['rbx', '2.11', false],
      ],
      '1.9.3': there,
      'ruby-1.9.3': there,
      'ruby-1.9.3-p551': there,
      jruby: there,
      'rbx-2.11': there,
      told: { result: null, comment: 'Ruby 3.2.2 is set to be installed' },
      made: {
        result: true,
        changes: { '3.2.2': 'Installed' },
        comment: 'Successfully installed ruby.',
      },
      again: there,
      default: { result: true, changes: { default: '1.9.3-p551' } },
      bad: {
        result: false,
        comment: 'Could not install ruby. Unknown ruby interpreter version: bad-1',
      },
      set: { result: null, comment: 'Set to install gemset app' },
      gemset: { result: true, changes: { app: 'created' } },
      'gemset again': { result: true, changes: {}, comment: 'Gemset already exists.' },
      'gemset lost': {
        result: false,
        comment: 'Requested ruby implementation was not found.',
      },
      all: { 'ruby-3.2.2': ['global'], 'jruby-9.4': ['one', 'two'] },
      do: 'did 3.2.2@app do bundle a b',
      gems: { rake: ['13.0.6', '12.0'] },
    });
    const log = readFileSync(join(folder, 'log'), 'utf8').split('\n');
    expect(log).toContain('install 3.2.2 --disable-install-document');
    expect(log).toContain('alias create default 3.2.2');
    expect(log).toContain('3.2.2 do rvm gemset create app');
    expect(log).toContain('3.2.2@app do gem list --local ^rake');
    expect(spawnSync('ls', ['/usr/local/rvm']).status).not.toBe(0);
  },
);
