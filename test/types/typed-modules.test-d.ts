import {
  __grains__,
  __salt__,
  __states__,
  kwargs,
  type SaltTable,
  type StateTable,
  untyped,
} from 'tsalt-ssh/module';
import { expectTypeOf, test } from 'vitest';

test('__salt__ has the built-in functions and no misspelt one', () => {
  expectTypeOf<SaltTable>().toHaveProperty('cmd.run');
  expectTypeOf<SaltTable>().toHaveProperty('pkg.install');
  expectTypeOf<SaltTable>().toHaveProperty('pillar.get');
  expectTypeOf<SaltTable>().not.toHaveProperty('cmd.rnu');
  expectTypeOf<StateTable>().toHaveProperty('file.managed');
  expectTypeOf<keyof SaltTable>().extract<string>().not.toBeNever();
  // @ts-expect-error no function has this name
  void (() => __salt__['cmd.rnu']('x'));
  // @ts-expect-error no state has this name
  void (() => __states__['file.manged']('/x', {}));
});

test('arguments and keywords of built-in functions are checked', () => {
  void (async () => {
    await __salt__['cmd.run']('id');
    await __salt__['cmd.run'](['id', '-u'], { runas: 'www', cwd: undefined });
    await __salt__['cmd.run']('id', kwargs({ runas: 'www' }));
    await __salt__['cmd.run']({ cmd: 'id', cwd: '/' });
    await __salt__['grains.set']('roles', kwargs({ val: ['web'] }));
    await __salt__['user.add']('ann', { uid: 1000, groups: ['wheel'] as const });
    await __states__['file.managed']('/etc/motd', { contents: 'hi', mode: '0644' });
    await __states__['file.managed']({ name: '/etc/motd', contents: 'hi' });
    // @ts-expect-error the command is missing
    await __salt__['cmd.run']();
    // @ts-expect-error a command is text or a list
    await __salt__['cmd.run'](5);
    // @ts-expect-error the keyword is groups
    await __salt__['user.add']('ann', { gruops: ['wheel'] });
    // @ts-expect-error the keyword is groups
    await __salt__['user.add']('ann', kwargs({ uid: 1000, gruops: ['wheel'] }));
    // @ts-expect-error an account is text
    await __salt__['cmd.run']('id', { runas: 5 });
    // @ts-expect-error too many arguments
    await __salt__['test.ping']('x');
    // @ts-expect-error the keyword is contents
    await __states__['file.managed']('/etc/motd', { content: 'hi' });
    // @ts-expect-error the name is missing
    await __states__['file.managed']({ contents: 'hi' });
  });
});

test('returns of built-in functions are typed where they are known', () => {
  const run = () => __salt__['cmd.run']('id');
  expectTypeOf(run).returns.resolves.toEqualTypeOf<string>();
  const all = () => __salt__['cmd.run_all']('id');
  expectTypeOf(all).returns.resolves.toHaveProperty('retcode').toEqualTypeOf<number>();
  const managed = () => __states__['file.managed']('/x');
  expectTypeOf(managed).returns.resolves.toHaveProperty('result').toEqualTypeOf<boolean | null>();
  const pillar = () => __salt__['pillar.get']('a:b', false);
  expectTypeOf(pillar).returns.resolves.toBeAny();
});

test('a name that only the run knows needs untyped()', () => {
  const call = (name: string) => untyped(__salt__)[name]?.('x');
  // biome-ignore lint/suspicious/noExplicitAny: nothing is known of its return
  expectTypeOf(call).returns.toEqualTypeOf<Promise<any> | undefined>();
  // @ts-expect-error a string is not the name of a function
  void ((name: string) => __salt__[name]);
});

test('core grains are typed, others are data', () => {
  expectTypeOf(__grains__.os_family).toEqualTypeOf<string>();
  expectTypeOf(__grains__.ipv4).toEqualTypeOf<readonly string[]>();
  expectTypeOf(__grains__.num_cpus).toEqualTypeOf<number>();
  expectTypeOf(__grains__.enzymes).toBeAny();
  // @ts-expect-error grains are not changed by assignment
  void (() => (__grains__.os = 'x'));
});
