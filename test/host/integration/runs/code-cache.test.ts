import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject();
});
afterAll(() => project.close());

const stamps = (folder: string): Record<string, number> =>
  Object.fromEntries(
    readdirSync(folder)
      .filter(name => name.endsWith('.cache'))
      .map(name => [name, statSync(join(folder, name)).mtimeMs]),
  );

// Such a run changes flags of V8, which refuses a cache that was written under other flags.
test('a run with many hosts writes a code cache that the next one uses', async () => {
  const { entry = '' } = project.hosts.web1 ?? {};
  project.roster(
    Array.from({ length: 9 }, (_, at) => entry.replace('web1', `web${at + 1}`)).join(''),
  );
  const env = { XDG_CACHE_HOME: join(project.dir, 'xdg') };
  const ping = () => project.runWith({ env }, '*', 'test.ping', '--out=quiet');
  await ping();
  const first = stamps(join(env.XDG_CACHE_HOME, 'tsalt-ssh'));

  const { code } = await ping();

  expect(code).toBe(0);
  expect(Object.keys(first)).toHaveLength(1);
  expect(stamps(join(env.XDG_CACHE_HOME, 'tsalt-ssh'))).toEqual(first);
});
