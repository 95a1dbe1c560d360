import { Gauge, Registry } from 'prom-client';
import type { LiveWorker } from './alive.ts';

/** The hosts of one segment's queue: those that no worker took yet, and those at work. */
export type QueueCounts = { readonly waiting: number; readonly active: number };

/**
 * The metrics of the queue workers in Prometheus' text format. A segment without a live worker is
 * there with 0 workers, so that an alert can be set on it.
 *
 * @param segments the counts of each segment in tsalt.yaml
 * @param now milliseconds since 1970
 */
export const queueMetrics = (
  workers: readonly LiveWorker[],
  segments: ReadonlyMap<string, QueueCounts>,
  now: number,
): Promise<string> => {
  const registry = new Registry();
  const gauge = <T extends string>(name: string, help: string, ...labelNames: T[]): Gauge<T> =>
    new Gauge({ name: `tsalt_queue_${name}`, help, labelNames, registers: [registry] });
  const live = gauge('workers', 'Live workers of a segment', 'segment');
  const waiting = gauge('waiting_hosts', 'Hosts that wait for a worker', 'segment');
  const active = gauge('active_hosts', 'Hosts that workers have taken', 'segment');
  for (const [segment, counts] of segments) {
    live.set({ segment }, workers.filter(worker => worker.segment === segment).length);
    waiting.set({ segment }, counts.waiting);
    active.set({ segment }, counts.active);
  }
  const labels = ['segment', 'machine', 'instance'] as const;
  const hosts = gauge('worker_hosts', 'Hosts at work on a worker', ...labels);
  const most = gauge('worker_concurrency', 'The most hosts that a worker takes at once', ...labels);
  const up = gauge('worker_start_seconds', 'When a worker started, since 1970', ...labels);
  const about = gauge('worker_info', 'The version of a worker', ...labels, 'version');
  for (const { segment, machine, instance, version, ...worker } of workers) {
    const names = { segment, machine, instance };
    hosts.set(names, worker.hosts);
    most.set(names, worker.concurrency);
    up.set(names, worker.started / 1000);
    about.set({ ...names, version }, 1);
  }
  gauge('scrape_seconds', 'When these metrics were made, since 1970').set(now / 1000);
  return registry.metrics();
};
