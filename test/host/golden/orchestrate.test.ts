import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connect, type HostSessions } from '../../../src/library/index.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../../src/protocol/plain.ts';
import { differences } from '../../golden/compare.ts';
import { readDivergences } from '../../golden/divergences.ts';
import { type Project, startProject } from '../../helpers/project.ts';

/** An orchestration, and what `salt-run state.orchestrate` of Salt 3006.0 returned for two minions. */
type Recorded = {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly args: readonly Plain[];
  readonly kwargs?: PlainDict;
  /** One of the hosts is chosen at random. */
  readonly any_host?: boolean;
  readonly expect: { readonly return: PlainDict; readonly exit: number };
};

const dir = join(import.meta.dirname, '../../golden/orchestrations');
const cases = readdirSync(dir).map(
  name => JSON.parse(readFileSync(join(dir, name), 'utf8')) as Recorded,
);
const divergences = readDivergences();
let project: Project;
let session: HostSessions;

beforeAll(async () => {
  project = await startProject({
    hosts: ['minion1', 'minion2'],
    files: Object.fromEntries(
      cases.flatMap(({ files }) =>
        Object.entries(files).map(([path, text]) => [`states/${path}`, text]),
      ),
    ),
  });
  session = await connect({
    config: project.dir,
    env: { PATH: process.env.PATH },
    target: '*',
  });
});
afterAll(async () => {
  session.close();
  await project.close();
});

/** Leaves out times, and orders hosts by name: they answer in any order. */
const comparable = (value: Plain, isAnyHost: boolean): Plain => {
  if (Array.isArray(value)) return value.map(item => comparable(item, isAnyHost));
  if (isPlainDict(value))
    return Object.fromEntries(
      Object.entries(value)
        .filter(([key]) => !['duration', 'start_time', '__jid__', 'jid', 'pid'].includes(key))
        .map(([key, item]) => [
          comparable(key, isAnyHost) as string,
          comparable(item as Plain, isAnyHost),
        ]),
    );
  if (typeof value !== 'string') return value;
  const sorted = value
    .replace(/minion2, minion1/g, 'minion1, minion2')
    .replace(/All events seen in [\d.]+ seconds/, 'All events seen in N seconds');
  return isAnyHost ? sorted.replace(/minion[12]/g, 'minionN') : sorted;
};

test.for(cases.map(one => [one.name, one] as const))(
  'Salt and tsalt-ssh return the same for the orchestration %s',
  async ([name, { args, kwargs, any_host, expect: recorded }]) => {
    const run = session.run({
      target: '@control',
      fun: 'state.orchestrate',
      args: [...args],
      ...(kwargs ? { kwargs } : {}),
    });
    const [result] = await run.results();
    const isAny = any_host === true;
    const ours = { return: result?.states ?? result?.value ?? null, failed: result?.retcode !== 0 };
    const { data } = recorded.return as { data: { control: PlainDict } };
    const salt = { return: data.control, failed: recorded.exit !== 0 };
    const found = differences(
      comparable(salt as unknown as Plain, isAny),
      comparable(ours as unknown as Plain, isAny),
    );
    const allowed = divergences.get(`orchestrate/${name}`)?.ours ?? [];
    expect(found.map(({ path, actual }) => ({ path, actual: actual ?? null }))).toEqual(allowed);
  },
);
