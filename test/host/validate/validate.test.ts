import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tsalt } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let root: string;
let number = 0;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'validate-'));
});
afterAll(() => removeFolder(root));

const project = (files: Readonly<Record<string, string>>): string => {
  const dir = join(root, String(number++));
  const all = {
    'tsalt.yaml': `cachedir: ${join(root, 'cache')}\nrenderer: jinja|yaml\n`,
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
};

const hosts = { 'roster.yaml': 'web1: 192.0.2.1\nweb2: 192.0.2.2\ndb1: 192.0.2.3\n' };

type Json = {
  hosts: number;
  notes: string[];
  findings: {
    rule: string;
    severity: string;
    message: string;
    file?: string;
    line?: number;
    hint?: string;
    hosts: string[];
  }[];
};

const check = async (cwd: string, ...args: string[]) => {
  const { code, stdout, stderr } = await tsalt(['validate', ...args, '--out', 'json'], { cwd });
  expect(stderr).toBe('');
  return { code, ...(JSON.parse(stdout) as Json) };
};

test.each(['jinja', 'liquid'])(
  'validate: reads a roster that is a %s template, and names its lines',
  async engine => {
    const list = engine === 'jinja' ? '[1, 2]' : '(1..2)';
    const roster = (key: string): string =>
      `#!${engine}|yaml\n{% for n in ${list} %}\nweb{{ n }}:\n  host: 192.0.2.{{ n }}\n  ${key}: 22\n{% endfor %}\n`;
    const dir = project({ 'roster.yaml': roster('port'), 'states/top.sls': "base: {'*': []}\n" });
    expect(await check(dir)).toMatchObject({ code: 0, hosts: 2, findings: [] });
    writeFileSync(join(dir, 'roster.yaml'), roster('prot'));
    const { code, findings } = await check(dir);
    expect(code).toBe(65);
    expect(findings.map(({ line, hosts }) => [line, hosts])).toEqual([
      [5, ['web1']],
      [5, ['web2']],
    ]);
  },
);

const broken = {
  ...hosts,
  'states/top.sls': "base:\n  '*': [common, lost]\n  'web*': [web]\n",
  'states/common.sls': `/etc/x:
  file.managed:
    - content: x
    - makedirs: perhaps
u:
  user.present:
    - nmae: a
w: {test.nop: {}}
a: pkg.instaled
`,
  'states/web.sls': '{% if grains.os == "Debian" %}\nx: [y\n{% else %}\nx: test.nop\n{% endif %}\n',
  'pillar/top.sls': "base: {'*': [a]}\n",
  'pillar/a.sls': 'a: {{ b | nosuch }}\n',
};

describe('tsalt-ssh validate', () => {
  test('accepts a tree without mistakes', async () => {
    const cwd = project({
      ...hosts,
      'states/top.sls': "base: {'*': [a]}\n",
      'states/a.sls': 'x:\n  file.managed:\n    - name: /etc/x\n    - contents: {{ pillar.a }}\n',
      'pillar/top.sls': "base: {'*': [a]}\n",
      'pillar/a.sls': 'a: 1\n',
    });
    const { code, hosts: count, findings, notes } = await check(cwd);
    expect(findings).toEqual([]);
    expect([code, count]).toEqual([0, 3]);
    expect(notes[0]).toContain('checked as debian-12');
  });

  test('reports all errors at once, each with its place and its hosts', async () => {
    const { code, findings } = await check(project(broken), '--grains', 'debian-12');
    expect(code).toBe(65);
    const all = ['web1', 'web2', 'db1'];
    const found = findings.map(({ rule, file, line, hosts: who }) => [rule, file, line, who]);
    expect(found).toEqual([
      ['pillar', 'pillar/a.sls', 1, all],
      ['unknown-argument', 'states/common.sls', 3, all],
      ['argument-type', 'states/common.sls', 4, all],
      ['unknown-argument', 'states/common.sls', 7, all],
      ['compile', 'states/common.sls', 8, all],
      ['unknown-function', 'states/common.sls', 9, all],
      ['missing-sls', 'states/top.sls', 2, all],
      ['render', 'states/web.sls', expect.any(Number), ['web1', 'web2']],
    ]);
    expect(findings[1]?.message).toContain("(did you mean 'contents'?)");
  });

  test('checks only the target and the SLS that are named', async () => {
    const cwd = project(broken);
    const web = await check(cwd, 'web*', 'web', '--grains', 'debian-12');
    expect(web.findings.map(({ rule }) => rule)).toEqual(['pillar', 'render']);
    expect(web.hosts).toBe(2);
    const alone = await check(cwd, 'web', '--grains', 'debian-12');
    expect(alone.findings.map(({ rule }) => rule)).toEqual(['pillar', 'render']);
    expect(alone.hosts).toBe(3);
    const grain = await check(cwd, '-G', 'os:Rocky', 'web', '--grains', 'debian-12,rocky-9');
    expect(grain.findings.map(({ rule }) => rule)).toEqual(['pillar']);
    expect(grain.hosts).toBe(3);
  });

  test('checks each host as several systems', async () => {
    const { findings, hosts: count } = await check(
      project(broken),
      'db1',
      'web',
      '--grains=debian-12,rocky-9',
    );
    expect(findings.at(-1)).toMatchObject({ rule: 'render', hosts: ['db1 (debian-12)'] });
    expect(count).toBe(2);
  });

  test('an SLS that is missing is found where a top file or an include names it', async () => {
    const cwd = project({
      ...hosts,
      'states/top.sls': "base:\n  '*':\n    - a\n    - no_state\n",
      'states/a.sls': 'include:\n  - no_include\nx: test.nop\n',
      'pillar/top.sls': `#!jinja|yaml
base:
{% for sls in ['p', 'no_pillar'] %}
  '{{ '*' * loop.index }}':
    - match: glob
    - {{ sls }}
{% endfor %}
  'db*':
    - match: glob
    - p
    - no_db
`,
      'pillar/p.sls': 'include:\n  - q\n  - no_part: {key: a}\n',
      'pillar/q.sls': 'k: 1\n',
    });
    const { findings } = await check(cwd);
    const found = findings.map(({ message, file, line, hosts: who }) => [
      /'(no_\w+)'/.exec(message)?.[1],
      `${file}:${line}`,
      who.length,
    ]);
    expect(found).toEqual([
      ['no_part', 'pillar/p.sls:3', 3],
      ['no_pillar', 'pillar/top.sls:6', 3],
      ['no_db', 'pillar/top.sls:11', 1],
      ['no_include', 'states/a.sls:2', 3],
      ['no_state', 'states/top.sls:4', 3],
    ]);
  });

  test('distinguishes hosts of one system by their names, roster grains and pillar', async () => {
    const cwd = project({
      'roster.yaml': 'web1: a\nweb2: b\nweb3: {host: c, grains: {role: db}}\nweb4: d\n',
      'states/top.sls': "base: {'*': [same, name, role, data]}\n",
      'states/same.sls': 'x: test.nope\n',
      'states/name.sls':
        "{% if grains.id == 'web2' %}y: test.nope{% else %}y: test.nop{% endif %}\n",
      'states/role.sls': "{% if grains.get('role') == 'db' %}z: test.nope{% endif %}\n",
      'states/data.sls': '{% if pillar.a is defined %}w: test.nope{% endif %}\n',
      'pillar/top.sls': "base: {'web4': [a]}\n",
      'pillar/a.sls': 'a: 1\n',
    });
    const { findings } = await check(cwd, '--grains', 'debian-12');
    expect(findings.map(({ file, hosts: who }) => [file, who])).toEqual([
      ['states/data.sls', ['web4']],
      ['states/name.sls', ['web2']],
      ['states/role.sls', ['web3']],
      ['states/same.sls', ['web1', 'web2', 'web3', 'web4']],
    ]);
  });

  test('reports wrong entries of the roster and goes on with the others', async () => {
    const cwd = project({
      'roster.yaml': 'a: {hots: x}\nb: {port: 0}\nc: 192.0.2.1\n',
      'states/top.sls': "base: {'*': [a]}\n",
      'states/a.sls': 'x: test.nope\n',
    });
    const { code, findings } = await check(cwd);
    expect(code).toBe(65);
    expect(findings.map(({ rule, line, hosts: who }) => [rule, line, who])).toEqual([
      ['roster', 1, ['a']],
      ['roster', 2, ['b']],
      ['unknown-function', 1, ['c']],
    ]);
  });

  test('checks a tree without a roster and without a top file', async () => {
    const cwd = project({ 'states/a.sls': 'x: test.nop\n', 'states/b.sls': 'x: test.nope\n' });
    const { findings, hosts: count } = await check(cwd, '--grains', 'alpine-3');
    expect(findings).toMatchObject([{ rule: 'unknown-function', file: 'states/b.sls' }]);
    expect(count).toBe(1);
  });

  test('validate accepts an SLS that needs the states of one that includes it', async () => {
    const part = 'extend:\n  x:\n    test:\n      - require: [{test: y}]\n';
    const cwd = project({
      'states/whole.sls': 'include: [part]\nx: test.nop\ny: test.nop\n',
      'states/part.sls': part,
      'states/alone.sls': part,
    });
    const { findings } = await check(cwd);
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining("Cannot extend ID 'x' in 'base:alone'"),
    ]);
  });

  test('reports modules that cannot be loaded and knows those that can', async () => {
    const cwd = project({
      ...hosts,
      'states/_states/good.ts':
        'export const made = (name: string, size: number) => ({ name, result: true, changes: {}, comment: String(size) });\n',
      'states/_states/bad.ts': 'export const made = (\n',
      'states/top.sls': "base: {'*': [a]}\n",
      'states/a.sls': 'x:\n  good.made:\n    - size: large\ny: bad.made\n',
    });
    const { findings } = await check(cwd, 'db1');
    expect(findings.map(({ rule }) => rule).sort()).toEqual(['argument-type', 'module']);
  });

  const asking = {
    ...hosts,
    'states/top.sls': "base: {'*': [a, b]}\n",
    'states/a.sls': "{% set release = salt['cmd.run']('uname -r') %}\nx{{ release }}: test.nop\n",
    'states/b.sls': 'y:\n  test.nop:\n    - require:\n      - test: x6\n',
  };

  test('notes what needs the host, and reports no error that only follows from it', async () => {
    const { code, findings } = await check(project(asking), 'db1');
    expect(findings).toMatchObject([
      { rule: 'needs-host', severity: 'note', file: 'states/a.sls', line: 1 },
    ]);
    expect(findings[0]?.hint).toContain('{"fun":"cmd.run","args":["uname -r"]');
    expect(code).toBe(0);
  });

  test('--answers has results of functions of the host', async () => {
    const cwd = project({
      ...asking,
      'answers.yaml': '- {fun: cmd.run, args: [uname -r], value: "6"}\n',
    });
    expect((await check(cwd, 'db1', '--answers', 'answers.yaml')).findings).toEqual([]);
    writeFileSync(join(cwd, 'answers.yaml'), '- {fun: cmd.run, args: [ls], value: "6"}\n');
    const other = await check(cwd, 'db1', '--answers', 'answers.yaml');
    expect(other.findings).toMatchObject([{ rule: 'needs-host' }]);
  });

  test('functions that only look at their arguments are answered', async () => {
    const cwd = project({
      ...hosts,
      'states/a.sls':
        "{{ salt['file.join']('/a', 'b/', 'c') }}{{ salt['file.dirname']('/x/y') }}{{ salt['file.basename']('/x/y') }}: test.nope\n",
    });
    const { findings } = await check(cwd, 'db1', 'a');
    expect(findings).toMatchObject([{ rule: 'unknown-function' }]);
    expect(findings[0]?.message).toContain("ID '/a/b/c/xy'");
  });

  test('a broken pillar is one error, also for templates that read it', async () => {
    const cwd = project({
      ...hosts,
      'states/a.sls': "x{{ salt['pillar.get']('a', 1) }}: test.nop\n",
      'pillar/top.sls': "base: {'*': [a]}\n",
      'pillar/a.sls': '{{ salt["cmd.run"]("id") }}: 1\n',
    });
    const { findings, code } = await check(cwd, 'db1', 'a');
    expect(findings).toMatchObject([{ rule: 'needs-host', file: 'pillar/a.sls' }]);
    expect(code).toBe(0);
  });

  test('a function that no host has is an error', async () => {
    const cwd = project({ ...hosts, 'states/a.sls': "x: {{ salt['nosuch.fun']() }}\n" });
    const { code, findings } = await check(cwd, 'db1', 'a');
    expect(code).toBe(65);
    expect(findings).toMatchObject([{ rule: 'render', severity: 'error' }]);
    expect(findings[0]?.message).toContain("'nosuch.fun' is not available");
  });

  test('--grains-from takes the output of grains.items', async () => {
    const cwd = project({
      ...hosts,
      'grains.json': JSON.stringify({ web1: { os: 'Void', roles: ['a'] }, web2: { os: 'Void' } }),
      'states/top.sls': "base:\n  '*': [a]\n",
      'states/a.sls': "{{ grains['os'] }}{{ grains.roles[0] }}: test.nop\n",
    });
    const { findings, hosts: count, notes } = await check(cwd, '--grains-from', 'grains.json');
    expect(findings).toMatchObject([{ rule: 'render', hosts: ['web2'] }]);
    expect(count).toBe(2);
    expect(notes).toEqual(['Not checked, since no grains are known: db1.']);
  });

  test('--cached takes the grains of the last run', async () => {
    const cwd = project({ ...hosts, 'states/a.sls': 'x: test.nop\n' });
    const { hosts: count, notes } = await check(cwd, '*', 'a', '--cached');
    expect(count).toBe(0);
    expect(notes).toEqual(['Not checked, since no grains are known: web1, web2, db1.']);
  });

  test.each([
    [['--grains', 'debain-12'], "Did you mean 'debian-12'?"],
    [['--grains', 'rocky-9', '--cached'], 'exclude each other'],
    [['--grains-from', 'nosuch.json'], 'ENOENT'],
    [['--answers', 'tsalt.yaml'], 'is not a list of calls'],
    [['--out', 'sarfi'], "Did you mean 'sarif'?"],
  ])('refuses %s', async (args, words) => {
    const { code, stderr } = await tsalt(['validate', ...args], { cwd: project(hosts) });
    expect(code).toBe(64);
    expect(stderr).toContain(words);
  });

  test('exits 67 where no host matches', async () => {
    const { code, stderr } = await tsalt(['validate', 'mail*'], { cwd: project(hosts) });
    expect(stderr).toContain("No host of the roster matches the glob target 'mail*'.");
    expect(code).toBe(67);
  });
});

describe('formats of tsalt-ssh validate', () => {
  test('--out-file has the report', async () => {
    const cwd = project(broken);
    const args = ['validate', '--out=junit', '--out-file=report.xml'];
    const { code, stdout } = await tsalt(args, { cwd });
    expect([code, stdout]).toEqual([65, '']);
    expect(readFileSync(join(cwd, 'report.xml'), 'utf8')).toMatch(/^<\?xml /);
  });

  const show = async (out: string): Promise<string> => {
    const { code, stdout } = await tsalt(['validate', '--grains=debian-12', '--out', out], {
      cwd: project(broken),
    });
    expect(code).toBe(65);
    return stdout;
  };

  test('text has place, excerpt, hint and hosts', async () => {
    const text = await show('text');
    expect(text).toContain('(states/common.sls:7:7) [unknown-argument]');
    expect(text).toContain('- nmae: a    <====');
    expect(text).toContain('hosts: web1, web2');
    expect(text).toContain('3 hosts checked: 8 errors, 0 warnings.');
  });

  test('github has annotations that GitHub reads', async () => {
    const lines = (await show('github')).trim().split('\n');
    expect(lines).toHaveLength(8);
    for (const line of lines) expect(line).toMatch(/^::error [^:]*::\S/);
    expect(lines[1]).toMatch(/^::error file=states\/common\.sls,line=3,col=7,title=/);
  });

  test('sarif has a rule and a location for each result', async () => {
    const { version, runs } = JSON.parse(await show('sarif')) as {
      version: string;
      runs: {
        tool: { driver: { rules: { id: string }[] } };
        results: { ruleId: string; locations: object[] }[];
      }[];
    };
    expect(version).toBe('2.1.0');
    const ids = runs[0]?.tool.driver.rules.map(({ id }) => id);
    expect(runs[0]?.results.every(({ ruleId }) => ids?.includes(ruleId))).toBe(true);
    expect(runs[0]?.results[1]?.locations).toMatchObject([
      {
        physicalLocation: {
          artifactLocation: { uri: 'states/common.sls' },
          region: { startLine: 3, startColumn: 7 },
        },
      },
    ]);
  });

  test('junit has a failed test for each file', async () => {
    const text = await show('junit');
    expect(text).toContain('tests="4" failures="4"');
    expect(text).toContain('<testcase classname="validate" name="states/common.sls">');
    expect(text.match(/<failure /g)).toHaveLength(8);
  });
});
