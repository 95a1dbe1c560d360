import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { startHostileProject } from '../../../helpers/hostile-host.ts';
import { type Project, startProject } from '../../../helpers/project.ts';

let project: Project;

beforeAll(async () => {
  project = await startProject({
    files: {
      'states/yaml.sls': 'a:\n  file.managed:\n    - name: /x\n   bad: [\n',
      'states/liquid.sls': 'a: {{ pillar.nope.x }}\n',
      'states/tag.sls': 'a:\n  test.nop: []\n{% if %}\n',
      'states/unknown.sls': 'a:\n  fil.managed: []\n',
      'states/argument.sls': 'a:\n  host.present:\n    - ipp: 10.0.0.1\n    - ip: 10.0.0.1\n',
      'states/ignored.sls': 'a:\n  file.absent:\n    - name: /nowhere/x\n    - nmae: /nowhere/y\n',
      'states/requisite.sls': 'a:\n  test.nop:\n    - require:\n      - test: zz\n',
      'states/recursion.sls':
        'a:\n  test.nop:\n    - require:\n      - test: b\nb:\n  test.nop:\n    - require:\n      - test: a\n',
      'states/script.sls': '#!ts\nexport const run = ( => 1;\n',
      'states/python.sls': '#!py\ndef run(): return {}\n',
      'states/control.sls':
        '{{ grains.root }}/before:\n  file.touch: []\nagain:\n  module.run:\n    - state.sls: [{mods: tag}]\n',
      'states/engine.sls':
        '{{ grains.root }}/engine:\n  file.managed:\n    - contents_grains: id\n    - template: nope\nb:\n  test.nop: []\n',
      'states/q.sls': 'q:\n  test.nop: []\n',
      'states/two.sls': 'include:\n  - yaml\n  - liquid\n',
    },
  });
});
afterAll(() => project.close());

const apply = async (sls: string): Promise<{ code: number | null; text: string }> => {
  const { code, stdout, stderr } = await project.run('web1', 'state.apply', sls);
  return {
    code,
    text: (stdout + stderr).replace(/\d\d:\d\d:\d\d\.\d+/g, 'TIME').replace(/[\d.]+ m?s/g, 'N ms'),
  };
};

test('an SLS that is not there', async () => {
  expect(await apply('missing')).toEqual({
    code: 65,
    text: `web1:
    - No matching sls found for 'missing' in env 'base'
      Looked for missing.sls and missing/init.sls in ${project.dir}/states.
`,
  });
});

test('YAML that does not parse, with file, line, column and the lines around', async () => {
  expect(await apply('yaml')).toEqual({
    code: 65,
    text: `web1:
    - Rendering SLS 'base:yaml' failed: did not find expected key (states/yaml.sls:4:4)
      ---
      a:
        file.managed:
          - name: /x
         bad: [    <======================
      ---
      It was found while parsing a block mapping that begins on line 2.
`,
  });
});

test('a Liquid variable that is not there', async () => {
  expect(await apply('liquid')).toEqual({
    code: 65,
    text: `web1:
    - Rendering SLS 'base:liquid' failed: Liquid variable 'pillar.nope' is undefined (states/liquid.sls:1:7)
      ---
      a: {{ pillar.nope.x }}    <======================
      ---
      Give it a value, or write \`| default: …\` behind it.
`,
  });
});

test('a Liquid tag that makes no sense', async () => {
  const { code, text } = await apply('tag');
  expect(code).toBe(65);
  expect(text).toContain("Rendering SLS 'base:tag' failed: Liquid syntax error: ");
  expect(text).toContain('(states/tag.sls:3:6)');
  expect(text).toContain('{% if %}    <======================');
});

test('all broken files are reported at once', async () => {
  const { code, text } = await apply('two');
  expect(code).toBe(65);
  expect(text).toContain('states/yaml.sls:4:4');
  expect(text).toContain('states/liquid.sls:1:7');
});

test('a state function that no module has fails its state', async () => {
  const { code, text } = await apply('unknown');
  expect(code).toBe(20);
  expect(text).toContain("State 'fil.managed' was not found in SLS 'unknown'");
  expect(text).toContain("Reason: 'fil.managed' is not available.");
});

test('an unknown argument stops the run before any state, with the nearest name', async () => {
  expect(await apply('argument')).toEqual({
    code: 65,
    text: `web1:
    'ipp' is an invalid keyword argument for 'host.present' (did you mean 'ip'?), in SLS 'argument', ID 'a' (states/argument.sls:3:7)
    ---
    a:
      host.present:
        - ipp: 10.0.0.1    <======================
        - ip: 10.0.0.1
    ---
`,
  });
});

test('an argument that resembles another is refused, though Salt takes any', async () => {
  const { code, text } = await apply('ignored');
  expect(code).toBe(65);
  expect(text).toContain(
    "'nmae' is not an argument of 'file.absent' (did you mean 'name'?), in SLS 'ignored', ID 'a' (states/ignored.sls:",
  );
});

test('a requisite that is not there', async () => {
  const { code, text } = await apply('requisite');
  expect(code).toBe(20);
  expect(text).toContain('The following requisites were not found:');
  expect(text).toContain('test: zz');
});

test('requisites in a circle', async () => {
  expect(await apply('recursion')).toEqual({
    code: 65,
    text: `web1:
    - A recursive requisite was found, SLS "recursion" ID "b" ID "a" (states/recursion.sls:7:7)
      ---
      [...]
      b:
        test.nop:
          - require:    <======================
            - test: a
      ---
      Two states cannot each wait for the other.
`,
  });
});

test('roster syntax and unknown roster keys name file, line and the nearest key', async () => {
  project.roster('web1:\n  host: 127.0.0.1\n  usr: root\n');
  const { code, stderr } = await project.run('*', 'test.ping');
  expect(code).toBe(64);
  expect(stderr).toContain('roster.yaml:3:3');
  expect(stderr).toContain("'user'");
  project.roster('web1: [\n');
  const broken = await project.run('*', 'test.ping');
  expect(broken.code).toBe(64);
  expect(broken.stderr).toContain('roster.yaml:2');
  project.roster(project.hosts.web1?.entry ?? '');
});

test('a target regex that is none', async () => {
  const { code, stderr } = await project.run('-E', 'web[', 'test.ping');
  expect(code).toBe(64);
  expect(stderr).toMatch(/^tsalt-ssh: .*web\[.*\n/);
});

test('a function that no module has is refused without a connection', async () => {
  const before = project.hosts.web1?.server.counts.connections;
  const { code, stderr } = await project.run('web1', 'cmd.rum', 'id');
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: "tsalt-ssh: 'cmd.rum' is not available.\nDid you mean 'cmd.run'?\n",
  });
  expect((await project.run('web1', 'cmd.run')).stderr).toBe(
    "tsalt-ssh: 'cmd.run' is missing the argument 'cmd'.\n",
  );
  expect(project.hosts.web1?.server.counts.connections).toBe(before);
});

test('no host matches', async () => {
  const { code, stderr } = await project.run('db*', 'test.ping');
  expect({ code, stderr }).toEqual({
    code: 67,
    stderr:
      "tsalt-ssh: No host of the roster matches the glob target 'db*'.\nThe roster has: web1 (tsalt-ssh '*' -H lists them).\n",
  });
});

test('a list names a host that no roster has: the others run, and it is said', async () => {
  const { code, stdout, stderr } = await project.run('-L', 'web1,web9', 'test.ping');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'web1:\n    True\n' });
  expect(stderr).toContain("The list names 'web9', which no roster has; it is left out.");
});

test('a target that no host could match is refused before any connection', async () => {
  const before = project.hosts.web1?.server.counts.connections;
  const told = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await project.run(...args, 'test.ping');
    return `${code} ${stderr}`;
  };
  expect(await told('-N', 'gone')).toBe('64 tsalt-ssh: There is no nodegroup "gone".\n');
  expect(await told('-G', 'os')).toBe(
    '64 tsalt-ssh: "os" has no value to compare with: write key:value.\n',
  );
  expect(await told('-C', 'web1 and')).toContain('64 tsalt-ssh: Target "web1 and" makes no sense');
  expect(project.hosts.web1?.server.counts.connections).toBe(before);
  expect(await told('-G', 'no|such', '--delimiter=|')).toMatch(/^67 /);
});

test('a full disk for the output is reported in one sentence; one for the log stops nothing', async () => {
  const cli = join(packageRoot, 'dist/tsalt-ssh.cjs');
  const env = { ...process.env, HOME: join(project.dir, 'home'), NO_COLOR: '1' };
  const full = openSync('/dev/full', 'w');
  const run = spawn(process.execPath, [cli, 'web1', 'test.ping'], {
    cwd: project.dir,
    env,
    stdio: ['ignore', full, 'pipe'],
  });
  let stderr = '';
  run.stderr?.on('data', chunk => {
    stderr += String(chunk);
  });
  const code = await new Promise(resolve => run.on('close', resolve));
  closeSync(full);
  expect([code, stderr]).toEqual([
    64,
    'tsalt-ssh: The output cannot be written: ENOSPC: no space left on device, write.\nThe run itself went on to its end: only its report is incomplete.\n',
  ]);
  const file = await project.run('web1', '--out-file=/dev/full', 'test.ping');
  expect([file.code, file.stderr]).toEqual([
    64,
    'tsalt-ssh: The output file /dev/full cannot be written: ENOSPC: no space left on device, write.\nThe run itself went on to its end: only its report is incomplete.\n',
  ]);
  const log = await project.run('web1', '--log-file=/dev/full', 'log.error', 'one');
  expect([log.code, log.stdout]).toEqual([0, 'web1:\n    True\n']);
  expect(log.stderr.match(/The log file \/dev\/full cannot be written/g)).toHaveLength(1);
});

test.each(['nested', 'ndjson'])(
  'an output file that cannot be written cuts off no host, with --out=%s',
  { tags: 'slow' },
  async out => {
    const entry = project.hosts.web1?.entry ?? '';
    project.roster(entry + entry.replace('web1:', 'web2:'));
    const made = join(project.dir, `made-${out}`);
    const { code, stderr } = await project.run(
      ...['*', '--max-procs=1', '--out-file=/dev/full', `--out=${out}`],
      ...['cmd.run', `sleep 0.5; echo >>${made}`],
    );
    project.roster(entry);
    expect([code, stderr]).toEqual([
      64,
      'tsalt-ssh: The output file /dev/full cannot be written: ENOSPC: no space left on device, write.\nThe run itself went on to its end: only its report is incomplete.\n',
    ]);
    expect(readFileSync(made, 'utf8')).toBe('\n\n');
  },
);

test('--dry-run refuses what has no test mode: it would run in earnest', async () => {
  const file = join(project.dir, 'made');
  const told = async (...args: string[]): Promise<string> => {
    const { code, stderr } = await project.run(...args, '--dry-run');
    return `${code} ${stderr.split('\n')[0]}`;
  };
  expect(await told('web1', 'cmd.run', `touch ${file}`)).toBe(
    "64 tsalt-ssh: 'cmd.run' has no test mode for --dry-run; nothing was run.",
  );
  expect(await told('web1', '-r', `touch ${file}`)).toBe(
    '64 tsalt-ssh: A shell command has no test mode for --dry-run; nothing was run.',
  );
  expect(await told('clean', 'web1')).toMatch(/^64 .*'clean' has no test mode/);
  expect((await project.run('web1', 'state.single', 'file.touch', file, '--dry-run')).code).toBe(0);
  expect(existsSync(file)).toBe(false);
});

test('an SLS in TypeScript that does not parse, and one in Python', async () => {
  expect((await apply('script')).text).toContain(
    'failed: TypeScript: Unexpected "=>" (states/script.sls:2:22)\n',
  );
  expect((await apply('python')).text).toBe(`web1:
    - Rendering SLS 'base:python' failed: The pipe 'py' makes no sense: there is no renderer 'py'. (states/python.sls:1)
      Python does not run here; write it as #!ts, in TypeScript.
`);
});

test('a state that calls what only the control node has: refused before any other ran', async () => {
  const { code, text } = await apply('control');

  expect(code).toBe(65);
  expect(text).toContain(
    "'state.sls' lives on the control node and cannot be called by a state, in SLS 'control', ID 'again'",
  );
  expect(existsSync(join(project.dir, 'hosts', 'web1', 'before'))).toBe(false);
});

test('a template engine that does not exist fails its own state only', async () => {
  const { code, text } = await apply('engine');

  expect(code).toBe(20);
  expect(text).toContain("there is no renderer 'nope'");
  expect(text).toMatch(/Succeeded: 1\n\s*Failed: {4}1/);
});

test('SLS named by a dictionary: its text is not a pattern of names', async () => {
  const { code, stdout, stderr } = await project.run('web1', 'state.apply', 'mods={q: 1}');

  expect(stdout).not.toContain('test.nop');
  expect(stderr + stdout).toContain("SLS are named by a text or a list, not by {'q': 1}");
  expect(code).toBe(64);
});

test('a regular expression that takes for ever on what a host says ends that host, in time', {
  tags: 'slow',
  timeout: 60_000,
}, async () => {
  const pattern = '^(a+)+(?!b)$|^Linux$';
  const hostile = await startHostileProject({
    grains: { kernel: `${'a'.repeat(60)}!` },
    files: {
      'states/top.sls': `base:\n  'kernel:${pattern}':\n    - match: grain_pcre\n    - x\n`,
      'states/x.sls': 'x:\n  test.nop: []\n',
    },
  });
  try {
    for (const args of [
      ['-P', `kernel:${pattern}`, 'test.ping'],
      ['*', 'state.apply'],
    ]) {
      const begin = performance.now();
      const { stdout } = await hostile.run(...args, '--out=json', '--static');
      expect(performance.now() - begin).toBeLessThan(20_000);
      const { bad, web1 } = JSON.parse(stdout);
      // Targets on the command line are in lower case.
      expect(String(bad)).toMatch(/^Regular expression "\^\(a\+\)\+.*" takes too long on "aaaa/);
      expect(JSON.stringify(web1)).toMatch(/true/);
    }
  } finally {
    await hostile.close();
  }
});
