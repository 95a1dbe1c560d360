import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { buildArtifact } from '../../../src/bundle/artifact.ts';
import type { CallResult } from '../../../src/protocol/job.ts';
import type { StackPosition } from '../../../src/protocol/stack.ts';
import { artifactProcess, type Given } from '../../helpers/artifact-process.ts';
import { makeDir, opts } from '../../runtime/helpers/host-process.ts';

let artifact: Awaited<ReturnType<typeof buildArtifact>>;
/** The folder of one test, in which runs keep their code. */
let dir: string;

beforeAll(async () => {
  dir = makeDir();
  artifact = await buildArtifact({ fileRoots: {}, cacheDir: join(dir, 'cache') });
});

const workspace = (name: string): Given => {
  const work = join(dir, name);
  mkdirSync(work);
  return { dir: work, cacheFile: join(work, 'code.cache') };
};

/** Calls a function in a block. */
const rootUser = async (given: Given): Promise<unknown> => {
  const { peer, start, end } = artifactProcess(artifact.path, given);
  start();
  const params = { fun: 'user.info', args: ['root'], kwargs: {}, opts };
  const { value } = await peer.request<CallResult>('call', params);
  await end();
  return (value as { uid: number }).uid;
};

const keptIn = ({ dir: work }: Given): string[] =>
  readdirSync(work).filter(name => /cache/.test(name));

test('the code of a block is kept by the first run that opens it, for this user alone', async () => {
  const given = workspace('kept');
  expect(await rootUser(given)).toBe(0);

  const [name = '', ...others] = keptIn(given);
  const file = join(given.dir, name);
  expect(others).toEqual([]);
  expect(name).toMatch(/^code\.cache\.\d+$/);
  const { mode, ino } = statSync(file);
  expect(mode & 0o777).toBe(0o600);

  expect(await rootUser(given)).toBe(0);
  // It was taken: otherwise it would have been written again.
  expect(statSync(file).ino).toBe(ino);
});

test.each(['', 'no code at all', 'half'])(
  'a file of code with "%s" is written anew',
  async kind => {
    const given = workspace(`damaged ${kind}`);
    await rootUser(given);
    const file = join(given.dir, keptIn(given)[0] ?? '');
    const good = readFileSync(file);
    writeFileSync(file, kind === 'half' ? good.subarray(0, good.length / 2) : kind);
    const { ino } = statSync(file);

    expect(await rootUser(given)).toBe(0);
    expect(statSync(file).ino).not.toBe(ino);
    expect(readFileSync(file).length).toBeGreaterThan(good.length / 2);
  },
);

test('a run that wipes its workspace, or has none, keeps no code', async () => {
  const wiping = { ...workspace('wiped'), wipe: true };
  expect(await rootUser(wiping)).toBe(0);
  const { cacheFile: _, ...without } = workspace('without');
  expect(await rootUser(without)).toBe(0);
  expect([...keptIn(wiping), ...keptIn(without)]).toEqual([]);
});

test('a run that opens many blocks keeps the code of each, and says nothing of it', async () => {
  const given = workspace('many');
  const said: string[] = [];
  const { peer, start, end } = artifactProcess(artifact.path, given, {
    events: { log: ({ message }: { message: string }) => void said.push(message) },
  });
  start();
  await peer.request('names', { kind: 'exec', opts });
  await end();
  expect(keptIn(given).length).toBeGreaterThan(20);
  expect(said.filter(message => message.includes('Warning'))).toEqual([]);
});

test('blocks are there also when the file of the artifact is removed in a run', async () => {
  const copy = join(dir, 'copy.js');
  copyFileSync(artifact.path, copy);
  const { peer, start, end } = artifactProcess(copy, workspace('removed'));
  start();
  await peer.request('call', { fun: 'test.ping', args: [], kwargs: {}, opts });
  rmSync(copy);
  const params = { fun: 'user.info', args: ['root'], kwargs: {}, opts };
  const { value } = await peer.request<CallResult>('call', params);
  await end();
  expect(value).toMatchObject({ uid: 0 });
});

test('an error in a block has the position of its source', async () => {
  let stack: readonly StackPosition[] = [];
  const { peer, start, end } = artifactProcess(artifact.path, workspace('error'), {
    explain: (error, positions) => {
      stack = positions;
      return error;
    },
  });
  start();
  const params = { fun: 'xml.get_value', args: ['/nowhere.xml', '.'], kwargs: {}, opts };
  await expect(peer.request('call', params)).rejects.toThrow('/nowhere.xml');
  await end();

  const files = artifact.trace(stack).map(({ file }) => file);
  expect(files).toContainEqual(expect.stringMatching(/\/src\/modules\/xml\/[^:]*\.ts$/));
  // Functions that the block calls are in the head.
  expect(files).toContainEqual(expect.stringMatching(/\/src\/runtime\//));
});
