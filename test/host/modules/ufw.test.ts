import { beforeAll, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { canRunApart, runApart } from '../../helpers/apart.ts';

/** `settle` predicts a state, applies it, and applies it again; `status` is ufw's own output. */
const start = `
  import { execFileSync } from 'node:child_process';
  import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
  execFileSync('ip', ['netns', 'add', 'tsalt']);
  mkdirSync('/run/bin');
  writeFileSync('/run/bin/ufw', '#!/bin/sh\\nexec ip netns exec tsalt /usr/sbin/ufw "$@"\\n');
  chmodSync('/run/bin/ufw', 0o755);
  process.env.PATH = '/run/bin:' + process.env.PATH;
  const dry = { ...context, opts: { ...context.opts, test: true } };
  const files = () => ['/etc/default/ufw', '/etc/ufw/ufw.conf', '/etc/ufw/user.rules']
    .map(path => readFileSync(path, 'utf8')).join();
  const settle = async (name, work) => {
    const before = files();
    try { told[name + ' told'] = await within(dry, work); } catch (error) { told[name + ' told'] = error.message; }
    told[name + ' moved'] = files() !== before;
    await step(name, work);
    await step(name + ' again', work);
  };
  const status = name => { told[name] = execFileSync('ufw', ['status', 'verbose'], { encoding: 'utf8' }); };
`;

describe.skipIf(!which('ufw') || !canRunApart())(
  'the real ufw in a network namespace of its own',
  { timeout: 240_000 },
  () => {
    let told: Record<string, unknown>;
    const expectSettled = (name: string, changes: object): void => {
      expect(told[`${name} told`], name).toMatchObject({ result: null, changes });
      expect(told[`${name} moved`], name).toBe(false);
      expect(told[name], JSON.stringify(told[name])).toMatchObject({ result: true, changes });
      expect(told[`${name} again`], name).toMatchObject({ result: true });
      expect(told[`${name} again`], name).toHaveProperty('changes', {});
    };

    beforeAll(async () => {
      told = await runApart(
        { ufw: 'src/modules/firewall/exec/ufw.ts', state: 'src/modules/firewall/states/ufw.ts' },
        `${start}
        await settle('first', () => state.deny('f', { to_port: '*', protocol: 'tcp', from_addr: '10.0.0.9' }));
        await settle('off rule', () => state.allow('ssh', { protocol: 'tcp', to_port: 22 }));
        await settle('on', () => state.enabled('ufw'));
        await settle('incoming', () => state.default_incoming('in', { default: 'reject' }));
        await settle('outgoing', () => state.default_outgoing('out', { default: 'deny' }));
        await settle('routed', () => state.default_routed('routed', { default: 'allow' }));
        await step('defaults', () => ufw.get_defaults());
        await settle('web', () => state.allow('web', { protocol: 'tcp', to_port: '80,443', comment: 'it; $(web)' }));
        await settle('limit', () => state.limit('l', { interface: 'eth0', protocol: 'tcp', to_port: 2222 }));
        await settle('deny', () => state.deny('d', { from_addr: '10.0.0.0/8', from_port: 53, to_addr: '10.1.1.1' }));
        await settle('reject', () => state.reject('r', { protocol: 'udp', to_port: '6000:6007' }));
        await settle('app', () => state.allowed('a', { app: 'OpenSSH' }));
        await settle('name', () => state.allow('n', { from_addr: 'localhost', app: '*' }));
        status('status');
        await settle('changed', () => state.deny('web', { protocol: 'tcp', to_port: '80,443', comment: 'no' }));
        status('after');
        await step('bad port', () => state.allow('x', { to_port: 'nonsense' }));
        await step('app and port', () => state.allow('x', { app: 'OpenSSH', to_port: 1 }));
        await settle('off', () => state.disabled('ufw'));
        status('end');`,
        ['/var'],
      );
    }, 240_000);

    test('is turned on and off, with its defaults', () => {
      expectSettled('on', { enabled: { old: false, new: true } });
      expectSettled('incoming', { incoming: { old: 'deny', new: 'reject' } });
      expectSettled('outgoing', { outgoing: { old: 'allow', new: 'deny' } });
      expectSettled('routed', { routed: { old: 'deny', new: 'allow' } });
      expect(told.defaults).toEqual({ incoming: 'reject', outgoing: 'deny', routed: 'allow' });
      expect(told.status).toMatch(/^Status: active$/m);
      expect(told.status).toMatch(/^Default: reject \(incoming\), deny \(outgoing\)/m);
      expectSettled('off', { enabled: { old: true, new: false } });
      expect(told.end).toMatch(/^Status: inactive$/m);
    });

    test('rules are added once, also while it is off', () => {
      for (const name of [
        'first',
        'off rule',
        'web',
        'limit',
        'deny',
        'reject',
        'app',
        'name',
        'changed',
      ])
        expectSettled(name, { rule: { old: null } });
      expect(told.status).toMatch(/^22\/tcp +ALLOW IN +Anywhere/m);
      expect(told.status).toMatch(/^80,443\/tcp +ALLOW IN +Anywhere +# it; \$\(web\)$/m);
      expect(told.status).toMatch(/^2222\/tcp on eth0 +LIMIT IN +Anywhere/m);
      expect(told.status).toMatch(/^10\.1\.1\.1 +DENY IN +10\.0\.0\.0\/8 53/m);
      expect(told.status).toMatch(/^6000:6007\/udp +REJECT IN +Anywhere/m);
      expect(told.status).toMatch(/^22\/tcp \(OpenSSH\) +ALLOW IN +Anywhere/m);
      expect(told.status).toMatch(/^Anywhere +ALLOW IN +127\.0\.0\.1/m);
      const order = String(told.status).match(/ DENY IN +\S+/g) ?? [];
      expect(order.map(line => line.split(' ').at(-1))).toEqual(['10.0.0.0/8', '10.0.0.9/tcp']);
      expect(String(told.status).indexOf(' DENY IN')).toBeLessThan(
        String(told.status).indexOf(' ALLOW IN'),
      );
      expect(told.after).toMatch(/^80,443\/tcp +DENY IN +Anywhere +# no$/m);
      expect(told.after).not.toMatch(/^80,443\/tcp +ALLOW/m);
    });

    test('errors of ufw are reported with its message', () => {
      expect(told['bad port']).toMatchObject({ result: false, comment: "Bad port 'nonsense'" });
      expect(told['app and port']).toMatchObject({
        result: false,
        comment: 'A rule for an app takes neither to_port nor protocol.',
      });
    });
  },
);
