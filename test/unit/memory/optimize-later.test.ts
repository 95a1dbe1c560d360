import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

/** Runs code in a process of its own, whose flags nothing else has set. */
const run = (code: string, ...flags: string[]) => {
  const program = `
    import { cachedDataVersionTag as tag } from 'node:v8';
    import { optimizeLater, optimizingLater } from './src/memory/optimize-later.ts';
    import { withFirstFlags } from './src/memory/v8-flags.ts';
    ${code}`;
  const argv = [...flags, '--import', 'tsx', '--input-type=module', '--eval', program];
  return spawnSync(process.execPath, argv, { cwd: packageRoot, encoding: 'utf8' });
};

const isKnown = /^(?:11\.3|12\.4)\./.test(process.versions.v8);

test.runIf(isKnown)(
  'optimizeLater knows the default of its flag, under which code caches are read',
  () => {
    const { stdout, stderr } = run(`
    const first = tag();
    optimizeLater();
    console.log(tag() !== first, withFirstFlags(tag) === first);
  `);

    expect({ stdout, stderr }).toEqual({ stdout: 'true true\n', stderr: '' });
  },
);

test('optimizeLater leaves other versions of V8 alone, which may not have the flag', () => {
  const { stdout, stderr } = run(`
    const first = tag();
    optimizeLater('99.1.2');
    console.log(tag() === first);
  `);

  expect({ stdout, stderr }).toEqual({ stdout: 'true\n', stderr: '' });
});

test.runIf(isKnown)(
  'optimizingLater sets the flag back when its work is done, or has failed',
  () => {
    const { stdout, stderr } = run(`
    const first = tag();
    let isSet;
    const result = await optimizingLater(async () => {
      await undefined;
      isSet = tag() !== first;
      return 7;
    });
    const isBack = tag() === first;
    const failure = await optimizingLater(async () => { throw new Error('it failed'); }).catch(error => error.message);
    console.log(result, isSet, isBack, failure, tag() === first);
  `);

    expect({ stdout, stderr }).toEqual({ stdout: '7 true true it failed true\n', stderr: '' });
  },
);

/** How many functions V8 optimizes of 60 that each run 800 times. */
const optimized = (before: string): number => {
  const { stdout } = run(
    `${before}
    for (let at = 0; at < 60; at += 1) {
      const work = new Function('count', 'let sum = ' + at + '; for (let i = 0; i < count; i += 1) sum += i % 7; return sum;');
      for (let times = 0; times < 800; times += 1) work(20);
    }`,
    '--trace-opt',
  );
  return stdout.match(/completed optimizing/g)?.length ?? 0;
};

test.runIf(isKnown)(
  'optimizeLater spares functions that do not run long the optimization',
  { tags: 'slow' },
  () => {
    const usual = optimized('');

    expect(usual).toBeGreaterThan(30);
    expect(optimized('optimizeLater();')).toBeLessThan(usual / 2);
  },
);
