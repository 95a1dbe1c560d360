import { Gauge, Registry } from 'prom-client';
import { type Audit, auditOutcomes, countOf } from './audit.ts';
import { oldestOf } from './show.ts';

/**
 * The metrics of an audit in Prometheus' text format, for the textfile collector of node_exporter.
 * Times are seconds since 1970.
 */
export const auditMetrics = (audit: Audit): Promise<string> => {
  const registry = new Registry();
  const gauge = <T extends string>(name: string, help: string, ...labelNames: T[]): Gauge<T> =>
    new Gauge({ name: `tsalt_audit_${name}`, help, labelNames, registers: [registry] });
  const hosts = gauge('hosts', 'Hosts of the last audit by outcome', 'outcome');
  for (const outcome of auditOutcomes) hosts.set({ outcome }, countOf(audit, outcome));
  const drift = gauge('drifted_states', 'States that would change something', 'host');
  const failed = gauge('failed_states', 'States that failed', 'host');
  const since = gauge('drift_since_seconds', 'When the oldest drift was found', 'host');
  const isResult = gauge('host_result', 'Whether the states of a host were compared', 'host');
  for (const [host, one] of Object.entries(audit.hosts)) {
    isResult.set({ host }, one.reason === undefined ? 1 : 0);
    if (one.reason !== undefined && one.states === 0) continue;
    drift.set({ host }, one.drift.length);
    failed.set({ host }, one.failed.length);
    const oldest = oldestOf(one.drift);
    if (oldest !== undefined) since.set({ host }, Date.parse(oldest) / 1000);
  }
  gauge('end_seconds', 'When the last audit ended').set(Date.parse(audit.ended) / 1000);
  const seconds = (Date.parse(audit.ended) - Date.parse(audit.began)) / 1000;
  gauge('duration_seconds', 'How long the last audit took').set(seconds);
  return registry.metrics();
};
