import { execFileSync, spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { loadFormat } from '../../../src/output/format.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import type { Plain } from '../../../src/protocol/plain.ts';
import { seeded } from '../../helpers/random.ts';
import { outputOptions } from '../../output/recorded.ts';

const result = (id: string, value: Plain): HostResult => ({ id, fun: 'x.y', value, retcode: 0 });
const show = async (name: string, results: HostResult[], more = {}): Promise<string> =>
  (await loadFormat(name)).format(results, { ...outputOptions, ...more });

const noPython = spawnSync('python3', ['--version']).status === 0 ? '' : ' (needs python3)';
const program =
  'import json, pprint, sys\nfor data, indent in json.load(sys.stdin): print(pprint.pformat(data, indent=indent), end="\\0")';

const random = seeded(20_261_121);
const below = (count: number): number => Math.floor(random() * count);
const text = (): string =>
  Array.from(
    { length: below(14) },
    () =>
      ['salt', "it's", 'a "b"', '\n', ' ', '  ', 'longer-word-without-end', 'ü', '\\', '\t'][
        below(10)
      ],
  ).join(' '.repeat(below(2)));
const value = (depth: number): Plain => {
  const kind = below(depth > 0 ? 7 : 4);
  if (kind === 0) return below(100_000);
  if (kind === 1) return [true, false, null][below(3)] ?? null;
  if (kind < 4) return text();
  if (kind === 4) return Array.from({ length: below(6) }, () => value(depth - 1));
  return Object.fromEntries(
    Array.from({ length: below(6) }, (_, at) => [`${text().slice(0, 20)}${at}`, value(depth - 1)]),
  );
};

test.skipIf(noPython)(`pprint writes what Python's pprint writes${noPython}`, async () => {
  const cases = Array.from({ length: 300 }, (_, at): [Plain, number] => [
    { [`web${at}`]: value(4) },
    [1, 2, 4][at % 3] ?? 1,
  ]);
  const wanted = execFileSync('python3', ['-c', program], {
    input: JSON.stringify(cases),
    encoding: 'utf8',
  }).split('\0');
  for (const [at, [data, indent]] of cases.entries()) {
    const [id = '', given] = Object.entries(data as Record<string, Plain>)[0] ?? [];
    expect(await show('pprint', [result(id, given ?? null)], { indent })).toBe(wanted[at]);
  }
});

test('no_return names the hosts without an answer, progress nothing at all', async () => {
  const failure = { kind: 'unreachable', code: 'connect-failed', message: 'No.' } as const;
  const results = [result('up', true), { id: 'down', fun: 'x.y', retcode: 254, failure }];
  expect(await show('no_return', results)).toBe('down:\n    Minion did not return');
  expect(await show('progress', results)).toBe('');
});
