import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { canCount, countRuns } from '../../../helpers/host-counts.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;
const names = ['web1', 'web2'];

beforeAll(async () => {
  project = await startProject({ hosts: names });
  const node = join(project.dir, 'node');
  const preload = join(project.dir, 'preload.cjs');
  writeFileSync(
    preload,
    `const vm = require('vm');
const { Script } = vm;
vm.Script = class extends Script {
  constructor(text, options) {
    super(text, options);
    const how = !options.cachedData ? 'compiled' : this.cachedDataRejected ? 'refused' : 'code cache';
    require('fs').appendFileSync(${JSON.stringify(join(project.dir, 'starts'))}, how + '\\n');
  }
};
`,
  );
  writeFileSync(node, `#!/bin/sh\nexec ${process.execPath} --require ${preload} "$@"\n`, {
    mode: 0o755,
  });
  const entries = Object.values(project.hosts).map(({ entry }) => entry);
  project.roster(entries.map(entry => `${entry}  node_bin: ${node}\n`).join(''));
});
afterAll(() => project.close());

/** Runs a function on hosts without the artifact. @returns how their runtimes started */
const ping = async (target: string, ...options: string[]): Promise<string[]> => {
  for (const { root } of Object.values(project.hosts))
    rmSync(join(root, '.cache'), { recursive: true, force: true });
  const starts = join(project.dir, 'starts');
  rmSync(starts, { force: true });
  const { code, stderr } = await project.run(target, 'test.ping', '--out=quiet', ...options);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return readFileSync(starts, 'utf8').trim().split('\n');
};

const kept = (): Record<string, number> => {
  const dir = join(project.dir, 'cache/artifacts');
  const files = readdirSync(dir).filter(name => /^[0-9a-f]{64}\.code-[0-9a-f]{32}$/.test(name));
  return Object.fromEntries(files.map(name => [name, statSync(join(dir, name)).ino]));
};

test('hosts that lack the artifact get the code cache that the first run made, also from workers', async () => {
  expect(await ping('web1')).toEqual(['compiled']);
  const first = kept();
  expect(Object.keys(first)).toHaveLength(1);

  expect(await ping('web1')).toEqual(['code cache']);
  expect(await ping('*', '--workers=2')).toEqual(['code cache', 'code cache']);
  expect(kept()).toEqual(first);
});

test.skipIf(!canCount)(
  'the workspace is synced once, before its files are used without hashing them (needs strace)',
  {
    tags: 'slow',
  },
  async () => {
    const local = await startProject({ hosts: [] });
    onTestFinished(local.close);
    const run = countRuns(local);
    const ping = async () => {
      const { calls, opened } = (await run('test.ping')).counts;
      const files = opened.filter(path => /\/[0-9a-f]{64}\.js/.test(path));
      return { syncs: calls.fsync ?? 0, files: files.map(path => path.replace(/.*\.js/, '.js')) };
    };
    // The first run keeps the grains, the second one makes the code cache of runs without them.
    for (const _ of [1, 2]) expect((await ping()).syncs).toBe(0);
    // Files are trusted by their times only when these are older than a clock's tick.
    await sleep(300);

    const { syncs, files } = await ping();

    expect(syncs).toBe(2);
    const code = expect.stringMatching(/^\.js\..*\.cache$/);
    expect(files.slice(-3)).toEqual(['.js', code, expect.stringMatching(/\.checked$/)]);
    expect((await ping()).syncs).toBe(0);
  },
);
