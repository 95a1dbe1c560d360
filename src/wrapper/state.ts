import type { Wrapper } from './context.ts';
import {
  apply,
  high,
  highstate,
  low,
  single,
  sls,
  slsId,
  template,
  templateStr,
  test,
  top,
} from './state-run.ts';
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
} from './state-show.ts';

/** The `state.*` functions that live on the control node, by name. */
export const stateFunctions: Readonly<Record<string, Wrapper>> = {
  'state.apply': apply,
  'state.high': high,
  'state.highstate': highstate,
  'state.id_exists': idExists,
  'state.low': low,
  'state.show_highstate': showHighstate,
  'state.show_low_sls': showLowSls,
  'state.show_lowstate': showLowstate,
  'state.show_sls': showSls,
  'state.show_state_usage': showStateUsage,
  'state.show_states': showStates,
  'state.show_top': showTop,
  'state.single': single,
  'state.sls': sls,
  'state.sls_exists': slsExists,
  'state.sls_id': slsId,
  'state.template': template,
  'state.template_str': templateStr,
  'state.test': test,
  'state.top': top,
};
