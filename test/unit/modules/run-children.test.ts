import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { recordChildren } from '../../../src/modules/_shared/commands/run-children.ts';
import { runCommand } from '../../../src/modules/_shared/commands/run-command.ts';
import { scratch } from '../../helpers/hosts.ts';

const { path: dir, remove } = scratch('tsalt-children');
afterAll(remove);

test('recordChildren names the commands that run, and does not grow with ended ones', async () => {
  const file = join(dir, 'record');
  const end = recordChildren(file);
  const programs = (): string[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap(line => /^\{.*"program":"(\w+)"\}$/.exec(line)?.[1] ?? []);
  const options = { cwd: dir };
  await runCommand(['sleep', '0'], options);
  for (let at = 0; at < 20; at += 1) await runCommand({ command: ':' }, options);
  expect(readFileSync(file, 'utf8').length).toBeLessThan(150);

  const both = Promise.all([
    runCommand(['sleep', '0.3'], options),
    runCommand({ command: 'sleep 0.3; true' }, options),
  ]);
  await expect.poll(programs).toEqual(['sleep', 'sh']);
  await both;
  await runCommand(['sleep', '0'], { ...options, background: true });
  expect(programs()).toEqual(['sleep', 'sh']);
  end();
  await runCommand(['true'], options);
  expect(readdirSync(dir)).toEqual([]);
});
