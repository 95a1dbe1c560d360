import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HostFinding } from '../../../src/validate/findings.ts';
import { checkProject } from '../../../src/validate/hosts/check-project.ts';
import { Linter } from '../../../src/validate/lint/lint.ts';
import { lintRules } from '../../../src/validate/lint/rules.ts';
import { rulesPage } from '../../../src/validate/lint/rules-page.ts';
import { tsalt } from '../../helpers/cli.ts';
import { checkRequest } from '../../helpers/offline-check.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let root: string;
let number = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'lint-'));
});
afterAll(() => removeFolder(root));

const project = (files: Readonly<Record<string, string>>): string => {
  const dir = join(root, String(number++));
  const all = { 'tsalt.yaml': '', 'roster.yaml': 'web1: 192.0.2.1\n', ...files };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    const own = path === 'tsalt.yaml' ? `cachedir: ${join(root, 'cache')}\n` : '';
    writeFileSync(join(dir, path), own + text);
  }
  return dir;
};

/** The findings of lint in one SLS. */
const findingsIn = async (sls: string): Promise<readonly HostFinding[]> => {
  const request = checkRequest(join(project({ 'states/a.sls': sls }), 'tsalt.yaml'));
  const linter = new Linter(request.config);
  const { findings } = await checkProject({
    request,
    roster: [],
    sls: ['a'],
    grains: { kind: 'profiles', names: ['debian-12'] },
    answers: [],
    inspect: ({ groups, modules }) => groups.flatMap(chunks => linter.states(chunks, modules)),
  });
  return findings.all();
};

describe('each rule', () => {
  test.each([...lintRules.values()])(
    '$id finds its bad example and not the good one',
    { tags: 'slow' },
    async rule => {
      const bad = await findingsIn(rule.bad);
      expect(bad.map(({ rule: id }) => id)).toContain(rule.id);
      const found = bad.find(({ rule: id }) => id === rule.id);
      expect(found).toMatchObject({ severity: rule.severity, at: { line: expect.any(Number) } });
      const good = await findingsIn(rule.good);
      expect(good.map(({ rule: id }) => id)).not.toContain(rule.id);
      for (const list of [bad, good])
        expect(list.filter(one => one.severity === 'error' && !lintRules.has(one.rule))).toEqual(
          [],
        );
    },
  );

  test('there are more than 25', () => {
    expect(lintRules.size).toBeGreaterThan(25);
  });
});

test('docs/reference/lint-rules.md has all rules: npm run docs writes it', () => {
  expect(readFileSync('docs/reference/lint-rules.md', 'utf8')).toBe(rulesPage());
});

test('plain-secret finds secrets below an argument', async () => {
  const sls =
    '/a:\n  file.managed:\n    - contents: a\n    - template: jinja\n    - context:\n        db:\n          password: hunter2\n';
  expect((await findingsIn(sls)).map(({ rule }) => rule)).toEqual(['plain-secret']);
});

/** Correct states that resemble mistakes. */
test.each([
  ['cmd-without-condition', 'a:\n  cmd.run:\n    - name: x\n    - stateful: true\n'],
  ['world-writable', "/tmp:\n  file.directory:\n    - mode: '1777'\n"],
  ['plain-secret', 'a:\n  mysql_user.present:\n    - host: b\n    - password: sdb://store/key\n'],
  ['plain-secret', 'a:\n  file.managed:\n    - name: /etc/secret\n    - contents: a\n'],
  [
    'plain-secret',
    '#!jinja|yaml\n{% set c = {"private_key": "k"} %}\n/a:\n  file.managed:\n    - contents: a\n    - template: jinja\n    - context:\n        {{ c | json }}\n',
  ],
  [
    'cmd-instead-of-state',
    'a:\n  cmd.run:\n    - name: systemctl daemon-reload\n    - onchanges: []\n',
  ],
  ['password-not-hashed', "a:\n  user.present:\n    - password: '$6$a$b'\n"],
  ['password-not-hashed', "a:\n  user.present:\n    - password: '!'\n"],
  [
    'duplicate-name',
    'a:\n  file.append: [{name: /a}, {text: a}]\nb:\n  file.append: [{name: /a}, {text: b}]\n',
  ],
  [
    'watch-without-reaction',
    'a:\n  service.running:\n    - enable: true\n    - watch: [test: b]\nb: test.nop\n',
  ],
  ['cmd-instead-of-state', 'a:\n  cmd.run:\n    - name: mkdir a && make\n    - creates: /a\n'],
  ['never-changes', 'a: test.nop\nb:\n  test.nop:\n    - require: [test: a]\n'],
  [
    'insecure-source',
    `/a:\n  file.managed:\n    - source: http://example.com/a\n    - source_hash: sha256=${'0'.repeat(64)}\n`,
  ],
  ['quoted-boolean', "a:\n  file.managed:\n    - name: /a\n    - contents: 'true'\n"],
])('%s leaves a correct state alone', async (id, sls) => {
  expect((await findingsIn(sls)).map(({ rule }) => rule)).not.toContain(id);
});

describe('comments', () => {
  const mode = (more: string, above = ''): string =>
    `${above}/a:\n  file.managed:\n    - contents: a\n    - mode: 0644${more}\n`;

  test.each([
    ['on the line', mode(' # tsalt-lint: disable=unquoted-mode')],
    ['in the file', mode('', '# tsalt-lint: disable-file=unquoted-mode\n')],
    [
      'on the line above, among others',
      mode('').replace(
        '    - mode',
        '    # tsalt-lint: disable=pkg-latest, unquoted-mode\n    - mode',
      ),
    ],
  ])('switch a rule off %s', async (_, sls) => {
    expect(await findingsIn(sls)).toEqual([]);
  });

  test('leave other rules on', async () => {
    const found = await findingsIn(mode(' # tsalt-lint: disable=pkg-latest'));
    expect(found.map(({ rule }) => rule)).toEqual(['unquoted-mode']);
  });
});

describe('tsalt-ssh lint', () => {
  const sloppy = {
    'states/a.sls':
      "/a:\n  file.managed:\n    - contents: a\n    - mode: 0644\n    - makedirs: 'yes'\nnginx: pkg.latest\n",
    'states/top.sls': "base: {'*': [a]}\n",
  };
  const run = async (cwd: string, ...args: string[]) => {
    const { code, stdout, stderr } = await tsalt([...args, '--out', 'json'], { cwd });
    expect(stderr).toBe('');
    const { findings, notes } = JSON.parse(stdout) as {
      findings: { rule: string; severity: string; line: number; file: string }[];
      notes: string[];
    };
    return { code, notes, rules: findings.map(({ rule }) => rule), findings };
  };

  test('fails for warnings, and validate --lint for errors only', async () => {
    const cwd = project(sloppy);
    const lint = await run(cwd, 'lint');
    expect(lint.rules).toEqual(['unquoted-mode', 'quoted-boolean', 'pkg-latest']);
    expect(lint.findings[0]).toMatchObject({ file: 'states/a.sls', line: 4, severity: 'warning' });
    expect(lint.code).toBe(65);
    const validate = await run(cwd, 'validate', '--lint');
    expect([validate.rules, validate.code]).toEqual([lint.rules, 0]);
    expect((await run(cwd, 'validate')).rules).toEqual([]);
  });

  test('compares the states of one SLS if there is no top file', async () => {
    const cwd = project({
      'states/install.sls': '/a:\n  file.absent: []\n',
      'states/clean.sls': 'b:\n  file.absent:\n    - name: /a\n',
    });
    expect((await run(cwd, 'lint')).rules).toEqual([]);
  });

  test('--fix corrects what is safe and keeps the rest of the file', async () => {
    const cwd = project(sloppy);
    const { rules, notes } = await run(cwd, 'lint', '--fix');
    expect(rules).toEqual(['pkg-latest']);
    expect(notes[0]).toBe('Corrected 2 lines.');
    expect(readFileSync(join(cwd, 'states/a.sls'), 'utf8')).toBe(
      "/a:\n  file.managed:\n    - contents: a\n    - mode: '0644'\n    - makedirs: yes\nnginx: pkg.latest\n",
    );
  });

  test('obeys tsalt.yaml', async () => {
    const cwd = project({
      ...sloppy,
      'tsalt.yaml':
        'lint: {disable: [unquoted-mode], severity: {pkg-latest: error, quoted-boolean: off}}\n',
    });
    const { findings } = await run(cwd, 'lint');
    expect(findings).toMatchObject([{ rule: 'pkg-latest', severity: 'error' }]);
  });

  test.each([
    ['lint: {disable: [pkg-lates]}', "Did you mean 'pkg-latest'?"],
    ['lint: {severity: {pkg-latest: bad}}', 'must be one of error, warning, note, off'],
    ['lint: [pkg-latest]', "'lint' must be a mapping"],
  ])('refuses %s', async (line, words) => {
    const { code, stderr } = await tsalt(['lint'], { cwd: project({ 'tsalt.yaml': line }) });
    expect(code).toBe(64);
    expect(stderr).toContain(words);
  });

  test('finds pillar that nothing reads', async () => {
    const cwd = project({
      'states/top.sls': "base: {'*': [a]}\n",
      'states/a.sls': '/a:\n  file.managed:\n    - source: salt://a.conf\n    - template: liquid\n',
      'states/a.conf': '{{ pillar.port }}\n',
      'pillar/top.sls': "base: {'*': [a]}\n",
      'pillar/a.sls': 'port: 80\nlisten_prot: 80\nkept: 1 # tsalt-lint: disable=unused-pillar\n',
    });
    const { findings, code } = await run(cwd, 'lint');
    expect(findings).toMatchObject([{ rule: 'unused-pillar', file: 'pillar/a.sls', line: 2 }]);
    expect(code).toBe(0);
  });

  test('--fix belongs to lint', async () => {
    const { code, stderr } = await tsalt(['validate', '--fix'], { cwd: project({}) });
    expect(code).toBe(64);
    expect(stderr).toContain('--fix belongs to lint');
  });
});
