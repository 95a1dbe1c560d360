import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dumpYaml } from '../../../src/data/formats/yaml-dump.ts';
import { toDict } from '../../../src/data/values/value.ts';
import type { PlainDict } from '../../../src/protocol/plain.ts';
import type { HostFinding } from '../../../src/validate/findings.ts';
import { checkProject } from '../../../src/validate/hosts/check-project.ts';
import { anyHost } from '../../../src/validate/hosts/subjects.ts';
import { type GoldenCase, readBaseGrains, readCases } from '../../golden/case.ts';
import { layOut, openWorkspace, type Workspace } from '../../golden/workspace.ts';
import { checkRequest } from '../../helpers/offline-check.ts';

const folder = join(import.meta.dirname, '../../golden/cases');
const grains = readBaseGrains(folder);
const id = 'minion1.example.com';

let workspace: Workspace;
beforeAll(() => {
  workspace = openWorkspace();
});
afterAll(() => workspace.remove());

/** Calls that compile what `validate` compiles. */
const calls = new Set([
  'sls',
  'apply',
  'highstate',
  'show_low_sls',
  'show_lowstate',
  'show_highstate',
]);

/** Returns Salt's errors for a case that does not compile; none if it compiles. */
const expected = ({ expected: [first] }: GoldenCase): string[] => {
  const value = first?.return;
  const unreadable = /Unable to render top file: [^"]*/.exec(JSON.stringify(value) ?? '');
  if (unreadable) return [unreadable[0]];
  return Array.isArray(value) && value.every(item => typeof item === 'string')
    ? (value as string[])
    : [];
};

/** Salt's run has no error for a top file that is not YAML: it finds no states. */
const unreadableTop = 'top/top_yaml_error';

/** A state of the host, not of the tree: `state.disable` was called before. */
const disabled = 'calls/disable_state';

const isComparable = (one: GoldenCase): boolean => {
  const [step, ...more] = one.steps;
  return (
    one.id !== disabled &&
    one.id !== unreadableTop &&
    step !== undefined &&
    more.length === 0 &&
    calls.has(step.call) &&
    Object.keys(step.kwargs ?? {}).length === 0 &&
    (step.args ?? []).length === 0 &&
    Object.keys(one.twins).length === 0 &&
    !one.saltBug &&
    one.expected[0]?.exception === undefined
  );
};

const findingsOf = async (one: GoldenCase): Promise<readonly HostFinding[]> => {
  layOut(workspace, one);
  const envs = ['base', ...Object.keys(one.envs)];
  const roots = (dir: string): PlainDict =>
    Object.fromEntries(envs.map(env => [env, [join(dir, env)]]));
  const file = join(workspace.root, 'tsalt.yaml');
  const settings: PlainDict = {
    renderer: 'jinja|yaml',
    ...one.opts,
    file_roots: roots(workspace.fileRoots),
    pillar_roots: roots(workspace.pillarRoots),
    cachedir: workspace.cache,
  };
  writeFileSync(file, dumpYaml(toDict(settings)));
  writeFileSync(
    join(workspace.root, 'grains.json'),
    JSON.stringify({ ...grains, ...one.grains, id }),
  );
  const mods = one.steps[0]?.mods;
  const { findings } = await checkProject({
    request: checkRequest(file, [anyHost(id)]),
    roster: [],
    sls: mods === undefined ? undefined : String(mods).split(','),
    grains: { kind: 'file', path: join(workspace.root, 'grains.json') },
    answers: [],
  });
  return findings.all();
};

/** Errors that only the host reports in Salt: the state fails there. */
const later = new Set([
  'unknown-function',
  'unknown-argument',
  'argument-type',
  'control-function',
]);

test('validate reports errors where the recorded runs of Salt do not compile, and only there', {
  tags: 'slow',
  timeout: 120_000,
}, async () => {
  const different: string[] = [];
  let [broken, whole] = [0, 0];
  for (const one of readCases(folder).filter(isComparable)) {
    const errors = (await findingsOf(one)).filter(
      ({ severity, rule }) => severity === 'error' && !later.has(rule),
    );
    const wanted = expected(one);
    if (wanted.length > 0) broken += 1;
    else whole += 1;
    if (errors.length > 0 !== wanted.length > 0)
      different.push(
        `${one.id}: ${JSON.stringify([wanted, errors.map(({ message }) => message)])}`,
      );
  }
  expect(different).toEqual([]);
  expect([broken, whole].every(count => count > 40)).toBe(true);
});
