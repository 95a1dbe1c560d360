import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packageRoot } from '../../../helpers/cli.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { hasProgram, hasTmux, startTmux, type Tmux } from '../../../helpers/tmux.ts';

let project: Project;
let env: Record<string, string> = {};

beforeAll(async () => {
  project = await startProject({
    hosts: [],
    files: {
      'roster.yaml':
        'web1: {host: 10.0.0.1}\nweb2: {host: 10.0.0.2, passwd: s3cret}\ndb1: 10.0.0.3\n',
      'tsalt.yaml': 'cachedir: cache\nnodegroups: {webs: "web*", dbs: "db*"}\n',
      'states/nginx.sls': 'nginx_package:\n  pkg.installed: []\n',
      'states/app/init.sls': 'app_user:\n  user.present: []\n',
      'states/_modules/acme.ts':
        "/** Rotates the key. */\nexport const rotate = (\n  name: string,\n  { force = false, how }: { force?: boolean; how?: \"now\" | 'later' | 'never' } = {},\n): string => `${name}${force}${how}`;\n",
    },
  });
  const bin = join(project.dir, 'bin');
  mkdirSync(bin);
  symlinkSync(join(packageRoot, 'dist/tsalt-ssh.cjs'), join(bin, 'tsalt-ssh'));
  mkdirSync(join(project.dir, 'folder one'));
  env = {
    HOME: join(project.dir, 'home'),
    XDG_CACHE_HOME: join(project.dir, 'home/.cache'),
    ZDOTDIR: join(project.dir, 'home'),
    PATH: `${bin}:${process.env.PATH}`,
  };
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout } = await project.run('completion', shell);
    writeFileSync(join(project.dir, `completion.${shell}`), stdout);
  }
  mkdirSync(join(env.HOME ?? '', '.config/fish'), { recursive: true });
  const sourced = (shell: string): string => `source ${project.dir}/completion.${shell}\n`;
  writeFileSync(join(env.HOME ?? '', 'bashrc'), `PS1='$ '\n${sourced('bash')}`);
  writeFileSync(
    join(env.HOME ?? '', '.zshrc'),
    `PS1='$ '; autoload -Uz compinit; compinit -u\n${sourced('zsh')}`,
  );
  writeFileSync(
    join(env.HOME ?? '', '.config/fish/config.fish'),
    `function fish_prompt; echo '$ '; end\nfunction fish_greeting; end\n${sourced('fish')}`,
  );
});
afterAll(() => project.close());

const script = readFileSync(join(packageRoot, 'src/cli/completion/answer.sh'), 'utf8');

/** Asks the script that every shell asks, and returns candidates with their descriptions. */
const answer = (...words: string[]): string[][] => answerWith('tsalt-ssh', ...words);

const answerWith = (program: string, ...words: string[]): string[][] => {
  const { stdout } = spawnSync('sh', ['-c', script, 'tsalt-ssh', program, ...words], {
    cwd: project.dir,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });
  return stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => line.split('\t'));
};

const values = (...words: string[]): string[] => answer(...words).map(([value = '']) => value);

describe('completion offers', () => {
  test('ids, nodegroups and commands as targets', { tags: 'slow' }, () => {
    const [first, second, ...commands] = answer('w');
    expect([first, second]).toEqual([
      ['web1', '10.0.0.1'],
      ['web2', '10.0.0.2'],
    ]);
    expect(commands.toSorted()).toEqual([
      ['watch', 'run it again whenever a file of the project changes'],
      ['worker', 'work on the hosts of a segment for a control node'],
      ['workers', 'list the live queue workers'],
    ]);
    expect(values('-N', '')).toEqual(['webs', 'dbs']);
    expect(values('-L', 'web1,d')).toEqual(['web1,db1']);
    expect(values('-C', 'db1 or N@w')).toEqual(['db1 or N@webs']);
    expect(values('-G', 'w')).toEqual([]);
    expect(values('compl')).toEqual(['completion']);
    expect(values('@')).toContain('@local');
  });

  test('options with their texts, and their values', () => {
    expect(answer('--nodeg')).toEqual([['--nodegroup', 'Target is the name of a nodegroup']]);
    expect(values('--out', 'js')).toEqual(['json']);
    expect(values('--out=js')).toEqual(['--out=json']);
    expect(values('--output=js')).toEqual(['--output=json']);
    expect(values('-l', 'deb')).toEqual(['debug']);
    expect(values('--transport', '')).toEqual(['ssh2', 'openssh']);
    expect(values('-c', '')).toEqual(['#files']);
    expect(values('--user', 'r')).toEqual([]);
    expect(values('web1', 'test.ping', '--', '-')).toEqual([]);
  });

  test('functions by module, then by name', () => {
    expect(values('*', 'cro')).toContain('cron.set_job');
    expect(values('*', 'st')).toEqual(expect.arrayContaining(['state.', 'status.']));
    expect(answer('*', 'test.pin')).toEqual([['test.ping', expect.any(String)]]);
    expect(values('--local', 'test.pin')).toEqual(['test.ping']);
    expect(values('-r', '*', 'test.pin')).toEqual([]);
  });

  test("the user's functions with their keywords and values", () => {
    expect(answer('*', 'acme.')).toEqual([['acme.rotate', 'Rotates the key']]);
    expect(values('*', 'acme.rotate', '')).toEqual(['name=', 'force=', 'how=']);
    expect(values('*', 'acme.rotate', 'force=')).toEqual(['force=True', 'force=False']);
    expect(values('*', 'acme.rotate', 'how=n')).toEqual(['how=now', 'how=never']);
  });

  test('SLS names, ids of states, and arguments of states', () => {
    expect(values('*', 'state.apply', 'a')).toEqual(['app']);
    expect(values('*', 'state.apply', 'app,')).toEqual(['app,app', 'app,nginx']);
    expect(values('*', 'state.show_sls', 'n')).toEqual(['nginx']);
    expect(values('*', 'state.apply', 'nginx', 'test=')).toEqual(['test=True', 'test=False']);
    expect(values('*', 'state.sls_id', 'n')).toEqual(['nginx_package']);
    expect(values('*', 'state.sls_id', 'nginx_package', 'n')).toEqual(['nginx']);
    expect(values('*', 'state.single', 'file.manag')).toEqual(['file.managed']);
    expect(values('*', 'state.single', 'file.managed', 'conte')).toContain('contents=');
    expect(values('*', 'state.apply', 'saltenv=')).toEqual(['saltenv=base']);
  });

  test('the words of commands', () => {
    expect(values('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(values('module', '')).toEqual(['new']);
    expect(values('module', 'new', 'st')).toEqual(['state']);
    expect(values('clean', 'we')).toEqual(['web1', 'web2']);
  });
});

describe('the index', () => {
  const folder = (): string => join(env.XDG_CACHE_HOME ?? '', 'tsalt-ssh/completion');

  /** A program that notes each of its starts: a fresh index needs none. */
  const counting = (): { program: string; starts: () => number } => {
    const log = join(project.dir, 'home/starts');
    rmSync(log, { force: true });
    const program = join(project.dir, 'home/counting');
    writeFileSync(program, `#!/bin/sh\necho >>'${log}'\nexec tsalt-ssh "$@"\n`);
    chmodSync(program, 0o755);
    const starts = (): number => (existsSync(log) ? readFileSync(log, 'utf8').length : 0);
    return { program, starts };
  };

  test('answers without starting Node, until a source is newer', { tags: 'slow' }, async () => {
    const { program, starts } = counting();
    const ask = (...words: string[]): string[] =>
      answerWith(program, ...words).map(([value = '']) => value);
    ask('w');
    const first = starts();
    ask('*', 'pkg.ins');
    expect(starts()).toBe(first);

    const change = async (files: Record<string, string>): Promise<void> => {
      // Times of files have steps of a few milliseconds.
      await new Promise(resolve => setTimeout(resolve, 20));
      project.write(files);
    };
    const roster = readFileSync(join(project.dir, 'roster.yaml'), 'utf8');
    await change({ 'roster.yaml': `${roster}web3: {host: 10.0.0.4}\n` });
    expect(ask('web3')).toEqual(['web3']);
    await change({ 'states/app/late.sls': 'late_one:\n  test.nop: []\n' });
    expect(ask('*', 'state.apply', 'app.l')).toEqual(['app.late']);
    await change({ 'states/_modules/acme.ts': 'export const other = () => 1;\n' });
    expect(ask('*', 'acme.')).toEqual(['acme.other']);
    await change({ 'tsalt.yaml': 'cachedir: cache\nnodegroups: {third: "web*"}\n' });
    expect(ask('-N', '')).toEqual(['third']);
    expect(starts()).toBe(first + 4);
    ask('-N', '');
    expect(starts()).toBe(first + 4);
    await change({ 'tsalt.yaml': 'cachedir: cache\nnodegroups: {webs: "web*", dbs: "db*"}\n' });
  });

  test('is private, and holds no secret', () => {
    answer('w');
    const names = readdirSync(folder());
    expect(names.length).toBeGreaterThan(0);
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
    for (const name of names) {
      expect(statSync(join(folder(), name)).mode & 0o777).toBe(0o600);
      expect(readFileSync(join(folder(), name), 'utf8')).not.toContain('s3cret');
    }
  });

  test('is made without running a program of the project', async () => {
    const mark = join(project.dir, 'home/ran');
    project.write({
      'programs/tsalt.yaml': 'cachedir: ../cache\nrosters: [r.sh, r.ts, flat.yaml]\n',
      'programs/r.sh': `#!/bin/sh\ntouch '${mark}'\necho '{}'\n`,
      'programs/r.ts': `import { writeFileSync } from 'node:fs';\nwriteFileSync('${mark}', '');\nexport default {};\n`,
      'programs/flat.yaml': `#!ts\nimport { writeFileSync } from 'node:fs';\nwriteFileSync('${mark}', '');\nexport default {};\n`,
    });
    chmodSync(join(project.dir, 'programs/r.sh'), 0o755);
    expect(values('-c', 'programs', '--nodeg')).toEqual(['--nodegroup']);
    expect(values('-c', 'programs', 'wa')).toEqual(['watch']);
    expect(existsSync(mark)).toBe(false);
  });

  test('is made where the configuration is broken', async () => {
    project.write({ 'broken/tsalt.yaml': 'a: [\n' });
    expect(values('-c', 'broken', '--nodeg')).toEqual(['--nodegroup']);
    expect(values('-c', 'broken', 'comp')).toEqual(['completion']);
  });
});

test('completion prints its script where the configuration is broken', async () => {
  project.write({ 'broken/tsalt.yaml': 'a: [\n' });
  const { code, stdout } = await project.run('-c', 'broken', 'completion', 'bash');
  expect(code).toBe(0);
  expect(stdout).toContain('complete -F _tsalt_ssh tsalt-ssh');
});

test('completion names its shells when it does not know one', async () => {
  const { code, stderr } = await project.run('completion', 'tcsh');
  expect(code).toBe(64);
  expect(stderr).toContain('tsalt-ssh completion bash|zsh|fish');
});

const shells = {
  bash: ['bash', '--rcfile', 'home/bashrc', '-i'],
  zsh: ['zsh', '-i'],
  fish: ['fish', '-i'],
};

describe.each(Object.entries(shells))('%s', (shell, command) => {
  const missing = !hasTmux || !hasProgram(shell);

  /** Types a line, presses Tab, and waits until the screen shows what is expected. */
  const completes = async (tmux: Tmux, line: string, expected: RegExp): Promise<void> => {
    tmux.type(line);
    tmux.press('Tab');
    await tmux.shows(expected);
    tmux.press('C-u');
    await tmux.shows(/^\$$/m);
    tmux.press('C-l');
  };

  test.skipIf(missing)(`completes command lines`, { tags: 'slow' }, async () => {
    answer('w');
    const tmux = startTmux(command, { cwd: project.dir, env });
    try {
      await tmux.shows(/^\$/m);
      await completes(tmux, 'tsalt-ssh db', /tsalt-ssh db1$/m);
      await completes(tmux, "tsalt-ssh 'db", /tsalt-ssh 'db1/);
      await completes(tmux, "tsalt-ssh 'web*' test.pin", /test\.ping/);
      await completes(tmux, 'tsalt-ssh web1 state.apply ng', /state\.apply nginx/);
      await completes(tmux, 'tsalt-ssh web1 state.apply test=T', /test=True/);
      await completes(tmux, 'tsalt-ssh --out=js', /--out=json/);
      await completes(tmux, 'tsalt-ssh -L web1,d', /-L web1,db1/);
      await completes(tmux, 'tsalt-ssh -N we', /-N webs/);
      await completes(tmux, 'tsalt-ssh -c fold', /-c '?folder(?:\\ | )one/);
      tmux.type('tsalt-ssh --log-');
      tmux.press('Tab');
      // bash lists at the second.
      if (shell === 'bash') tmux.press('Tab');
      await tmux.shows(/--log-file-level.*Level of the log file/);
    } finally {
      tmux.close();
    }
  });
});
