// @module-tag slow
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

const word = 'unmistakable';
const states = Array.from(
  { length: 400 },
  (_, at) => `state ${at}:\n  test.nop:\n    - name: /etc/x${at}\n    - some: ${word}${at}\n`,
).join('');

let project: Project;
beforeAll(async () => {
  project = await startProject({
    files: {
      'states/many.sls': states,
      'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\n',
    },
  });
});
afterAll(() => project.close());

const show = () => project.run('web1', 'state.show_sls', 'many', '--out=json');
const files = (): string[] => {
  const folder = join(project.dir, 'cache/yaml');
  return readdirSync(folder).map(name => join(folder, name));
};

/** Makes a scalar a letter shorter in what is known of the text. */
const shorten = (file: string, scalar: string): void => {
  const offset = states.indexOf(scalar);
  const numbers = new Int32Array(new Uint8Array(readFileSync(file)).buffer);
  const at = numbers.findIndex(
    (number, index) => number === offset && numbers[index + 1] === offset + scalar.length,
  );
  expect(at).toBeGreaterThan(0);
  numbers[at + 1] = offset + scalar.length - 1;
  writeFileSync(file, numbers);
};

test('a later run takes the structure of a large SLS from the first run, with the same result', async () => {
  const first = await show();
  const kept = files();
  const second = await show();

  expect(first, first.stderr).toMatchObject({ code: 0 });
  expect(second.stdout).toBe(first.stdout);
  expect(kept).toHaveLength(1);
  expect(files()).toEqual(kept);

  shorten(kept[0] ?? '', `${word}7`);
  const third = await show();

  expect(third, third.stderr).toMatchObject({ code: 0 });
  expect(third.stdout).not.toContain(`"${word}7"`);
  expect(third.stdout.replace(`"${word}"`, `"${word}7"`)).toBe(first.stdout);
});
