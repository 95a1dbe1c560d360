import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasProgram } from '../../../helpers/tmux.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/top.sls': "base:\n  '*':\n    - web\n",
      'states/web.sls': [
        "first:\n  test.nop:\n    - require_in:\n      - test: 'last \"<b>'",
        "'last \"<b>':\n  test.nop:\n    - watch:\n      - test: middle",
        'middle:\n  test.nop',
      ].join('\n'),
      'states/broken.sls': 'x:\n  test.nop:\n    - require:\n      - test: nothing\n     bad',
    },
  });
});
afterAll(() => project.close());

test('state.graph: writes DOT for another program', async () => {
  const { stdout, code } = await project.run('web1', 'state.graph', 'web');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^digraph states \{\n/);
  expect(stdout).toContain('[label="last \\"<b> (test.nop)"]');
  const name = (label: string): string =>
    new RegExp(`(s\\d) \\[label="${label} `).exec(stdout)?.[1] ?? 'none';
  const last = name('last \\\\"<b>');
  expect(stdout).toContain(`${name('first')} -> ${last} [label="require"];`);
  expect(stdout).toContain(`${name('middle')} -> ${last} [label="watch"];`);
  if (!hasProgram('dot')) return;
  expect(spawnSync('dot', ['-Tplain'], { input: stdout }).status).toBe(0);
});

test('state.graph_highstate: writes Mermaid and SVG, in which IDs are text', async () => {
  const mermaid = await project.run('web1', 'state.graph_highstate', 'format=mermaid');
  expect(mermaid.stdout).toMatch(/^flowchart LR\n/);
  expect(mermaid.stdout).toMatch(/s\d\["last #34;#60;b#62; \(test\.nop\)"\]/);
  expect(mermaid.stdout).toMatch(/s\d -->\|watch\| s\d/);

  const { stdout } = await project.run('web1', 'state.graph_highstate', 'format=svg');
  expect(stdout).toMatch(/^<svg xmlns=/);
  expect(stdout.trimEnd()).toMatch(/<\/svg>$/);
  expect(stdout).toContain('<title>last "&lt;b&gt; (test.nop)</title>');
  expect(stdout.match(/marker-end/g)).toHaveLength(2);
});

test('state.graph: an unknown format and broken SLS are errors', async () => {
  const format = await project.run('web1', 'state.graph', 'web', 'format=mermeid');
  expect(format.code).not.toBe(0);
  expect(format.stdout + format.stderr).toContain("Did you mean 'mermaid'?");
  const broken = await project.run('web1', 'state.graph', 'broken');
  expect(broken.code).toBe(65);
  expect(broken.stdout + broken.stderr).toContain('broken.sls');
});
