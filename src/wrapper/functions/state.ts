import { stateKeywords } from '../call-keywords.ts';
import {
  refused,
  type WrapperCall,
  type WrapperFunction,
  type WrapperModule,
  type WrapperParam,
} from '../define.ts';
import { graphOfHighstate, graphOfSls } from '../graph/state-graph.ts';
import { orchestrate } from '../orchestrate.ts';
import type { Outcome } from '../outcome.ts';
import { high, template, templateStr } from '../state-given.ts';
import { apply, runHighstate, sls, slsId, test, top } from '../state-run.ts';
import {
  idExists,
  showHighstate,
  showLowSls,
  showLowstate,
  showSls,
  showStates,
  showStateUsage,
  showTop,
  slsExists,
} from '../state-show.ts';
import { low, single } from '../state-single.ts';

/** A parameter that may be omitted. */
const optional = (name: string): WrapperParam => [name, null];

const define = (
  doc: string,
  params: readonly WrapperParam[],
  work: (call: WrapperCall) => Promise<Outcome>,
  takes: Pick<WrapperFunction, 'keywords' | 'anyKeyword'> = { keywords: stateKeywords },
): WrapperFunction => ({ doc, params, ...takes, work });

const orchestrateParams = [
  'mods',
  optional('saltenv'),
  optional('test'),
  optional('exclude'),
  optional('pillar'),
  optional('pillarenv'),
];

const flags = [optional('test'), optional('queue')];
const mods: WrapperParam = 'mods';

/** Salt's functions that need a master or a minion's daemon, and the alternatives. */
const elsewhere: Readonly<Record<string, string>> = {
  get_pauses: 'a run cannot be paused',
  pause: 'a run cannot be paused',
  resume: 'a run cannot be paused',
  soft_kill: 'saltutil.term_all_jobs ends the run of a host',
  request: 'state.apply test=True shows what would change',
  check_request: 'state.apply test=True shows what would change',
  clear_request: 'state.apply test=True shows what would change',
  run_request: 'state.apply test=True shows what would change, state.apply does it',
  pkg: 'states come with the run: they are not packed for the host',
  event: 'the run itself reports its events: --out=ndjson',
};

const refusedState = (name: string, why: string): WrapperFunction =>
  refused(`state.${name}`, `Not done here: ${why}.`, why);

/** `state.*`: compiles states here and runs them on the host. */
export const state: WrapperModule = {
  doc: 'Compiles states and runs them on the host.',
  functions: {
    apply: define(
      'Applies the named SLS, or the highstate if none is named.\nkeywords: exclude, pillar, saltenv, pillarenv, test, queue, concurrent, force, terse',
      [optional('mods'), optional('test'), optional('exclude'), optional('queue')],
      apply,
    ),
    graph: define(
      'The requisites between the states of SLS, for Graphviz.\nformat: dot, mermaid or svg',
      [mods, ['format', 'dot'], ...flags],
      graphOfSls,
    ),
    graph_highstate: define(
      'The requisites between the states of the highstate, for Graphviz.\nformat: dot, mermaid or svg',
      [['format', 'dot'], optional('queue')],
      graphOfHighstate,
    ),
    high: define('Runs high data given as an argument.', ['data', ...flags], high),
    highstate: define(
      'Applies the SLS that the top file assigns to this host.',
      flags,
      runHighstate,
    ),
    id_exists: define('Whether SLS have these IDs.', ['ids', mods, ...flags], idExists),
    low: define('Runs one low chunk as it is.', ['data', optional('queue')], low),
    show_highstate: define(
      'The states that the top file assigns to this host, as high data.',
      [optional('queue')],
      showHighstate,
    ),
    show_low_sls: define('The low chunks of SLS, in order.', [mods, ...flags], showLowSls),
    show_lowstate: define(
      'The low chunks of the highstate, in order.',
      [optional('queue')],
      showLowstate,
    ),
    show_sls: define('The high data of SLS.', [mods, ...flags], showSls),
    show_state_usage: define(
      'Which SLS the top file uses and which it does not.',
      [optional('queue')],
      showStateUsage,
    ),
    show_states: define('The SLS whose states a highstate runs.', [optional('queue')], showStates),
    show_top: define(
      'The SLS that the top file assigns to this host.',
      [optional('queue')],
      showTop,
    ),
    single: define(
      'Runs one state function; its arguments are keywords.',
      ['fun', 'name', ...flags],
      single,
      { anyKeyword: true },
    ),
    sls: define(
      'Applies SLS.',
      [mods, optional('test'), optional('exclude'), optional('queue')],
      sls,
    ),
    sls_exists: define('Whether SLS exist and are well formed.', [mods, ...flags], slsExists),
    sls_id: define('Applies one ID of SLS and what it requires.', ['id_', mods, ...flags], slsId),
    template: define('Applies an SLS file by its path.', ['tem', optional('queue')], template),
    template_str: define('Applies states given as text.', ['tem', optional('queue')], templateStr),
    test: define('As apply, and changes nothing.', [optional('mods'), optional('exclude')], test),
    clear_cache: {
      doc: 'An empty list: a host keeps no compiled states.',
      params: [],
      work: () => [],
    },
    orchestrate: define(
      'Runs an orchestration: SLS with steps on hosts, such as `salt.state`. On the control node: `tsalt-ssh --orch SLS`, or `tsalt-ssh @control state.orchestrate SLS`.',
      orchestrateParams,
      orchestrate,
    ),
    orch: define('Alias of `state.orchestrate`.', orchestrateParams, orchestrate),
    ...Object.fromEntries(
      Object.entries(elsewhere).map(([name, why]) => [name, refusedState(name, why)]),
    ),
    top: define(
      'Applies the SLS that another top file assigns to this host.',
      ['topfn', ...flags],
      top,
    ),
  },
};
