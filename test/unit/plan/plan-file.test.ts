import { expect, test } from 'vitest';
import { PlanCollector } from '../../../src/plan/collect.ts';
import { planVersion } from '../../../src/plan/plan.ts';
import { parsePlan, planFormat } from '../../../src/plan/read-plan.ts';
import type { RunEvent } from '../../../src/protocol/event.ts';
import type { PlannedJob } from '../../../src/protocol/plan.ts';

const head = {
  tsalt: '0.1.0',
  created: '2026-01-01T00:00:00.000Z',
  expires: '2026-01-02T00:00:00.000Z',
  jid: '20260101000000000000',
  call: { target: '*', fun: 'state.apply', args: [], kwargs: {} },
};

const job: PlannedJob = {
  artifact: 'a'.repeat(64),
  chunks: [],
  saltenv: 'base',
  opts: {},
  sources: {},
  tainted: [],
  files: {},
  folders: {},
  secrets: [],
};

const planned = (collector: PlanCollector, id: string, comment: string): void => {
  const state = {
    name: 'x',
    changes: {},
    result: null,
    comment,
    __id__: 'x',
    __sls__: 'site',
    __run_num__: 0,
    start_time: '00:00:00.000000',
    duration: 1,
  };
  const tag = 'test_|-x_|-x_|-nop';
  const result = { id, fun: 'state.apply', retcode: 0, states: { [tag]: state } };
  collector.emit({ type: 'plan', host: id, total: 1, job: () => job });
  collector.emit({ type: 'host', result } as RunEvent);
};

test('a host whose predictions are very long has no plan; the others have theirs', () => {
  const collector = new PlanCollector(head);
  planned(collector, 'bad', 'x'.repeat(17 * 1024 * 1024));
  planned(collector, 'web1', 'fine');
  const { hosts, failed, states } = collector.plan();
  expect(Object.keys(hosts)).toEqual(['web1']);
  expect(states).toHaveLength(1);
  expect(failed).toEqual([
    { id: 'bad', message: 'its predictions have more than 16 million characters' },
  ]);
});

test('a plan of another function than one of states is refused when it is read', () => {
  const collector = new PlanCollector(head);
  planned(collector, 'web1', 'fine');
  const text = (fun: string): string =>
    JSON.stringify({
      format: planFormat,
      version: planVersion,
      exact: false,
      plan: { ...collector.plan(), call: { ...head.call, fun } },
    });
  expect(parsePlan(text('state.apply')).call.fun).toBe('state.apply');
  for (const fun of ['slsutil.renderer', 'state.orchestrate', 'cmd.run', '__proto__'])
    expect(() => parsePlan(text(fun)), fun).toThrow('plan.call.fun is not a function of states');
});
