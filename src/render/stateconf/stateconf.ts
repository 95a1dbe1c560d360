import type { Ranges } from '../../data/taint.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { originsOfResult, retraced } from '../retrace.ts';
import type { Mapping } from '../source-map.ts';
import type { Renderer, Stage } from '../types.ts';
import { declaredIn, moduleOf } from './high.ts';
import { absoluteIds, absoluteIncludes } from './names.ts';
import { requireInOrder } from './order.ts';
import { Parameters } from './parameters.ts';
import { type Inner, readUsage, type Usage } from './usage.ts';

/** An SLS is first rendered up to here, for its parameters. */
const endMarker = /#\s*-+\s*end of state config\s*-+/;

/** Data that the SLS of one run share; it lives as long as the pillar of that run. */
const known = new WeakMap<Dict, Parameters>();

const parametersOf = ({ request }: Stage): Parameters => {
  const { pillar } = request.context;
  const found = known.get(pillar) ?? new Parameters();
  known.set(pillar, found);
  return found;
};

/**
 * Salt's stateconf: ids, includes and requisites relative to the SLS (`.id`), parameters from
 * `stateconf.set`, and generated states for ordering (`.start`, `.goal`, `-o`).
 *
 * @throws TsaltError `stateconf…`, and the errors of the inner renderers
 */
export const renderStateconf: Renderer['render'] = async (input, stage) => {
  const usage = attempt(stage, () => readUsage(stage.argument));
  if (usage.takesData) return finish(input, stage, usage, false);
  const text = String(input);
  const marker = endMarker.exec(text);
  if (marker) await pass(text.slice(0, marker.index), stage, usage, { isConfig: true });
  return pass(text, stage, usage, { isConfig: false });
};

const pass = async (
  text: string,
  stage: Stage,
  usage: Usage,
  { isConfig }: { readonly isConfig: boolean },
): Promise<Data> => {
  const sls = stage.request.sls ?? '';
  const dir = sls.includes('.') ? sls.slice(0, sls.lastIndexOf('.')).replaceAll('.', '/') : sls;
  const more = new Map<string, Data>([
    ['sls_dir', dir || '.'],
    ...(isConfig ? [] : parametersOf(stage).variables(sls)),
  ]);
  const { request } = stage;
  // A renderer that does not report taint may have printed any host-supplied string.
  let tainted: Ranges | undefined | 'unknown' = 'unknown';
  let map: Mapping | undefined;
  const output = await inside(usage.template, 'text', text, {
    ...stage,
    printed: ranges => {
      tainted = ranges;
    },
    mapped: own => {
      map = own;
    },
    variables: () => new Map([...stage.variables(), ...more]),
    // A distinct object for data that hosts share.
    request: {
      ...request,
      context: { ...request.context, extra: new Map([...(request.context.extra ?? []), ...more]) },
    },
  });
  if (tainted === 'unknown') tainted = request.context.taint?.partsOf(String(output));
  const { file } = request;
  const before = stage.origins;
  const origins = originsOfResult({ file, input: text, result: output, before, map });
  stage.traced(origins);
  const read = { ...stage, tainted, origins };
  const data = await inside(usage.data, 'data', output, read).catch((error: unknown) => {
    throw error instanceof TsaltError ? retraced(error, file, origins) : error;
  });
  return finish(data, stage, usage, isConfig);
};

/** Runs one of the two inner renderers. */
const inside = async (
  { name, argument }: Inner,
  kind: Renderer['kind'],
  input: Data,
  stage: Stage,
): Promise<Data> => {
  const renderer = stage.renderer(name);
  if (renderer.kind !== kind && renderer.kind !== 'any')
    throw fault(stage, `'${name}' is used where stateconf needs a renderer that returns ${kind}`);
  return renderer.render(input, { ...stage, name, argument, guarded: false });
};

const finish = (data: Data, stage: Stage, usage: Usage, isConfig: boolean): Data => {
  if (!isDict(data)) throw fault(stage, 'the SLS is not a dictionary of states');
  const sls = stage.request.sls ?? '';
  const parameters = parametersOf(stage);
  return attempt(stage, () => {
    for (const [id, state] of data)
      if (typeof state === 'string') data.set(id, new Map([[state, []]]));
    absoluteIncludes(data, sls, stage.request.saltenv);
    if (usage.isOrdered && !isConfig) requireInOrder(data, parameters.requisites);
    if (usage.hasStart) addStart(data);
    if (usage.hasGoal && !isConfig) addGoal(data);
    absoluteIds(data, sls);
    parameters.learn(data);
    return data;
  });
};

/** `.start`: the first state requires it. */
const addStart = (data: Dict): void => {
  refuseTaken(data, '.start');
  const [first] = declaredIn(data);
  if (!first) return;
  const reference = new Map([[moduleOf(first.name), first.id]]);
  data.set('.start', new Map([['stateconf.set', [new Map([['require_in', [reference]]])]]]));
};

/** `.goal`: it requires all other states. */
const addGoal = (data: Dict): void => {
  refuseTaken(data, '.goal');
  const all = declaredIn(data).map(({ id, name }) => new Map([[moduleOf(name), id]]));
  data.set('.goal', new Map([['stateconf.set', [new Map([['require', all]])]]]));
};

const refuseTaken = (data: Dict, id: string): void => {
  if (data.has(id)) throw new TypeError(`the id '${id}' is stateconf's own, and taken`);
};

const attempt = <T>(stage: Stage, work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (error instanceof TypeError) throw fault(stage, messageOf(error));
    throw error;
  }
};

const fault = ({ request }: Stage, reason: string): TsaltError =>
  new TsaltError('stateconf', `stateconf: ${reason}.`, {
    kind: 'render',
    at: { file: request.file },
  });
