import { messageOf, TsaltError } from '../protocol/error.ts';
import { parseExact } from '../protocol/exact-json.ts';
import type { LowChunk } from '../protocol/low.ts';
import type { PlainDict } from '../protocol/plain.ts';
import type { PlannedTaint, Prediction } from '../protocol/plan.ts';
import {
  type Plan,
  type PlannedCall,
  type PlannedHost,
  type PlannedStep,
  planFunctions,
  planVersion,
} from './plan.ts';
import {
  type Check,
  checkAnything,
  checkFlag,
  checkHash,
  checkIndex,
  checkList,
  checkObject,
  checkOptional,
  checkOrNull,
  checkRecord,
  checkText,
  checkTime,
  malformed,
} from './schema.ts';

/**
 * The outermost part of a plan file: `exact` says whether the plan contains marks of
 * `exact-json.ts`.
 */
export const planFormat = 'tsalt-ssh plan';

const dict: Check<PlainDict> = checkRecord(checkAnything);

const chunk = checkObject<LowChunk>({
  state: checkText,
  fun: checkText,
  name: checkAnything,
  __id__: checkText,
  __sls__: checkAnything,
  __env__: checkText,
  order: checkAnything,
});

const prediction = checkObject<Prediction>({
  tag: checkText,
  id: checkText,
  sls: checkOrNull(checkText),
  name: checkAnything,
  changes: dict,
  result: checkOrNull(checkFlag),
  comment: checkText,
});

const range = checkObject<PlannedTaint['ranges'][number]>({
  start: checkIndex,
  end: checkIndex,
  source: checkText,
  isNode: checkOptional(checkFlag),
  isEscaped: checkOptional(checkFlag),
  isGuessed: checkOptional(checkFlag),
});

const host = checkObject<PlannedHost>({
  saltenv: checkText,
  opts: dict,
  sources: checkRecord(checkHash),
  chunks: checkList(checkIndex),
  states: checkList(checkIndex),
  tainted: checkList(checkObject<PlannedTaint>({ text: checkText, ranges: checkList(range) })),
});

const unplanned = checkList(
  checkObject<Plan['failed'][number]>({ id: checkText, message: checkText }),
);

const step = checkObject<PlannedStep>({
  tag: checkText,
  id: checkText,
  hosts: checkList(checkText),
  bound: checkRecord(host),
  later: unplanned,
  why: checkOptional(checkText) as Check<string>,
});

const planShape = checkObject<Plan>({
  tsalt: checkText,
  artifact: checkHash,
  created: checkTime,
  expires: checkTime,
  jid: checkText,
  call: checkObject<PlannedCall>({
    target: checkText,
    adHoc: checkOptional(checkFlag) as Check<boolean>,
    fun: checkText,
    args: checkList(checkAnything),
    kwargs: dict,
  }),
  files: checkRecord(checkRecord(checkHash)),
  folders: checkRecord(checkList(checkText)),
  chunks: checkList(chunk),
  states: checkList(prediction),
  hosts: checkRecord(host),
  steps: checkOptional(checkList(step)) as Check<PlannedStep[]>,
  failed: unplanned,
  findings: checkList(
    checkObject<Plan['findings'][number]>({ message: checkText, hosts: checkList(checkText) }),
  ),
});

/**
 * Reads the text of a plan.
 *
 * @throws TsaltError `plan-malformed`, `plan-version`
 */
export const parsePlan = (content: string): Plan => {
  const outer = parsed(content, JSON.parse) as { [key: string]: unknown };
  if (outer?.format !== planFormat) throw malformed('the file', `one of --plan-out`);
  if (outer.version !== planVersion) throw otherVersion(outer.version);
  const whole = outer.exact === true ? parsed(content, parseExact) : outer;
  const plan = planShape((whole as { plan?: unknown }).plan, 'plan');
  // Other functions would run on the control node with arguments from the file.
  const isOrchestration =
    plan.steps !== undefined && /^state\.orch(?:estrate)?$/.test(plan.call.fun);
  if (!isOrchestration && !planFunctions.has(plan.call.fun))
    throw malformed('plan.call.fun', 'a function of states');
  checkPlaces(plan, 'plan.hosts', plan.hosts);
  for (const [at, { bound }] of (plan.steps ?? []).entries())
    checkPlaces(plan, `plan.steps[${at}].bound`, bound);
  return plan;
};

const checkPlaces = (plan: Plan, path: string, hosts: Plan['hosts']): void => {
  for (const [id, { chunks, states }] of Object.entries(hosts)) {
    if (chunks.some(at => at >= plan.chunks.length))
      throw malformed(`${path}.${id}.chunks`, 'a list of places in plan.chunks');
    if (states.some(at => at >= plan.states.length))
      throw malformed(`${path}.${id}.states`, 'a list of places in plan.states');
  }
};

const parsed = (content: string, parse: (text: string) => unknown): unknown => {
  try {
    return parse(content);
  } catch (error) {
    throw malformed('the file', `JSON (${messageOf(error).slice(0, 200)})`);
  }
};

const otherVersion = (version: unknown): TsaltError =>
  new TsaltError(
    'plan-version',
    `The plan has version ${JSON.stringify(version)?.slice(0, 50)} of the format, and this tsalt-ssh reads version ${planVersion}.`,
    { kind: 'render', hint: 'Make a new plan with this version: --plan-out.' },
  );
