import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, describe, expect, test } from 'vitest';
import { notesOf, releasedChangelog } from '../../../scripts/changelog-text.ts';
import { packageRoot } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const scratch = mkdtempSync(join(tmpdir(), 'tsalt-release-'));
afterAll(() => removeFolder(scratch));

const read = (file: string): string => readFileSync(join(packageRoot, file), 'utf8');
const manifest = JSON.parse(read('package.json'));

const intro = '# Changelog\n\nAll notable changes for users.\n';

describe('releasedChangelog', () => {
  test('moves the entries of Unreleased to the new version, below what changesets wrote', () => {
    const written = `# Changelog

## 0.2.0

### Minor Changes

- Hosts in waves.

### Patch Changes

- Faster.

All notable changes for users.

## Unreleased

### Added

- One.

## 0.1.0 - 2026-01-01

- Old.
`;
    const released = `${intro}
## Unreleased

## 0.2.0 - 2026-02-03

- Hosts in waves.
- Faster.

### Added

- One.

## 0.1.0 - 2026-01-01

- Old.
`;
    expect(releasedChangelog(written, '0.2.0', '2026-02-03')).toBe(released);
    expect(notesOf(released, '0.2.0')).toBe(
      '- Hosts in waves.\n- Faster.\n\n### Added\n\n- One.\n',
    );
  });

  test('reports what is missing', () => {
    const release = (text: string) => () => releasedChangelog(text, '0.2.0', '2026-02-03');
    expect(release(`${intro}\n## Unreleased\n`)).toThrow('there is no "## 0.2.0"');
    expect(release('# Changelog\n\n## 0.2.0\n\n- A.\n')).toThrow('there is no "## Unreleased"');
    expect(release('# Changelog\n\n## 0.2.0\n\n## Unreleased\n')).toThrow('introduction');
    expect(() => notesOf(intro, '0.2.0')).toThrow('there is no "## 0.2.0"');
  });
});

test('release:version releases this changelog by the changesets that are pending', {
  tags: 'slow',
}, () => {
  const clone = join(scratch, 'clone');
  mkdirSync(clone);
  for (const file of ['package.json', 'CHANGELOG.md', '.changeset', 'scripts'])
    cpSync(join(packageRoot, file), join(clone, file), { recursive: true });
  symlinkSync(join(packageRoot, 'node_modules'), join(clone, 'node_modules'));
  writeFileSync(
    join(clone, '.changeset/one.md'),
    "---\n'tsalt-ssh': minor\n---\n\nA change for this test.\n",
  );
  const [changeset = '', changelog = ''] = manifest.scripts['release:version'].split(' && ');
  const run = (command: string): void => {
    execFileSync(
      join(clone, 'node_modules/.bin', command.split(' ')[0] ?? ''),
      command.split(' ').slice(1),
      {
        cwd: clone,
        stdio: 'pipe',
      },
    );
  };
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: clone,
      stdio: 'pipe',
    });
  };
  git('init', '-q', '-b', 'main');
  git('add', '--', 'package.json', 'CHANGELOG.md', '.changeset');
  git('commit', '-q', '-m', 'one');
  run(changeset);
  run(changelog);
  const { version } = JSON.parse(readFileSync(join(clone, 'package.json'), 'utf8'));
  expect(version).not.toBe(manifest.version);
  const before = read('CHANGELOG.md');
  const after = readFileSync(join(clone, 'CHANGELOG.md'), 'utf8');
  const entries = before.slice(before.indexOf('## Unreleased') + 13).trim();
  expect(after).toContain(`## Unreleased\n\n## ${version} - `);
  expect(after).toContain('- A change for this test.\n');
  expect(after.trim().endsWith(entries)).toBe(true);
  expect(after.startsWith(before.slice(0, before.indexOf('## Unreleased')))).toBe(true);
  expect(readdirSync(join(clone, '.changeset')).sort()).toEqual([
    'README.md',
    'changelog.cjs',
    'config.json',
  ]);
});

type Job = {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly needs?: string | readonly string[];
  readonly if?: string;
  readonly environment?: string;
  readonly steps: readonly { readonly run?: string; readonly uses?: string }[];
};

describe('the release workflow', () => {
  const workflow = load(read('.github/workflows/release.yml')) as {
    readonly permissions: unknown;
    readonly jobs: Readonly<Record<string, Job>>;
  };
  const jobs = Object.entries(workflow.jobs);
  const runs = jobs.flatMap(([, { steps }]) => steps.flatMap(({ run }) => run ?? []));

  test('publishes with provenance from the only job that may sign, which runs none of our code', () => {
    expect(workflow.permissions).toEqual({ contents: 'read' });
    const signers = jobs.filter(([, { permissions }]) => permissions?.['id-token'] === 'write');
    expect(signers.map(([name]) => name)).toEqual(['publish']);
    const [, publish] = signers[0] ?? [];
    const text = publish?.steps.flatMap(({ run }) => run ?? []).join('\n') ?? '';
    expect(text).toMatch(/npm publish --provenance --access public/);
    expect(text).not.toMatch(/npm (?:ci|install|run|test)|npx/);
    expect(publish?.steps.some(({ uses }) => uses?.startsWith('actions/checkout'))).toBe(false);
    expect(publish?.environment).toBe('npm');
  });

  test('names scripts and files that exist, and jobs that come before', () => {
    for (const [, script = ''] of runs.join('\n').matchAll(/npm run ([\w:]+)/g))
      expect(Object.keys(manifest.scripts)).toContain(script);
    for (const [, file = ''] of runs.join('\n').matchAll(/((?:scripts|test)\/[\w./-]+)/g))
      expect(existsSync(join(packageRoot, file)), file).toBe(true);
    const names = Object.keys(workflow.jobs);
    for (const [name, { needs = [] }] of jobs)
      for (const each of [needs].flat())
        expect(names.indexOf(each)).toBeLessThan(names.indexOf(name));
  });

  test('puts no expression into a shell: values go by variables', () => {
    expect(runs.filter(run => run.includes('${{'))).toEqual([]);
  });
});
