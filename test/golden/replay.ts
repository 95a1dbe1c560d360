import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../src/config/config.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { Request } from '../../src/config/request.ts';
import { runFleet } from '../../src/control/fleet/run.ts';
import { dumpYaml } from '../../src/data/formats/yaml-dump.ts';
import { type Data, isDict, toData, toDict } from '../../src/data/values/value.ts';
import { readGrainsFile } from '../../src/modules/grains/grains-file.ts';
import { type ErrorKind, showError, TsaltError } from '../../src/protocol/error.ts';
import type { HostResult, RunEvent } from '../../src/protocol/event.ts';
import type { Host } from '../../src/protocol/host.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../src/protocol/plain.ts';
import { openSdb } from '../../src/request/open-sdb.ts';
import type { Expectation, GoldenCall, GoldenCase } from './case.ts';
import { type Difference, differences, markFloats, normalise, unmark } from './compare.ts';
import type { Divergence } from './divergences.ts';
import { fillText, hideText, layOut, mapTexts, readTmp, type Workspace } from './workspace.ts';

export type Outcome = {
  readonly id: string;
  readonly topic: string;
  readonly status: 'equal' | 'divergent' | 'failed';
  readonly differences: readonly Difference[];
  /** Why a divergent case is right as it is, or what is wrong with its entry. */
  readonly note?: string;
};

export type ReplayOptions = {
  readonly workspace: Workspace;
  readonly baseGrains: PlainDict;
  readonly divergences: ReadonlyMap<string, Divergence>;
};

/** Carries a case out as the command line would, on this machine, and compares. */
export const replay = async (golden: GoldenCase, options: ReplayOptions): Promise<Outcome> => {
  const actual = await answers(golden, options);
  const wanted = expectations(golden, options.workspace);
  const base = { id: golden.id, topic: golden.topic };
  if (golden.saltBug && actual.every(isCleanError))
    return { ...base, status: 'equal', differences: [] };
  const found = differences(wanted, actual);
  const entry = options.divergences.get(golden.id);
  if (!entry)
    return { ...base, status: found.length === 0 ? 'equal' : 'failed', differences: found };
  if (found.length === 0)
    return { ...base, status: 'failed', differences: [], note: 'Listed as divergent, yet equal.' };
  const unlisted = differences(found.map(asOurs), entry.ours.map(asOurs));
  return unlisted.length === 0
    ? { ...base, status: 'divergent', differences: found, note: entry.why }
    : { ...base, status: 'failed', differences: found, note: 'Differs otherwise than listed.' };
};

const asOurs = ({ path, actual }: { path: string; actual?: Plain | undefined }): Plain => [
  path,
  actual ?? null,
];

const isCleanError = (answer: Plain): boolean => {
  const text = JSON.stringify(answer);
  const isError =
    isPlainDict(answer) &&
    ('exception' in answer || answer.retcode !== 0 || isErrorList(answer.return ?? null));
  return isError && !/\bat .*\.[jt]s:\d+/.test(text);
};

/** Calls that only show leave the return code 0 where they answer with what is wrong. */
const isErrorList = (value: Plain): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(item => typeof item === 'string');

const answers = async (golden: GoldenCase, options: ReplayOptions): Promise<Plain[]> => {
  layOut(options.workspace, golden);
  const found: Plain[] = [];
  for (const step of golden.steps) found.push(await answer(golden, step, options));
  if (golden.tmpdir) found.push(readTmp(options.workspace));
  return found.map(item => normalise(mapTexts(item, text => hideText(options.workspace, text))));
};

const expectations = (golden: GoldenCase, _workspace: Workspace): Plain[] => {
  const wanted: Plain[] = golden.expected.map(expectation);
  if (golden.tmpdir) wanted.push(golden.tmpdir);
  return wanted.map(item => normalise(unmark(item)));
};

const expectation = ({ exception, retcode, ...rest }: Expectation): Plain =>
  exception ? { exception } : { return: rest.return ?? null, retcode: retcode ?? 0 };

const answer = async (
  golden: GoldenCase,
  step: GoldenCall,
  options: ReplayOptions,
): Promise<Plain> => {
  const results: HostResult[] = [];
  const keep = (event: RunEvent): void => {
    if (event.type === 'host') results.push(event.result);
  };
  try {
    await runFleet(await requestOf(golden, step, options), keep, new AbortController().signal);
  } catch (error) {
    // Errors in the call itself are reported before any host is asked.
    if (error instanceof TsaltError) return exceptionOf(error.kind, showError(error));
    throw error;
  }
  const [result] = results;
  if (!result) return { exception: 'no result' };
  if (result.failure) return exceptionOf(result.failure.kind, result.failure.message);
  const value = (result.states ?? result.value ?? null) as Plain;
  return { return: markFloats(value), retcode: result.retcode };
};

/** Salt's exception classes by the kinds of our errors. Each other kind has no counterpart there. */
const exceptionTypes: { readonly [kind in ErrorKind]?: string } = {
  usage: 'SaltInvocationError',
  render: 'SaltRenderError',
};

/** A failure in the form of the cases, with the whole text that the user sees. */
const exceptionOf = (kind: ErrorKind, message: string): Plain => ({
  exception: { type: exceptionTypes[kind] ?? kind, message },
});

const id = 'minion1.example.com';

const requestOf = async (
  golden: GoldenCase,
  step: GoldenCall,
  { workspace, baseGrains }: ReplayOptions,
): Promise<Request> => {
  const fill = (value: Plain): Data => toData(mapTexts(value, text => fillText(workspace, text)));
  const config = configOf(golden, workspace);
  const kwargs = toDict((step.kwargs ?? {}) as PlainDict);
  if (step.call === 'apply_test') kwargs.set('test', true);
  const name = step.call === 'apply_test' ? 'apply' : step.call;
  const args = [...(step.mods === undefined ? [] : [step.mods]), ...(step.args ?? [])];
  const host: Host = {
    id,
    host: '@local',
    user: 'root',
    port: 22,
    timeout: 60,
    transport: 'local',
    minion_opts: { grains_file: workspace.grains },
    grains: { ...baseGrains, ...golden.grains, ...(await readGrainsFile(workspace.grains)) },
    thin_dir: workspace.thin,
    node_bin: process.execPath,
  };
  return {
    target: id,
    targetType: 'list',
    delimiter: ':',
    fun: name.includes('.') ? name : `state.${name}`,
    args: args.map(fill),
    kwargs: new Map([...kwargs].map(([key, value]) => [key, fillData(value, workspace)])),
    config,
    sdb: openSdb(config, {}),
    hosts: [host],
    env: process.env,
    prepareHost: async one => one,
    ask: async () => {
      throw new Error('nothing to ask');
    },
    options: {
      maxProcs: 1,
      failhard: false,
      strict: false,
      dryRun: false,
      static: true,
      wipe: false,
      randomThinDir: false,
      regen: false,
      preFlight: false,
      keyDeploy: false,
      noSshConfig: true,
      acceptNewHostKeys: false,
      ignoreHostKeys: true,
      jid: '20260101000000000000',
    },
  };
};

const fillData = (value: Data, workspace: Workspace): Data => {
  if (typeof value === 'string') return fillText(workspace, value);
  if (Array.isArray(value)) return value.map(item => fillData(item, workspace));
  return isDict(value)
    ? new Map([...value].map(([key, item]) => [key, fillData(item, workspace)]))
    : value;
};

const configOf = (golden: GoldenCase, workspace: Workspace): Config => {
  const envs = ['base', ...Object.keys(golden.envs)];
  const roots = (dir: string): PlainDict =>
    Object.fromEntries(envs.map(env => [env, [join(dir, env)]]));
  const settings: PlainDict = {
    renderer: 'jinja|yaml',
    ...golden.opts,
    file_roots: roots(workspace.fileRoots),
    pillar_roots: roots(workspace.pillarRoots),
    cachedir: workspace.cache,
  };
  const file = join(workspace.root, 'tsalt.yaml');
  writeFileSync(file, dumpYaml(toDict(settings)));
  return loadConfig({ path: file, cwd: workspace.root, env: process.env });
};
