import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
