import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { buildArtifact } from '../../../src/bundle/artifact.ts';
import type { CallResult, Hello, RunResult, StateFinished } from '../../../src/protocol/job.ts';
import { artifactProcess } from '../../helpers/artifact-process.ts';
import { low, makeDir, opts } from '../../runtime/helpers/host-process.ts';

const userModule = `
import { __grains__, __salt__, __running__ } from 'tsalt-ssh/module';
/** Says what it sees. @param name a name */
export const seen = async (name: string, { mark = 'none' }: { mark?: string } = {}) => ({
  name,
  changes: {},
  result: true,
  comment: [__grains__.id, mark, await __salt__['test.echo']('echoed'), ...Object.keys(__running__)],
});
`;

test("the real artifact serves its modules and the user's, and a job that came early", async () => {
  const dir = makeDir();
  const [roots, work] = [join(dir, 'roots'), join(dir, 'work')];
  mkdirSync(join(roots, '_states'), { recursive: true });
  mkdirSync(work);
  writeFileSync(join(roots, '_states', 'mine.ts'), userModule);
  const artifact = await buildArtifact({
    fileRoots: { base: [roots] },
    cacheDir: join(dir, 'cache'),
  });
  let hello: Hello | undefined;
  const finished: StateFinished[] = [];
  const { peer, start, end } = artifactProcess(
    artifact.path,
    { dir: work },
    {
      events: {
        hello: (payload: Hello) => {
          hello = payload;
        },
        state: (payload: StateFinished) => void finished.push(payload),
      },
    },
  );
  const first = peer.request<CallResult>('call', {
    fun: 'test.arg',
    args: [1],
    kwargs: { a: 2 },
    opts,
  });
  start();

  const answer = await first;
  const result = await peer.request<RunResult>('run', {
    chunks: [
      low('test.succeed_with_changes', 'chg'),
      low('mine.seen', 'x', { mark: 'm', require: [{ test: 'chg' }] }),
      low('cmd.run', 'sh', { name: 'echo from sh' }),
    ],
    opts,
  });
  await end();

  expect(answer).toEqual({ value: { args: [1], kwargs: { a: 2 } }, retcode: 0 });
  expect(hello?.grains).toMatchObject({ kernel: 'Linux', os_family: expect.any(String) });
  expect(result).toEqual({ retcode: 0 });
  expect(finished.map(({ result: { comment } }) => comment)).toEqual([
    'Success!',
    'h\nm\nechoed\ntest_|-chg_|-chg_|-succeed_with_changes',
    'Command "echo from sh" run',
  ]);
  expect(finished[2]?.result.changes).toMatchObject({ stdout: 'from sh', retcode: 0 });
  expect(existsSync(join(work, 'run.lock'))).toBe(false);
});
