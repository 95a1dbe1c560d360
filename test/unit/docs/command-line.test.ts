import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { options } from '../../../src/request/options.ts';
import { packageRoot } from '../../helpers/cli.ts';

test('docs/reference/command-line.md lists every option with all its names, and no other one', () => {
  const page = readFileSync(join(packageRoot, 'docs/reference/command-line.md'), 'utf8');
  const listed = [...page.matchAll(/^\| (`-[^|]*`) \|/gm)].flatMap(([, cell = '']) =>
    cell.replaceAll('`', '').split(', '),
  );
  const known = Object.entries(options).flatMap(([name, { alias = [] }]) =>
    [name, ...[alias].flat()].map(one => (one.length === 1 ? `-${one}` : `--${one}`)),
  );
  expect(listed.toSorted()).toEqual(known.toSorted());
});
