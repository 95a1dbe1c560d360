// @module-tag slow
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as booleanCalls from '../../../src/modules/selinux/exec/selinux/booleans.ts';
import * as fileCalls from '../../../src/modules/selinux/exec/selinux/fcontext.ts';
import * as modeCalls from '../../../src/modules/selinux/exec/selinux/mode.ts';
import * as moduleCalls from '../../../src/modules/selinux/exec/selinux/modules.ts';
import * as portCalls from '../../../src/modules/selinux/exec/selinux/ports.ts';
import * as files from '../../../src/modules/selinux/states/selinux/fcontext.ts';
import { boolean, mode } from '../../../src/modules/selinux/states/selinux/mode.ts';
import {
  module,
  module_install,
  module_remove,
} from '../../../src/modules/selinux/states/selinux/module.ts';
import * as ports from '../../../src/modules/selinux/states/selinux/ports.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const selinux = { ...booleanCalls, ...fileCalls, ...modeCalls, ...moduleCalls, ...portCalls };
const path = process.env.PATH;
const folder = mkdtempSync(join(tmpdir(), 'tsalt-selinux-'));

const program = (name: string, body: string): void => {
  writeFileSync(join(folder, name), `#!/bin/sh\n${body}\n`);
  chmodSync(join(folder, name), 0o755);
};

beforeAll(() => {
  process.env.PATH = `${folder}:${path}`;
});

afterAll(() => {
  process.env.PATH = path;
  removeFolder(folder);
});

const context = contextOf({ selinux });
const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);

const settles = async (
  work: () => Promise<StateReturn>,
  look: () => string,
): Promise<StateReturn> => {
  const before = look();
  const told = await within(testing(context), work);
  expect(told, String(told.comment)).toMatchObject({ result: null });
  expect(look()).toBe(before);
  const done = await run(work);
  expect(done, String(done.comment)).toMatchObject({ result: true });
  expect(done.changes).not.toEqual({});
  expect(look()).not.toBe(before);
  const again = await run(work);
  expect(again, String(again.comment)).toMatchObject({ result: true });
  expect(again.changes).toEqual({});
  return done;
};

test('the mode is set in the configuration and nothing else is touched', () => {
  const config = '# SELINUX= can take one of\nSELINUX=permissive\nSELINUXTYPE=default\n';
  expect(modeCalls._withMode(config, 'enforcing')).toBe(
    '# SELINUX= can take one of\nSELINUX=enforcing\nSELINUXTYPE=default\n',
  );
  expect(modeCalls._withMode('SELINUXTYPE=x', 'disabled')).toBe(
    'SELINUXTYPE=x\nSELINUX=disabled\n',
  );
});

test('a mode that is set now or at boot only is set for both', async () => {
  const kernel = { now: 'Permissive', boot: 'Enforcing' };
  const modes = contextOf({
    selinux: {
      getenforce: () => kernel.now,
      getconfig: () => kernel.boot,
      setenforce: (to: string) => Object.assign(kernel, { now: to, boot: to }).now,
    },
  });
  const state = () => mode('enforcing');
  const due = { old: 'Permissive', new: 'Enforcing' };
  expect(await within(testing(modes), state)).toMatchObject({ result: null, changes: due });
  expect(await within(modes, state)).toEqual({
    name: 'enforcing',
    result: true,
    changes: due,
    comment: 'SELinux has been set to Enforcing mode',
  });
  expect(await within(modes, state)).toMatchObject({
    comment: 'SELinux is already in Enforcing mode',
  });
  kernel.boot = 'Permissive';
  expect((await within(modes, state)).changes).toEqual(due);
  expect(await within(modes, () => mode('loud'))).toMatchObject({
    result: false,
    comment: 'loud is not an accepted mode',
  });
});

test('restorecon returns what it relabels, in both forms', () => {
  const changes = {
    '/srv/web/a b': { old: { sel_type: 'var_t' }, new: { sel_type: 'httpd_sys_content_t' } },
  };
  const [old, fresh] = ['var_t', 'httpd_sys_content_t'].map(
    type => `unconfined_u:object_r:${type}:s0`,
  );
  expect(
    fileCalls._parseRelabelled(`Would relabel /srv/web/a b from ${old} to ${fresh}\n`),
  ).toEqual(changes);
  expect(
    fileCalls._parseRelabelled(`restorecon reset /srv/web/a b context ${old}->${fresh}\n`),
  ).toEqual(changes);
});

test('files are labelled by the policy once', async () => {
  program(
    'restorecon',
    `cd ${folder}; case "$*" in *-n*) [ -f labelled ] || echo "Would relabel /srv/web from system_u:object_r:var_t:s0 to system_u:object_r:httpd_sys_content_t:s0";; *) echo "$*" >labelled;; esac`,
  );
  const labels = () =>
    existsSync(join(folder, 'labelled')) ? readFileSync(join(folder, 'labelled'), 'utf8') : '';
  const done = await settles(
    () => files.fcontext_policy_applied('/srv/web', { recursive: true }),
    labels,
  );
  expect(done.changes).toEqual({
    '/srv/web': { old: { sel_type: 'var_t' }, new: { sel_type: 'httpd_sys_content_t' } },
  });
  expect(labels()).toBe('-v -F -R -- /srv/web\n');
});

test('modules are read in the forms of old and new semodule', () => {
  expect(
    moduleCalls._parseFullModules('100 apache          pp         \n400 mine pp disabled\n'),
  ).toEqual({
    apache: { Enabled: true, Version: null },
    mine: { Enabled: false, Version: null },
  });
  expect(moduleCalls._parseModules('amavis\t1.10.3\t\nawstats\t1.2.0\tDisabled\n')).toEqual({
    amavis: { Enabled: true, Version: '1.10.3' },
    awstats: { Enabled: false, Version: '1.2.0' },
  });
});

const needed = ['/var/lib/selinux/default', '/etc/selinux/default', '/usr/sbin/semanage'];
const missing =
  process.getuid?.() !== 0 || spawnSync('unshare', ['-m', 'true']).status !== 0
    ? ' (needs root)'
    : // These programs would load the copy into the kernel.
      existsSync('/sys/fs/selinux/enforce')
      ? ' (needs a kernel without SELinux)'
      : needed.every(one => existsSync(one))
        ? ''
        : ' (needs semanage and the policy default)';

describe.skipIf(missing)(
  `the real semanage, setsebool and semodule on a copy of the policy${missing}`,
  () => {
    beforeAll(() => {
      cpSync('/var/lib/selinux', join(folder, 'store'), { recursive: true });
      cpSync('/etc/selinux', join(folder, 'etc'), { recursive: true });
      for (const name of ['semanage', 'setsebool', 'semodule'])
        program(
          name,
          `exec /usr/bin/unshare -m /bin/sh -c 'mount --bind ${folder}/store /var/lib/selinux && mount --bind ${folder}/etc /etc/selinux && exec /usr/sbin/${name} "$@"' ${name} "$@"`,
        );
    });

    const customized = (kind: string) => () =>
      spawnSync(join(folder, 'semanage'), [kind, '-l', '-C', '-n']).stdout.toString();

    test('rules for files come, change and go', async () => {
      const spec = '/srv/tsalt-web(/.*)?';
      const look = customized('fcontext');
      const rule = (sel_type: string) => () =>
        files.fcontext_policy_present(spec, { sel_type, filetype: 'd' });
      expect((await settles(rule('httpd_sys_content_t'), look)).changes).toEqual({
        old: {},
        new: { [spec]: { filetype: 'directory', sel_type: 'httpd_sys_content_t' } },
      });
      expect((await settles(rule('var_log_t'), look)).changes).toEqual({
        old: { [spec]: { sel_type: 'httpd_sys_content_t' } },
        new: { [spec]: { sel_type: 'var_log_t' } },
      });
      expect(look()).toMatch(
        /^\/srv\/tsalt-web\(\/\.\*\)\?\s+directory\s+system_u:object_r:var_log_t:s0/,
      );
      const gone = await settles(() => files.fcontext_policy_absent(spec, { filetype: 'd' }), look);
      expect(gone.changes).toMatchObject({ old: { [spec]: { sel_type: 'var_log_t' } }, new: {} });
      expect(await run(rule('no_such_type_t'))).toMatchObject({ result: false, changes: nothing });
      expect(
        await run(() => files.fcontext_policy_present(spec, { sel_type: 'x_t', filetype: 'z' })),
      ).toMatchObject({ result: false, comment: 'Invalid filetype given: z' });
    }, 300_000);

    test('rules for ports come and go', async () => {
      const look = customized('port');
      const done = await settles(
        () => ports.port_policy_present('tcp/8899', { sel_type: 'http_port_t' }),
        look,
      );
      expect(done.changes).toMatchObject({ old: null, new: { sel_type: 'http_port_t' } });
      expect(look()).toMatch(/http_port_t\s+tcp\s+8899/);
      await settles(() => ports.port_policy_absent('web', { protocol: 'tcp', port: 8899 }), look);
      expect(
        await run(() => ports.port_policy_present('web', { sel_type: 'http_port_t' })),
      ).toMatchObject({
        result: false,
        comment: expect.stringContaining('Invalid name "web" format'),
      });
    }, 300_000);

    test('booleans are kept for the next boot; unknown ones are named', async () => {
      const all = await run(() => booleanCalls.list_sebool());
      expect(all.httpd_can_network_connect).toEqual({
        State: 'off',
        Default: 'off',
        Description: 'Allow httpd to can network connect',
      });
      const set = () => boolean('httpd_can_network_connect', { value: 'yes', persist: true });
      expect(await within(testing(context), set)).toMatchObject({
        result: null,
        comment: 'Boolean httpd_can_network_connect is set to be changed to on',
      });
      expect((await run(set)).result).toBe(true);
      expect(customized('boolean')()).toMatch(/^httpd_can_network_connect\s+\(\w+\s*,\s*on\)/m);
      expect(await run(() => boolean('no_such', { value: true }))).toMatchObject({
        result: false,
        comment: 'Boolean no_such is not available',
      });
      expect(await run(() => boolean('httpd_enable_cgi', { value: 'maybe' }))).toMatchObject({
        result: false,
        comment: 'maybe is not a valid value for the boolean',
      });
    }, 300_000);

    test('modules of the policy are installed, turned off and taken away', async () => {
      const source = join(folder, 'tsaltmine.cil');
      writeFileSync(source, '(type tsaltmine_t)\n(roletype object_r tsaltmine_t)\n');
      const look = () =>
        (spawnSync(join(folder, 'semodule'), ['-lfull'])
          .stdout.toString()
          .match(/^.*tsaltmine.*$/m) ?? [''])[0];
      await run(() => module_install(source));
      expect(look()).toMatch(/^400 tsaltmine\s+cil/);
      const off = () => module('tsaltmine', { module_state: 'Disabled' });
      expect((await settles(off, look)).changes).toEqual({
        tsaltmine: { old: 'enabled', new: 'disabled' },
      });
      expect(look()).toMatch(/tsaltmine\s+cil\s+disabled/);
      expect((await run(() => module_remove('tsaltmine'))).result).toBe(true);
      expect(look()).toBe('');
      expect(await run(() => module('no_such'))).toMatchObject({
        result: false,
        comment: 'Module no_such is not available',
      });
    }, 300_000);
  },
);
