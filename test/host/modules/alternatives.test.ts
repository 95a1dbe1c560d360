import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { canRunApart, runApart } from '../../helpers/apart.ts';

const canRun = canRunApart() && existsSync('/var/lib/dpkg/alternatives');

test.skipIf(!canRun)(
  'the real update-alternatives registers, chooses and forgets paths once',
  { timeout: 240_000 },
  async () => {
    const told = await runApart(
      {
        alternatives: 'src/modules/alternatives/exec/alternatives.ts',
        state: 'src/modules/alternatives/states/alternatives.ts',
      },
      `import { writeFileSync } from 'node:fs';
      for (const name of ['one', 'two']) writeFileSync('/etc/tsalt-' + name, name, { mode: 0o755 });
      const [one, two] = ['/etc/tsalt-one', '/etc/tsalt-two'];
      await thrice('one', () => state.install('tsalt', '/etc/tsalt-link', one, 10));
      await thrice('two', () => state.install('tsalt', '/etc/tsalt-link', two, 20));
      await thrice('set', () => state.set('tsalt', one));
      await thrice('auto', () => state.auto('tsalt'));
      await step('set none', () => state.set('tsalt', '/etc/none'));
      await step('auto none', () => state.auto('tsalt-none'));
      await thrice('remove', () => state.remove('tsalt', two));
      await step('last', () => state.remove('tsalt', one));
      await step('gone', () => state.remove('tsalt', one));`,
      ['/var'],
    );
    const expectSettled = (name: string, changes: object, comment: string, again: string): void => {
      expect(told[`${name} told`], name).toMatchObject({ result: null, changes: {} });
      expect(told[name], JSON.stringify(told[name])).toMatchObject({
        result: true,
        changes,
        comment,
      });
      expect(told[`${name} again`], name).toMatchObject({ result: true, comment: again });
      expect(told[`${name} again`]).toHaveProperty('changes', {});
    };
    const [one, two] = ['/etc/tsalt-one', '/etc/tsalt-two'];
    const link = { name: 'tsalt', link: '/etc/tsalt-link' };
    for (const [name, path, priority] of [
      ['one', one, 10],
      ['two', two, 20],
    ] as const)
      expectSettled(
        name,
        { ...link, path, priority },
        `Alternative for tsalt set to path ${path} with priority ${priority}`,
        `Alternative ${path} for tsalt is already registered`,
      );
    expectSettled(
      'set',
      { path: one },
      `Alternative for tsalt set to path ${one}`,
      `Alternative for tsalt already set to ${one}`,
    );
    expectSettled('auto', { result: expect.any(String) }, '', 'tsalt already in auto mode');
    expect(told['set none']).toMatchObject({
      result: false,
      comment: "Alternative /etc/none for tsalt doesn't exist",
    });
    expect(told['auto none']).toMatchObject({ result: false, changes: {} });
    expect(told['auto none']).toHaveProperty('comment', expect.stringContaining('tsalt-none'));
    expectSettled(
      'remove',
      { path: one },
      `Alternative for tsalt removed. Falling back to path ${one}`,
      `Alternative for tsalt is set to it's default path ${one}`,
    );
    expect(told.last).toMatchObject({ result: true, comment: 'Alternative for tsalt removed' });
    expect(told.gone).toMatchObject({ result: false });
  },
);
