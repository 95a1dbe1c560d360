// @module-tag slow
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { startProject } from '../../../helpers/project.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';
import { hasSshd, startSshd } from '../../../helpers/sshd.ts';

const until = async (what: () => boolean, seconds: number): Promise<boolean> => {
  for (const end = Date.now() + seconds * 1000; Date.now() < end; ) {
    if (what()) return true;
    await new Promise(resolve => setTimeout(resolve, 20));
  }
  return false;
};

const lives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

test.skipIf(!hasSshd)(
  'Ctrl-C ends the processes on the host at once and says that the run was cancelled',
  { timeout: 240_000 },
  async () => {
    const dir = mkdtempSync(join(tmpdir(), 'tsalt-cancel-'));
    onTestFinished(() => removeFolder(dir));
    const sshd = await startSshd({ dir: join(dir, 'sshd') });
    onTestFinished(() => sshd.close());
    mkdirSync(join(dir, 'states'));
    const pidFile = join(dir, 'pid');
    writeFileSync(
      join(dir, 'states/wait.sls'),
      `before:\n  test.nop\nwait:\n  cmd.run:\n    - name: echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; exec sleep 600\n`,
    );
    writeFileSync(join(dir, 'known_hosts'), `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`);
    writeFileSync(
      join(dir, 'tsalt.yaml'),
      `known_hosts_file: known_hosts\ncachedir: ${join(dir, 'cache')}\n`,
    );
    writeFileSync(
      join(dir, 'roster.yaml'),
      `web1: {host: 127.0.0.1, port: ${sshd.port}, user: ${sshd.user}, priv: ${sshd.key}, thin_dir: ${join(dir, 'thin')}}\n`,
    );
    const cli = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const args = [cli, 'web1', 'state.apply', 'wait', '--out=json', '--static'];
    const child = spawn(process.execPath, args, { cwd: dir });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output += String(chunk);
      });
    const ended = new Promise<number | null>(resolve => child.on('close', resolve));
    expect(await until(() => existsSync(pidFile), 100), output).toBe(true);
    const pid = Number(readFileSync(pidFile, 'utf8'));
    expect(lives(pid)).toBe(true);
    const begin = Date.now();
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(await until(() => !lives(pid), 10)).toBe(true);
    // A lost link would let the state finish.
    expect(Date.now() - begin).toBeLessThan(10_000);
    expect(output).toContain('cancelled');
  },
);

const endless = `import { writeFileSync } from 'node:fs';
export const now = (name: string) => {
  writeFileSync(name, String(process.pid));
  for (;;);
};
`;

test('a module that never yields is ended on the host when its time is over, with its lock', {
  timeout: 180_000,
}, async () => {
  const project = await startProject({
    hosts: ['web1', 'web2'],
    files: {
      'states/_states/endless.ts': endless,
      'states/_modules/endless.ts': endless,
      'states/fine.sls': 'fine: {test.nop: []}\n',
    },
  });
  onTestFinished(() => project.close());
  const pidFile = (host: string): string => join(project.dir, `pid-${host}`);
  project.write({ 'states/stuck.sls': `${pidFile('web1')}: {endless.now: []}\n` });
  // Its time shall not go by for bundling and sending the modules.
  expect((await project.run('*', 'state.apply', 'fine')).code).toBe(0);
  const runs = [
    ['web1', 'state.apply', 'stuck'],
    // The function travels with the command that starts the runtime: it may never say hello.
    ['web2', 'endless.now', pidFile('web2')],
  ] as const;
  await Promise.all(
    runs.map(async ([host, ...words]) => {
      const stuck = project.run(host, ...words, '--timeout=15');
      expect(await until(() => existsSync(pidFile(host)), 100)).toBe(true);
      expect((await stuck).stdout).toContain(`${host}: not done within 15 s (--timeout).`);
      const pid = Number(readFileSync(pidFile(host), 'utf8'));
      expect(await until(() => !lives(pid), 30)).toBe(true);
    }),
  );
  expect((await project.run('*', 'state.apply', 'fine')).code).toBe(0);
});

/** A module that says when it begins to compute. */
const computes = (name: string): string =>
  `import { writeFileSync } from 'node:fs';
export const ${name} = () => {
  writeFileSync('computing', '');
  for (;;);
};
`;

const loops: Record<string, string> = {
  'looping.sls': `#!jinja|yaml
{% for a in range(99999) %}{% for b in range(99999) %}{% set c = a * b %}{% endfor %}{% endfor %}
`,
  'liquid.sls':
    '{% for a in (1..9999) %}{% for b in (1..9999) %}{% assign c = a | times: b %}{% endfor %}{% endfor %}\n',
  'program.sls': `#!ts\n${computes('run')}`,
  'piped.sls': '#!endless\na: b\n',
  'mako.sls': '#!mako|yaml\n<% for (;;); %>\n',
};

const tells: ReadonlySet<string> = new Set(['program.sls', 'piped.sls']);

test('Ctrl-C ends a run whose SLS is rendered without end', { timeout: 600_000 }, async () => {
  const files = Object.fromEntries(
    Object.entries(loops).map(([file, text]) => [`states/${file}`, text]),
  );
  files['states/_renderers/endless.ts'] = computes('render');
  const project = await startProject({ files });
  onTestFinished(project.close);
  const cli = join(packageRoot, 'dist/tsalt-ssh.cjs');
  const start = (...args: string[]) => {
    const child = spawn(process.execPath, [cli, 'web1', ...args], { cwd: project.dir });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output += String(chunk);
      });
    const ended = new Promise<number | null>(resolve => child.on('close', resolve));
    return { child, ended, output: () => output };
  };

  // Nothing is there yet: the modules are bundled, which no host has to do with.
  const bundling = start('test.ping');
  expect(await until(() => existsSync(join(project.dir, 'cache/artifacts')), 100)).toBe(true);
  bundling.child.kill('SIGINT');
  expect(await bundling.ended).toBe(130);

  expect((await project.run('web1', 'test.ping')).code).toBe(0);
  const computing = join(project.dir, 'computing');
  for (const file of Object.keys(loops)) {
    const run = start('state.apply', file.replace('.sls', ''), '-l', 'debug');
    // It may be rendered while the host starts.
    expect(await until(() => run.output().includes(': bootstrap'), 100), run.output()).toBe(true);
    if (tells.has(file)) expect(await until(() => existsSync(computing), 100)).toBe(true);
    // Meanwhile the host sends its hello, which is read in the same turn as the signal.
    await new Promise(resolve => setTimeout(resolve, 1500));
    rmSync(computing, { force: true });
    const begin = Date.now();
    run.child.kill('SIGINT');
    expect(await run.ended, `${file}: ${run.output()}`).toBe(130);
    expect(Date.now() - begin, file).toBeLessThan(20_000);
  }
});

/** The requirements of a call that must run into a module of the user. */
const own: Record<string, { readonly config?: string; readonly args: readonly string[] }> = {
  'states/_outputters/endless.ts': { args: ['test.ping', '--out=endless'] },
  'states/_matchers/endless_match.ts': { args: ['state.apply'] },
  'states/_pillar/endless.ts': {
    config: 'ext_pillar: [{endless: []}]\n',
    args: ['pillar.items'],
  },
};

const exportOf: Record<string, string> = {
  outputters: 'output',
  matchers: 'match',
  pillar: 'ext_pillar',
};

test.each(Object.entries(own))(
  'Ctrl-C ends a run while %s computes without end',
  {
    timeout: 240_000,
  },
  async (file, { config = '', args }) => {
    const kind = file.split('/')[1]?.slice(1) ?? '';
    const project = await startProject({
      files: {
        [file]: computes(exportOf[kind] ?? ''),
        'states/top.sls': "base:\n  '*':\n    - match: endless\n    - nothing\n",
      },
    });
    onTestFinished(project.close);
    const settings = join(project.dir, 'tsalt.yaml');
    writeFileSync(settings, readFileSync(settings, 'utf8') + config);
    const cli = join(packageRoot, 'dist/tsalt-ssh.cjs');
    const child = spawn(process.execPath, [cli, 'web1', ...args], { cwd: project.dir });
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', chunk => {
        output += String(chunk);
      });
    const ended = new Promise<number | null>(resolve => child.on('close', resolve));
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await until(() => existsSync(join(project.dir, 'computing')), 100), output).toBe(true);
    await new Promise(resolve => setTimeout(resolve, 300));
    const begin = Date.now();
    child.kill('SIGINT');
    expect(await ended, output).toBe(130);
    expect(Date.now() - begin).toBeLessThan(20_000);
    // The hosts' results are not lost because of the outputter.
    if (kind === 'outputters') expect(output).toMatch(/was interrupted[\s\S]*web1:\n {4}True/);
  },
);
