import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { packageRoot } from '../../helpers/cli.ts';

/** Runs code in a process of its own, whose flags nothing else has set. */
const run = (code: string): unknown => {
  const program = `
    import { cachedDataVersionTag as tag } from 'node:v8';
    import { setFlag, withFirstFlags } from './src/memory/v8-flags.ts';
    const first = tag();
    const change = () => {
      setFlag('expose-gc');
      setFlag('heap-growing-percent', 30);
      setFlag('semi-space-growth-factor', 1);
    };
    ${code}`;
  const argv = ['--import', 'tsx', '--input-type=module', '--eval', program];
  return JSON.parse(execFileSync(process.execPath, argv, { cwd: packageRoot, encoding: 'utf8' }));
};

test('withFirstFlags calls its function under the flags that the process began with', () => {
  const [isChanged, isFirst, isChangedAgain] = run(`
    change();
    const changed = tag();
    console.log(JSON.stringify([changed !== first, withFirstFlags(tag) === first, tag() === changed]));
  `) as boolean[];

  expect([isChanged, isFirst, isChangedAgain]).toEqual([true, true, true]);
});

test('withFirstFlags sets the flags again after its function has failed', () => {
  const result = run(`
    change();
    const changed = tag();
    let error;
    try {
      withFirstFlags(() => { throw new Error('it failed'); });
    } catch ({ message }) {
      error = message;
    }
    console.log(JSON.stringify([error, tag() === changed]));
  `);

  expect(result).toEqual(['it failed', true]);
});
