/**
 * tsalt-ssh for programs: `import { run } from 'tsalt-ssh'`. Nothing here prints, ends the process
 * or reads the arguments of the process, and runs share no state.
 *
 * @packageDocumentation
 */
export type { PromptQuestion, TargetType } from '../config/request.ts';
export { type ErrorKind, type SourceLocation, showError, TsaltError } from '../protocol/error.ts';
export type { Fault, HostFailure, HostResult, Phase, RunEvent } from '../protocol/event.ts';
export type { Host } from '../protocol/host.ts';
export type { Plain, PlainDict } from '../protocol/plain.ts';
export type { StateResult, StateResults } from '../protocol/result.ts';
export { connect, type HostSessions, type SessionCall, type SessionOptions } from './connect.ts';
export type { FleetRun, ResultOf } from './fleet-run.ts';
export { type LoadedRoster, loadRoster } from './load-roster.ts';
export type {
  CallSettings,
  ProjectOptions,
  RosterEntry,
  RunFlags,
  RunOptions,
  TargetSettings,
} from './options.ts';
export { run } from './run.ts';
export {
  type CompiledHost,
  compile,
  type HostPlan,
  type LowState,
  type PlannedState,
  plan,
  type StateOptions,
} from './states.ts';
