import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test, vi } from 'vitest';
import { openOutput, outputOptions } from '../../../src/cli/open-output.ts';
import { parseArguments } from '../../../src/cli/parse.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-color');
afterAll(remove);
const isTTY = process.stdout.isTTY;
afterEach(() => {
  process.stdout.isTTY = isTTY;
  vi.unstubAllEnvs();
});

test.each([
  [[], '', true, '', true],
  [[], '', false, '', false],
  [[], '', true, '1', false],
  [[], 'color: false', true, '', false],
  [[], 'color: true', false, '', false],
  [['--force-color'], 'color: false', false, '1', true],
  [['--no-color'], 'color: true', true, '', false],
  [['--out-file', 'x'], '', true, '', false],
] as const)(
  'colors with %j and "%s" at a terminal (%s), NO_COLOR="%s": %s',
  (words, config, terminal, none, expected) => {
    writeFileSync(join(dir, 'tsalt.yaml'), `${config}\n`);
    process.stdout.isTTY = terminal;
    vi.stubEnv('NO_COLOR', none);
    const given = parseArguments([...words, '*', 'test.ping']);
    const { color } = outputOptions(given, loadConfig({ cwd: dir, env: {} }));
    expect(color).toBe(expected);
  },
);

test('an unknown log level is refused', async () => {
  writeFileSync(join(dir, 'tsalt.yaml'), '');
  const given = parseArguments(['x', 'a.b', '-l', 'loud']);
  await expect(openOutput({ given, config: loadConfig({ cwd: dir, env: {} }) })).rejects.toThrow(
    "There is no log level 'loud'.",
  );
});
