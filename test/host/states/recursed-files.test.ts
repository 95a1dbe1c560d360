import { rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeHost, type TestHost } from '../../states/runner.ts';

let host: TestHost;
const names = Array.from({ length: 600 }, (_, at) => `d${at % 6}/f${at}`).toSorted();
const contentOf = (name: string): string => `content of ${name}\n`;

beforeEach(() => {
  host = makeHost();
  for (const name of names) host.control.set(`tree/${name}`, contentOf(name));
});
afterEach(() => host.remove());

/**
 * Runs `file.recurse`.
 *
 * @param meanwhile is called when the first contents are requested: the files are listed then
 */
const recurse = async (meanwhile: () => void = () => {}) => {
  const { asked } = host;
  let isDone = false;
  asked.push = (...methods) => {
    if (methods.includes('file.getMany') && !isDone) {
      isDone = true;
      meanwhile();
    }
    return Array.prototype.push.apply(asked, methods);
  };
  const answer = await host.state('file.recurse', join(host.root, 'd'), 'salt://tree');
  expect(isDone).toBe(true);
  return answer;
};

const modeOf = (name: string): number => statSync(join(host.root, name)).mode & 0o7777;

/** The changes of one file. */
const changesOf = ({ changes }: Awaited<ReturnType<typeof recurse>>, name: string): unknown =>
  changes[join(host.root, 'd', name)];

const expectFiles = (others: Readonly<Record<string, string>> = {}): void => {
  for (const name of names) expect(host.file(`d/${name}`)).toBe(others[name] ?? contentOf(name));
};

test('recurse makes new files with few requests, and reports them in their order', async () => {
  const answer = await recurse();

  expect(answer).toMatchObject({ result: true, comment: `Recursively updated ${host.root}/d` });
  expectFiles();
  const files = Object.keys(answer.changes).filter(path => path.includes('/f'));
  expect(files).toEqual(names.map(name => join(host.root, 'd', name)));
  expect(host.asked.filter(method => method === 'file.getMany')).toHaveLength(3);
  expect(host.asked).not.toContain('file.get');
});

test('an entry that appears in the place of a new file meanwhile is replaced as any other file', async () => {
  const answer = await recurse(() => host.write('d/d3/f3', 'another\n'));

  expect(answer).toMatchObject({ result: true });
  expectFiles();
  expect(changesOf(answer, 'd3/f3')).toMatchObject({
    diff: expect.stringContaining('-another\n+content of d3/f3'),
  });
  expect(changesOf(answer, 'd3/f9')).toMatchObject({ diff: 'New file' });
});

test('a file that changed since it was listed has its present content', async () => {
  const answer = await recurse(() => host.control.set('tree/d3/f3', 'newer\n'));

  expect(answer).toMatchObject({ result: true });
  expectFiles({ 'd3/f3': 'newer\n' });
  expect(changesOf(answer, 'd3/f3')).toMatchObject({ diff: 'New file' });
});

test('a file that is gone since it was listed fails alone', async () => {
  const answer = await recurse(() => host.control.delete('tree/d3/f3'));

  expect(answer).toMatchObject({ result: false });
  expect(answer.comment).toContain('d3/f3');
  expect(Object.keys(answer.changes).filter(path => path.includes('/f'))).toHaveLength(
    names.length - 1,
  );
});

test('a directory that is removed meanwhile is made again', async () => {
  const answer = await recurse(() => rmSync(join(host.root, 'd/d3'), { recursive: true }));

  expect(answer).toMatchObject({ result: true });
  expectFiles();
});

test('files that are made during the listing are reported as those that are made after it', async () => {
  for (const name of ['z', 'a/b/c/x', 'a/y', 'b/only/deep/w', 'b/only/deep/x'])
    host.control.set(`nested/${name}`, contentOf(name));
  const run = async (name: string, args: object): Promise<unknown> => {
    const path = join(host.root, name, 'tree');
    const answer = await host.state('file.recurse', path, 'salt://nested', args);
    return JSON.parse(JSON.stringify(answer).replaceAll(path, 'TREE'));
  };
  const given = { dir_mode: '0750', file_mode: '0640' };
  const early = await run('early', given);

  expect(early).toMatchObject({ result: true });
  expect(early).toEqual(await run('late', { ...given, clean: true }));
  for (const name of ['', 'b', 'b/only', 'b/only/deep', 'a', 'a/b', 'a/b/c'])
    expect([name, modeOf(`early/tree/${name}`)]).toEqual([name, modeOf(`late/tree/${name}`)]);
});
