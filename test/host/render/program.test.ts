// @module-tag slow
import { expect, test } from 'vitest';
import { showError } from '../../../src/protocol/error.ts';
import { site } from '../../render/site.ts';

const limits = (milliseconds: number) => ({ opts: { script_limits: { milliseconds } } });

const endless = [
  ['at its top', 'for (;;);\nexport const run = () => ({});'],
  ['in run', 'export const run = () => { for (;;); };'],
  [
    'after it has waited',
    'export const run = async () => { await new Promise(go => setTimeout(go, 20)); for (;;); };',
  ],
  ['of microtasks', 'export const run = async () => { for (;;) await 1; };'],
  [
    'of callbacks',
    'export const run = () => new Promise(() => { const f = () => process.nextTick(f); f(); });',
  ],
  [
    'in a call that it answers',
    "import { __salt__ } from 'tsalt-ssh/sls';\nexport const run = async () => { await __salt__['a.b'](); for (;;); };",
  ],
] as const;

test.each(endless)(
  'a program with an endless loop %s is ended by name; others go on',
  async (_, code) => {
    const slow = site({
      ...limits(2000),
      call: () => new Promise(resolve => setTimeout(() => resolve('late'), 100)),
    });
    const other = slow.data(
      "#!ts\nimport { __salt__ } from 'tsalt-ssh/sls';\nexport const run = async () => ({ a: await __salt__['a.b']() });",
    );
    const shown = await slow.failure(`#!ts\n${code}`);
    expect(shown).toContain(
      'the program computed for more than 2 s (renderer limit) (web/init.sls)',
    );
    await expect(other).resolves.toEqual({ a: 'late' });
    await expect(slow.data('#!ts\nexport default { a: 1 };')).resolves.toEqual({ a: 1 });
  },
);

test('a renderer with an endless loop is named, not the SLS that uses it', async () => {
  const { failure } = site({
    ...limits(300),
    files: { '_renderers/loop.ts': 'export const render = () => { for (;;); };' },
  });
  expect(await failure('#!loop\n')).toContain(
    'the program computed for more than 0.3 s (renderer limit) (_renderers/loop.ts)',
  );
});

test('a program that is begun again gets the answers it had, and asks nothing twice', async () => {
  let answer: (value: string) => void = () => undefined;
  const asked: string[] = [];
  const { data, failure } = site({
    ...limits(300),
    call: async (fun, [word]) => {
      asked.push(`${fun} ${word}`);
      return word === 'wait'
        ? new Promise<string>(resolve => {
            answer = resolve;
          })
        : 'now';
    },
  });
  const waiting = data(
    "#!ts\nimport { __salt__ as s } from 'tsalt-ssh/sls';\nexport const run = async () => ({ a: await s['a.b']('go'), b: await s['a.b']('wait') });",
  );
  await expect.poll(() => asked).toEqual(['a.b go', 'a.b wait']);
  expect(await failure('#!ts\nexport const run = () => { for (;;); };')).toContain('computed');
  answer('later');
  expect(await waiting).toEqual({ a: 'now', b: 'later' });
  expect(asked).toEqual(['a.b go', 'a.b wait']);
});

test('waiting does not count as computing time of a program', async () => {
  const { data } = site(limits(200));
  const code =
    '#!ts\nexport const run = async () => { await new Promise(go => setTimeout(go, 600)); return { a: 1 }; };';
  expect(await data(code)).toEqual({ a: 1 });
});

test('process.exit ends the rendering, not the command', async () => {
  const { failure, data } = site();
  expect(await failure('#!ts\nexport const run = () => process.exit(3);')).toContain('has ended');
  expect(await data('#!ts\nexport default { a: 1 };')).toEqual({ a: 1 });
});

test('import() of Node’s modules and await at the top work in an SLS and in a renderer', async () => {
  const code = `const { sep } = await import('node:path');
import { join } from 'node:path';
import { one } from './lib.ts';
const late = await Promise.resolve(one);
`;
  const { data } = site({
    files: {
      'web/lib.ts': 'export const one = 1;',
      '_renderers/lib.ts': 'export const one = 2;\nexport const render = () => ({});',
      '_renderers/top.ts': `${code}export const render = () => ({ sep, late, joined: join('a', 'b') });`,
    },
  });
  expect(
    await data(`#!ts\n${code}export const run = () => ({ sep, late, joined: join('a', 'b') });`),
  ).toEqual({ sep: '/', late: 1, joined: 'a/b' });
  expect(await data('#!top\n')).toEqual({ sep: '/', late: 2, joined: 'a/b' });
  expect(
    await data(
      "#!ts\nexport const run = async () => ({ os: typeof (await import('node:os')).hostname });",
    ),
  ).toEqual({ os: 'function' });
});

test('a fault behind await at the top is shown at its own line', async () => {
  const { failure } = site({ files: { 'web/x': '' } });
  expect(
    await failure('#!ts\nawait 1;\nexport const run = () => {\n  throw new Error("no");\n};\n'),
  ).toContain('Error: no (web/init.sls:4:');
});

test('any thrown value is shown as text', async () => {
  const { failure } = site();
  expect(await failure('#!ts\nexport const run = () => { throw { code: 5 }; };')).toContain(
    '{"code":5}',
  );
  expect(await failure('#!ts\nexport const run = () => { throw "words"; };')).toContain('words');
});

test('an import of tsalt-ssh/module is answered with the name of the right one', async () => {
  const { failure } = site({
    files: {
      '_renderers/x.ts':
        "import { __salt__ } from 'tsalt-ssh/module';\nexport const render = () => __salt__;",
    },
  });
  expect(await failure('#!x\n')).toContain("import from 'tsalt-ssh/sls'");
});

test('a renderer gets env, argline and tmplpath beside the variables of templates', async () => {
  const { data } = site({
    files: {
      '_renderers/x.ts':
        'export const render = (_: string, { env, saltenv, argline, tmplpath }: any) => ({ env, saltenv, argline, named: tmplpath.endsWith("web/init.sls") });',
    },
  });
  expect(await data('#!x -a b\n')).toEqual({
    env: 'base',
    saltenv: 'base',
    argline: '-a b',
    named: true,
  });
});

test('a call that fails keeps its error as the cause', async () => {
  const cause = new Error('refused');
  const { raw } = site({
    call: async () => {
      throw cause;
    },
  });
  const code =
    "#!ts\nimport { __salt__ } from 'tsalt-ssh/sls';\nexport const run = () => __salt__['a.b']();";
  const thrown = await raw(code).catch((error: Error) => error);
  expect(thrown).toMatchObject({ cause });
  expect(showError(thrown)).toContain('refused');
});
