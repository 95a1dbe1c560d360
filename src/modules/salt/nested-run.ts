import type { NestedOrchestration } from '../../protocol/orchestration.ts';
import { getOwn, isPlainDict } from '../../protocol/plain.ts';
import { plainStr } from '../_shared/text/python-text.ts';
import { __opts__, type Plain, type PlainDict } from '../api.ts';
import { callControl, currentTag } from './call-control.ts';

const isOrchestration = (fun: string): boolean =>
  ['state.orchestrate', 'state.orch', 'state.sls'].includes(fun);

/** Replacements for the runners that formulas call most. */
const instead: Readonly<Record<string, string>> = {
  'http.query': 'http.wait_for_successful_query or http.query as a state of the orchestration',
  'salt.cmd': 'salt.function, or module.run for a function of the control node',
  'mine.get': "salt['mine.get'] in the template",
  'jobs.active': 'tsalt-ssh runs',
  'event.send': 'event.send as a state of the orchestration',
  'test.sleep': 'test.sleep by module.run',
  'saltutil.sync_all': 'nothing: modules travel with each run',
};

/** @throws Error for a runner of Salt's other than `state.orchestrate` */
export const refuseRunner = (fun: string): void => {
  if (isOrchestration(fun)) return;
  const use = getOwn(instead, fun);
  throw new Error(
    `The runner '${fun}' needs a master: only state.orchestrate runs here.${use === undefined ? '' : ` Use ${use}.`}`,
  );
};

type NestedReturn = { success: boolean; value: Plain };

/** Runs an orchestration as a part of the step. */
export const runNested = async (fun: string, given: PlainDict | object): Promise<NestedReturn> => {
  const kwarg = Object.fromEntries(
    Object.entries(given).filter(([, value]) => value !== undefined),
  ) as PlainDict;
  if (__opts__.test && kwarg.test === undefined) kwarg.test = true;
  const nested: NestedOrchestration = { tag: currentTag(), fun, kwarg };
  return callControl<NestedReturn>('orchestrate.nested', nested);
};

/** Reasons why an orchestration failed: its errors, or the comments of its failed steps. */
export const reasonsOf = (value: Plain): string[] =>
  isPlainDict(value) && isPlainDict(value.data)
    ? Object.values(value.data).flatMap(data =>
        isPlainDict(data)
          ? Object.values(data)
              .filter(isPlainDict)
              .filter(({ result }) => result === false)
              .map(({ __id__, comment }) => `${plainStr(__id__ ?? '')}: ${plainStr(comment ?? '')}`)
          : [data]
              .flat()
              .filter(line => line !== null)
              .map(plainStr),
      )
    : [];

/** Whether a state of a nested orchestration has changes. */
export const hasRunChanges = (value: Plain): boolean =>
  isPlainDict(value) &&
  isPlainDict(value.data) &&
  Object.values(value.data).some(run => anyHasChanges(run));

/** Whether a state of a run has changes. */
export const anyHasChanges = (ret: Plain): boolean =>
  isPlainDict(ret) &&
  Object.values(ret).some(
    result =>
      isPlainDict(result) && isPlainDict(result.changes) && Object.keys(result.changes).length > 0,
  );
