import type { StateFinding } from '../plan/findings.ts';
import type { Prediction } from '../protocol/plan.ts';

/** The outcomes of a host in an audit, the most severe first. */
export const auditOutcomes = ['unreachable', 'failed', 'skipped', 'drifted', 'clean'] as const;

export type AuditOutcome = (typeof auditOutcomes)[number];

/** A state that would change something. */
export type Drift = {
  readonly state: Prediction;
  /** The audit that found it first, in ISO 8601. */
  readonly since: string;
  /** Whether an earlier audit checked this host and found no drift of this state. */
  readonly isNew: boolean;
};

/** A drift of the last audit that no longer exists. */
export type GoneDrift = {
  readonly since: string;
  /** The ID of the state; absent if the host no longer has such a state. */
  readonly id?: string;
};

/** One host of an audit. */
export type HostAudit = {
  readonly outcome: AuditOutcome;
  /** The number of states that were checked. */
  readonly states: number;
  readonly drift: readonly Drift[];
  readonly failed: readonly Prediction[];
  readonly gone: readonly GoneDrift[];
  /** Why the host has no result, or none of states. */
  readonly reason?: string;
};

/** A comparison of hosts with their states. */
export type Audit = {
  readonly jid: string;
  /** Begin and end in ISO 8601. */
  readonly began: string;
  readonly ended: string;
  /** The previous audit, by its begin; absent for the first. */
  readonly previous?: string;
  readonly hosts: Readonly<Record<string, HostAudit>>;
  readonly findings: readonly StateFinding[];
};

/** Counts the hosts of an audit with an outcome. */
export const countOf = ({ hosts }: Pick<Audit, 'hosts'>, outcome: AuditOutcome): number =>
  Object.values(hosts).filter(host => host.outcome === outcome).length;
