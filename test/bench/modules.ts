import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { interleave, median, type Row, tableOf } from './measure.ts';
import { makeProject, timeTsalt, withBed } from './project.ts';

const sizes = [10, 500];

/** Warm `test.ping` with 10 and 500 execution modules of the user's in the artifact. */
export const benchModules = (runs = 9): Promise<{ table: string; rows: readonly Row[] }> =>
  withBed(async bed => {
    const folders = sizes.map(size => {
      const folder = makeProject(bed, `modules${size}`);
      mkdirSync(join(folder, 'states/_modules'));
      for (let at = 0; at < size; at += 1)
        writeFileSync(join(folder, `states/_modules/unused${at}.ts`), moduleText(at));
      return [size, folder] as const;
    });
    const commands = Object.fromEntries(
      folders.map(([size, folder]) => [
        `${size} modules`,
        () => timeTsalt(bed, folder, ['web1', 'test.ping']),
      ]),
    );
    for (const command of Object.values(commands))
      for (let run = 0; run < 3; run += 1) await command();
    const times = await interleave(runs, commands);
    const [least = []] = Object.values(times);
    const rows = Object.entries(times).map(([name, values]) => ({
      name,
      'median ms': Math.round(median(values)),
      'min ms': Math.round(Math.min(...values)),
      'x fewest': median(values.map((value, at) => value / (least[at] ?? value))).toFixed(2),
    }));
    return { table: tableOf(rows), rows };
  });

const moduleText = (at: number): string => `/** Module ${at}. */
import { __grains__, __salt__ } from 'tsalt-ssh/module';

const table = Array.from({ length: 100 }, (_, key) => [key, 'value ' + key] as const);

/**
 * Returns one value.
 *
 * @param key which one
 * @param fallback returned for a missing value
 */
export const get = (key: number, { fallback = '' }: { fallback?: string } = {}): string =>
  new Map(table).get(key) ?? fallback;

/** The system's name, by way of another module. */
export const system = async (): Promise<unknown> =>
  __grains__.os ?? (await __salt__['grains.get']('os'));
`;
