import { type GoldenCase, readBaseGrains, readCases } from './case.ts';
import { readDivergences } from './divergences.ts';
import { type Outcome, replay } from './replay.ts';
import { openWorkspace } from './workspace.ts';

const bringsModules = ({ files, twins }: GoldenCase): boolean =>
  Object.keys({ ...files, ...twins }).some(path => /^_.*(?<!\.py)$/.test(path));

/** Replays every case of a folder, on two hosts' worth of workspaces at a time. */
export const replayAll = async (
  dir: string,
  { only, lanes = 2 }: { readonly only?: string | undefined; readonly lanes?: number } = {},
): Promise<Outcome[]> => {
  const cases = readCases(dir).filter(({ id }) => only === undefined || id.includes(only));
  const shared = { baseGrains: readBaseGrains(dir), divergences: readDivergences() };
  const outcomes: Outcome[] = [];
  // Cases without modules of their own have one artifact: each of the others brings another.
  const queue = [false, true].flatMap(has => cases.filter(one => bringsModules(one) === has));
  const lane = async (): Promise<void> => {
    const workspace = openWorkspace();
    try {
      for (let golden = queue.shift(); golden; golden = queue.shift())
        outcomes.push(await replayOrFail(golden, { ...shared, workspace }));
    } finally {
      workspace.remove();
    }
  };
  await Promise.all(Array.from({ length: Math.min(lanes, cases.length) }, lane));
  return outcomes.sort((a, b) => (a.id < b.id ? -1 : 1));
};

const replayOrFail = (...args: Parameters<typeof replay>): Promise<Outcome> =>
  replay(...args).catch((error: unknown) => ({
    id: args[0].id,
    topic: args[0].topic,
    status: 'failed' as const,
    differences: [],
    note: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }));
