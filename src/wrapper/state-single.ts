import { requisiteKeywords } from '../compiler/keywords.ts';
import { splitFunctionName } from '../data/signatures/function-name.ts';
import type { Dict } from '../data/values/value.ts';
import { isDict, toData } from '../data/values/value.ts';
import type { Plain } from '../protocol/plain.ts';
import type { RunOutcome, StateAnswer, Wrapper, WrapperContext } from './context.ts';
import { asLow, noDict, runChunks, withView } from './run-low.ts';
import { bindArguments, required } from './state-call.ts';

/** Arguments of the call that are not the state's. */
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

/** `state.single`: one state function with these arguments. */
export const single: Wrapper = async call => {
  const { ctx } = call;
  const bound = bindArguments(call, ['fun', 'name', 'test', 'queue']);
  const [state, fun] = stateOf(String(required(bound, 'fun', 'state.single')), ctx);
  if (fun === undefined) {
    ctx.setRetcode(1);
    return 'Invalid function passed';
  }
  const name = required(bound, 'name', 'state.single');
  const args = withoutRequisites(
    new Map([...bound].filter(([key]) => !callOnly.includes(String(key)))),
  );
  const chunk: Dict = new Map([...args, ['state', state], ['fun', fun]]);
  chunk.set('__id__', name).set('name', name).set('order', 1);
  return withView(ctx, bound, async view => {
    const outcome = await runChunks(view, [asLow(chunk)]);
    return refused(ctx, outcome) ?? answer(ctx, outcome);
  });
};

/**
 * The module and the function of `state.single`. As in Salt whatever follows a second dot is
 * ignored, unless there is a state module with a dot in its name.
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

/** `state.low`: one low chunk by itself, whatever it requires; gives the bare result. */
export const low: Wrapper = call => {
  const { ctx } = call;
  const bound = bindArguments(call, ['data', 'queue']);
  const data = required(bound, 'data', 'state.low');
  if (!isDict(data)) throw noDict('state.low', 'a low chunk');
  const chunk = withoutRequisites(data);
  if (!chunk.has('__id__')) chunk.set('__id__', chunk.get('name') ?? null);
  const missing = ['state', 'fun', 'name'].filter(key => !chunk.has(key));
  if (missing.length > 0) {
    ctx.setRetcode(1);
    return Promise.resolve({ errors: missing.map(key => `Missing "${key}" data`) });
  }
  return withView(ctx, bound, async view => {
    const outcome = await runChunks(view, [asLow(chunk)]);
    const errors = refused(ctx, outcome);
    if (errors) return errors;
    ctx.setRetcode(outcome.retcode);
    return toData((Object.values(outcome.states)[0] ?? null) as Plain);
  });
};

/** There is no other state that it could need. */
const withoutRequisites = (data: Dict): Dict =>
  new Map([...data].filter(([key]) => !requisiteKeywords.has(key)));

const answer = (ctx: WrapperContext, { states, retcode }: RunOutcome): StateAnswer => {
  ctx.setRetcode(retcode);
  return { states };
};

/** A chunk that was not fit to run has a result without a start: its comment lists why. */
const refused = (ctx: WrapperContext, { states }: RunOutcome): StateAnswer | undefined => {
  const [only] = Object.values(states);
  if (only?.result !== false || only.start_time !== undefined) return undefined;
  ctx.setRetcode(1);
  return { errors: only.comment.split('\n').filter(line => line !== '') };
};
