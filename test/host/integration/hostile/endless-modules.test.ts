// @module-tag slow
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

vi.setConfig({ testTimeout: 60_000 });

let project: Project;

beforeAll(async () => {
  const before = 'first:\n  cmd.run:\n    - name: sleep 0.2\n';
  project = await startProject({
    hosts: ['web1'],
    files: {
      'states/_states/odd.ts': `export const exits = (name: string) => { process.exit(0); };
export const never = async (name: string) => { await new Promise(() => {}); };
`,
      'states/_modules/odd.ts': `export const spin = () => { for (;;) {} };
export const never = async () => { await new Promise(() => {}); };
`,
      'states/exits.sls': `${before}mid:\n  odd.exits: []\nlast:\n  test.nop: []\n`,
      'states/never.sls': `${before}mid:\n  odd.never: []\nlast:\n  test.nop: []\n`,
    },
  });
  const entry = project.hosts.web1?.entry ?? '';
  project.roster(`${entry}  timeout: 4\n`);
});
afterAll(() => project.close());

const run = async (...words: string[]) => {
  const { code, stdout, stderr } = await project.run(...words);
  return { code, text: stderr + stdout };
};

test('a function that computes without end is named, and the host is not blamed', async () => {
  const { code, text } = await run('web1', 'odd.spin');
  expect(text).toContain('the host answers, but its runtime did not for 4 s and was ended.');
  expect(text).toContain('It was running the function odd.spin.');
  expect(code).toBe(69);
});

test('a module that computes without end while it is loaded is among those that are named', async () => {
  project.write({ 'states/_grains/endless.ts': 'for (;;) {}\nexport const x = () => ({});\n' });
  const { code, text } = await run('web1', 'test.ping');
  project.write({ 'states/_grains/endless.ts': 'export const x = () => ({});\n' });
  expect(text).toContain('its runtime did not for 4 s');
  expect(text).toContain('states/_grains/endless.ts');
  expect(code).toBe(69);
});

test('a state that ends the runtime is named, and what finished before it is reported', async () => {
  const { code, text } = await run('web1', 'state.apply', 'exits');
  expect(text).toContain('the runtime ended with status 0 before its work was done.');
  expect(text).toContain("It was running the state 'mid' (odd.exits).");
  expect(text).toMatch(/ID: first\n.*\n.*\n +Result: True/);
  expect(code).toBe(69);
});

test('a promise that never settles: the state or function that waits is named', async () => {
  const state = await run('--timeout', '4', 'web1', 'state.apply', 'never');
  expect(state.text).toContain("It was running the state 'mid' (odd.never).");
  const call = await run('--timeout', '4', 'web1', 'odd.never');
  expect(call.text).toContain('web1: not done within 4 s (--timeout).');
  expect(call.text).toContain('It was running the function odd.never.');
});
