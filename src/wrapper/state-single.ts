import { isRequisiteKeyword } from '../compiler/keywords.ts';
import { splitFunctionName } from '../data/signatures/function-name.ts';
import type { Dict } from '../data/values/value.ts';
import { isDict, toData } from '../data/values/value.ts';
import type { Plain } from '../protocol/plain.ts';
import type { RunOutcome, WrapperContext } from './context.ts';
import type { WrapperCall } from './define.ts';
import { type Outcome, valueOutcome } from './outcome.ts';
import { asLow, noDict, runLowChunks, withView } from './run-low.ts';
import { required } from './state-call.ts';

/** Arguments of the call that are not passed to the state. */
const callOnly = [
  'fun',
  'name',
  'test',
  'queue',
  'concurrent',
  'pillar',
  'pillarenv',
  'localconfig',
  'force',
];

/** `state.single`: runs one state function with these arguments. */
export const single = async (call: WrapperCall): Promise<Outcome> => {
  const [state, fun] = stateOf(String(required(call, 'fun', 'state.single')), call.ctx);
  if (fun === undefined) return valueOutcome('Invalid function passed', 1);
  const name = required(call, 'name', 'state.single');
  const args = withoutRequisites(
    new Map([...call.named()].filter(([key]) => !callOnly.includes(String(key)))),
  );
  const chunk: Dict = new Map([...args, ['state', state], ['fun', fun]]);
  chunk.set('__id__', name).set('name', name).set('order', 1);
  return withView(call, async view => {
    const outcome = await runLowChunks(view, [asLow(chunk)]);
    return refused(outcome) ?? outcome;
  });
};

/**
 * Splits the argument of `state.single` into module and function. As in Salt, everything after a
 * second dot is ignored, unless there is a state module with a dot in its name.
 */
const stateOf = (named: string, { modules }: WrapperContext): [string, string | undefined] => {
  const [nested, fun] = splitFunctionName(named);
  const isNested =
    nested.includes('.') &&
    modules.some(
      ({ kind, file, virtualname, virtual }) =>
        kind === 'state' && ((virtualname ?? file) === nested || virtual?.includes(nested)),
    );
  const [first = '', second] = named.split('.');
  return isNested ? [nested, fun] : [first, second];
};

/** `state.low`: runs one low chunk by itself, without its requisites; returns the plain result. */
export const low = async (call: WrapperCall): Promise<Outcome> => {
  const data = required(call, 'data', 'state.low');
  if (!isDict(data)) throw noDict('state.low', 'a low chunk');
  const chunk = withoutRequisites(data);
  if (!chunk.has('__id__')) chunk.set('__id__', chunk.get('name') ?? null);
  const missing = ['state', 'fun', 'name'].filter(key => !chunk.has(key));
  if (missing.length > 0)
    return { errors: missing.map(key => `Missing "${key}" data`), retcode: 1 };
  return withView(call, async view => {
    const outcome = await runLowChunks(view, [asLow(chunk)]);
    const result = toData((Object.values(outcome.states)[0] ?? null) as Plain);
    return refused(outcome) ?? valueOutcome(result, outcome.retcode);
  });
};

/** Removes requisites, since it is the only state. */
const withoutRequisites = (data: Dict): Dict =>
  new Map([...data].filter(([key]) => !isRequisiteKeyword(key)));

/** A chunk that could not run has a result without a start: its comment lists the reasons. */
const refused = ({ states }: RunOutcome): Outcome | undefined => {
  const [only] = Object.values(states);
  if (only?.result !== false || only.start_time !== undefined) return undefined;
  return { errors: only.comment.split('\n').filter(line => line !== ''), retcode: 1 };
};
