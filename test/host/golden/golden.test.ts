import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Plain } from '../../../src/protocol/plain.ts';
import { renderersIn } from '../../../src/render/renderers.ts';
import type { GoldenCase } from '../../golden/case.ts';
import { type Outcome, replay } from '../../golden/replay.ts';
import { replayAll } from '../../golden/replay-all.ts';
import { openWorkspace } from '../../golden/workspace.ts';

const root = process.getuid?.() === 0;
const jinja = renderersIn(undefined).includes('jinja');

/** The cases that are not plain YAML. */
const needsJinja = (id: string): boolean =>
  /^jinja\/|^yaml\/comment_only_file$|_jinja$|_in_pillar$/.test(id);

const caseOf = (steps: GoldenCase['steps'], expected: GoldenCase['expected']): GoldenCase => ({
  id: 'calls/grains_file',
  topic: 'calls',
  files: {},
  pillarFiles: {},
  envs: {},
  twins: {},
  grains: {},
  opts: {},
  setup: {},
  steps,
  expected,
  tmpdir: undefined,
  saltBug: false,
});

let outcomes: Outcome[] = [];
const failures = (list: readonly Outcome[]) =>
  list
    .filter(({ status }) => status === 'failed')
    .map(({ id, note, differences }) => ({ id, note, differences }));

beforeAll(async () => {
  if (root) outcomes = await replayAll(join(import.meta.dirname, '../../golden/cases'));
}, 900_000);

test.skipIf(!root)(
  'Salt and tsalt-ssh answer every case alike, but for the listed ones (as root)',
  () => {
    expect(outcomes.length).toBeGreaterThan(200);
    expect(failures(outcomes.filter(({ id }) => !needsJinja(id)))).toEqual([]);
  },
);

test.skipIf(!root || !jinja)(
  'so do they with Jinja templates (as root, with the jinja renderer)',
  () => {
    expect(failures(outcomes.filter(({ id }) => needsJinja(id)))).toEqual([]);
  },
);

test.skipIf(!root)(
  'what a call writes to the grains file is known to the next, and to no other case',
  async () => {
    const workspace = openWorkspace();
    const nothing = { return: '', retcode: 0 };
    const disabled = { return: ['a'], retcode: 0 };
    const told = { return: { res: true, msg: 'Info: a state disabled.' }, retcode: 0 };
    const list = { call: 'list_disabled' };
    const options = { workspace, baseGrains: {}, divergences: new Map() };
    try {
      const writes = await replay(
        caseOf([{ call: 'disable', args: ['a'] }, list], [told, disabled]),
        options,
      );
      const other = await replay(caseOf([list], [nothing]), options);
      expect([...writes.differences, ...other.differences]).toEqual([]);
    } finally {
      workspace.remove();
    }
  },
);

test.skipIf(!root)(
  'the replay tells 1 from 1.0, and exceptions by class and whole message',
  async () => {
    const workspace = openWorkspace();
    const options = { workspace, baseGrains: {}, divergences: new Map() };
    const low = { state: 'test', fun: 'nop', name: 'x', order: 10000 };
    const internal = { __sls__: 'a', __env__: 'base', __id__: 'x' };
    const sentence =
      'Pillar data must be formatted as a dictionary, unless pillar_enc is specified.';
    const show = { call: 'show_low_sls', args: ['a'] };
    const files = { 'a.sls': '#!yaml\nx: {test.nop: [{a: 1.0}, {b: 1}]}\n' };
    const pathsOf = async (...[steps, expected]: Parameters<typeof caseOf>) => {
      const { differences } = await replay({ ...caseOf(steps, expected), files }, options);
      return differences.map(({ path }) => path);
    };
    const floats = (a: Plain, b: Plain) => [
      { return: [{ ...low, ...internal, a, b }], retcode: 0 },
    ];
    try {
      expect(await pathsOf([show], floats({ $float: '1.0' }, 1))).toEqual([]);
      expect(await pathsOf([show], floats(1, { $float: '1.0' }))).toEqual([
        '0/return/0/a',
        '0/return/0/b',
      ]);
      expect(
        await pathsOf(
          [{ ...show, kwargs: { pillar: 'k=v' } }],
          [{ exception: { type: 'KeyError', message: sentence } }],
        ),
      ).toEqual(['0/exception/type', '0/exception/message']);
    } finally {
      workspace.remove();
    }
  },
);

test.skipIf(!root)('at most one case in twelve differs on purpose', () => {
  const divergent = outcomes.filter(({ status }) => status === 'divergent');

  expect(divergent.length).toBeLessThanOrEqual(outcomes.length * 0.08);
});
