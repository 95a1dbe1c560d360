import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { tsalt } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const page = readFileSync('docs/guides/write-sls.md', 'utf8');

/** The examples of the page: a comment in their first lines names the file. */
const examples = Array.from(
  page.matchAll(/^```(?:yaml|text)\n([\s\S]*?)^```$/gm),
  ([, text = '']) => {
    const path = /^# (\S+)$/m.exec(text)?.[1] ?? '';
    return { path, text: path.endsWith('.sls') ? text : text.replace(/^# \S+\n/, '') };
  },
);

/** They need a package manager: only compiled here. */
const compiledOnly = ['nginx'];

let project: string;
const run = (...args: string[]) =>
  tsalt(['--local', '--out', 'json', '--static', ...args], { cwd: project });

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'sls-guide-'));
  for (const { path, text } of examples) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text.replaceAll('/tmp/sls-guide', join(project, 'out')));
  }
  writeFileSync(join(project, 'tsalt.yaml'), 'cachedir: cache\n');
});

afterAll(() => removeFolder(project));

const named = examples
  .map(({ path }) => path.replace(/^states\//, '').replace(/(\/init)?\.sls$/, ''))
  .filter(
    (name, at) => examples[at]!.path.startsWith('states/') && !/^top$|\.(txt|liquid)$/.test(name),
  );

test('docs/guides/write-sls.md: every example names its file', () => {
  expect(examples.length).toBeGreaterThan(12);
  expect(examples.filter(({ path }) => path === '')).toEqual([]);
});

type States = { local: Record<string, { result: boolean | null }> };

test.each(named)(
  'docs/guides/write-sls.md: the example %s applies, and a second run changes nothing',
  { tags: 'slow' },
  async name => {
    if (compiledOnly.includes(name)) {
      const { code, stderr } = await run('state.show_low_sls', name);
      expect(stderr).toBe('');
      expect(code).toBe(0);
      return;
    }
    const first = await run('state.apply', name);
    expect(first.stderr).toBe('');
    expect(first.code).toBe(0);
    const [states] = Object.values((await run('state.apply', name, 'test=True')).json() as States);
    const open = Object.entries(states ?? {}).filter(([, { result }]) => result !== true);
    // A command without a condition runs in every run.
    expect(open.map(([tag]) => tag).filter(tag => !tag.startsWith('cmd_'))).toEqual([]);
  },
);

test('docs/guides/write-sls.md: the top file assigns what the page says', async () => {
  const { stdout, code } = await run('state.show_top');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    local: { base: expect.arrayContaining(['motd']) },
  });
  expect(stdout).not.toContain('web');
});
