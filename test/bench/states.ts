import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../helpers/cli.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { type Sshd, startSshd } from '../helpers/sshd.ts';
import { median, type Row, tableOf, timeProcess } from './measure.ts';

const fileCount = 1000;
/** Ansible looks at each file by a process of its own: fewer of them say what one costs. */
const ansibleFileCount = 10;
const packageCount = 30;

const has = (program: string): boolean => spawnSync('which', [program]).status === 0;

/**
 * A process namespace for sshd: what is started in it can be counted, and nothing else runs there.
 * Without the right to make one the column stays empty.
 */
const namespaced = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const canCount =
  process.getuid?.() === 0 && spawnSync('unshare', [...namespaced.slice(1), 'true']).status === 0;

/** 1,000 managed files and 30 packages that are there, per state, against Ansible on the same sshd. */
export const benchStates = async (): Promise<{ table: string; rows: readonly Row[] }> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-states-'));
  const home = join(dir, 'home');
  mkdirSync(home);
  delete process.env.NODE_EXTRA_CA_CERTS; // reading it is Node's start, not what is compared
  const sshd = await startSshd({
    dir: join(dir, 'sshd'),
    config: [`SetEnv HOME=${home} BASH_ENV=`],
    under: canCount ? namespaced : [],
  });
  try {
    return await measure(dir, sshd);
  } finally {
    const closed = sshd.close();
    // unshare takes no SIGTERM while it waits for what it started.
    if (canCount) process.kill(inner(sshd));
    await closed;
    removeFolder(dir);
  }
};

const installed = (): string[] =>
  has('dpkg-query')
    ? execFileSync('dpkg-query', ['-W', '-f', '${db:Status-Abbrev} ${Package}\n'], {
        encoding: 'utf8',
      })
        .split('\n')
        .filter(line => line.startsWith('ii '))
        .map(line => line.slice(3).trim())
        .filter(name => name !== '')
        .slice(0, packageCount)
    : [];

const measure = async (
  dir: string,
  sshd: Sshd,
): Promise<{ table: string; rows: readonly Row[] }> => {
  const target = join(dir, 'target');
  const packages = installed();
  const project = makeProject(dir, sshd, target, packages);
  const tsalt = (sls: string, ...more: string[]) =>
    timeProcess(
      [
        process.execPath,
        join(packageRoot, 'dist/tsalt-ssh.cjs'),
        'web1',
        'state.apply',
        sls,
        '--out=quiet',
        ...more,
      ],
      { XDG_CACHE_HOME: join(dir, 'xdg') },
      project,
    );
  const rows: Row[] = [];
  const add = async (
    name: string,
    states: number,
    runs: number,
    work: () => Promise<number>,
    before: () => void = () => undefined,
  ): Promise<number> => {
    const times: number[] = [];
    let started = 0;
    for (let run = 0; run < runs; run += 1) {
      before();
      const last = lastPid(sshd);
      times.push(await work());
      started = (lastPid(sshd) ?? 0) - (last ?? 0) - 1;
    }
    const each = median(times) / states;
    rows.push({
      name,
      states,
      'median ms': Math.round(median(times)),
      'ms/state': each.toFixed(2),
      'processes and threads': canCount ? started : '',
    });
    return each;
  };
  const forget = (): void => removeFolder(join(dir, 'home/.cache'));
  const change = (): void => writeFileSync(join(target, 'f7'), 'edited by hand\n');

  await add(`tsalt-ssh ${fileCount} files, new host`, fileCount, 1, () => tsalt('files'), forget);
  const file = await add(`tsalt-ssh ${fileCount} files, no change`, fileCount, 3, () =>
    tsalt('files'),
  );
  await add(
    `tsalt-ssh ${fileCount} files, one changed`,
    fileCount,
    3,
    () => tsalt('files'),
    change,
  );
  if (readFileSync(join(target, 'f7'), 'utf8') !== content(7))
    throw new Error('f7 was not put right');
  await add(
    `tsalt-ssh ${fileCount} files, no change, cold`,
    fileCount,
    1,
    () => tsalt('files'),
    forget,
  );
  const pkg =
    packages.length > 0
      ? await add(`tsalt-ssh ${packages.length} packages`, packages.length, 3, () =>
          tsalt('packages'),
        )
      : Number.NaN;
  const ratios = await ansible({ dir, sshd, target, packages, add, file, pkg });
  return { table: `${tableOf(rows)}\n${ratios}`, rows };
};

type Against = {
  dir: string;
  sshd: Sshd;
  target: string;
  packages: readonly string[];
  add: (name: string, states: number, runs: number, work: () => Promise<number>) => Promise<number>;
  file: number;
  pkg: number;
};

const ansible = async ({
  dir,
  sshd,
  target,
  packages,
  add,
  file,
  pkg,
}: Against): Promise<string> => {
  if (!has('ansible-playbook')) return 'Ansible is not installed: nothing to compare with.';
  const folder = makePlaybooks(dir, sshd, target, packages);
  const play = (name: string) => () =>
    timeToExit(['ansible-playbook', '-i', 'hosts', `${name}.yml`], folder, {
      ANSIBLE_CONFIG: join(folder, 'ansible.cfg'),
      HOME: join(dir, 'home'),
    });
  await play('ping')(); // opens the connection that the next runs share
  const theirFile = await add(
    `ansible ${ansibleFileCount} files, no change`,
    ansibleFileCount,
    1,
    play('files'),
  );
  const lines = [
    `a file: Ansible takes ${(theirFile / file).toFixed(0)} times as long as tsalt-ssh`,
  ];
  if (packages.length > 0) {
    const theirs = await add(
      `ansible ${packages.length} packages`,
      packages.length,
      1,
      play('packages'),
    );
    lines.push(`a package: Ansible takes ${(theirs / pkg).toFixed(1)} times as long as tsalt-ssh`);
  }
  return lines.join('\n');
};

/** Until the process itself ends: the shared connection that ssh leaves behind holds its pipes. */
const timeToExit = (
  [command = '', ...args]: readonly string[],
  cwd: string,
  env: Record<string, string>,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const begin = performance.now();
    const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: 'ignore' });
    child.on('error', reject);
    child.on('exit', code =>
      code === 0
        ? resolve(performance.now() - begin)
        : reject(new Error(`${command} ${args.join(' ')} ended with ${code}`)),
    );
  });

/** sshd itself, below unshare. */
const inner = ({ pid }: Sshd): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

/** The number of the last task that was started beside sshd; asking for it starts one. */
const lastPid = (sshd: Sshd): number | undefined => {
  if (!canCount) return undefined;
  const told = execFileSync(
    'nsenter',
    ['--target', String(inner(sshd)), '--pid', '--mount', 'cat', '/proc/sys/kernel/ns_last_pid'],
    { encoding: 'utf8' },
  );
  return Number(told);
};

const content = (index: number): string =>
  `# file ${index}\nname = svc-${index}\nlisten = 127.0.0.1:${8000 + index}\n`;

const makeProject = (
  dir: string,
  sshd: Sshd,
  target: string,
  packages: readonly string[],
): string => {
  const folder = join(dir, 'project');
  mkdirSync(join(folder, 'states'), { recursive: true });
  writeFileSync(
    join(folder, 'states/files.sls'),
    `${target}:\n  file.directory:\n    - makedirs: true\n{% for i in (1..${fileCount}) %}\n${target}/f{{ i }}:\n  file.managed:\n    - source: salt://file.liquid\n    - template: liquid\n    - mode: '0644'\n    - context: { i: {{ i }} }\n{% endfor %}\n`,
  );
  writeFileSync(
    join(folder, 'states/file.liquid'),
    '# file {{ i }}\nname = svc-{{ i }}\nlisten = 127.0.0.1:{{ i | plus: 8000 }}\n',
  );
  writeFileSync(
    join(folder, 'states/packages.sls'),
    packages.map(name => `${name}:\n  pkg.installed\n`).join(''),
  );
  writeFileSync(join(folder, 'known_hosts'), `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`);
  writeFileSync(
    join(folder, 'tsalt.yaml'),
    `known_hosts_file: known_hosts\ncachedir: ${join(dir, 'cache')}\n`,
  );
  writeFileSync(
    join(folder, 'roster.yaml'),
    `web1:\n  host: 127.0.0.1\n  port: ${sshd.port}\n  user: ${sshd.user}\n  priv: ${sshd.key}\n`,
  );
  return folder;
};

const makePlaybooks = (
  dir: string,
  sshd: Sshd,
  target: string,
  packages: readonly string[],
): string => {
  const folder = join(dir, 'ansible');
  mkdirSync(folder);
  if (readdirSync(target).length < ansibleFileCount) throw new Error('the files are not there');
  writeFileSync(
    join(folder, 'ansible.cfg'),
    `[defaults]\nhost_key_checking = False\ngathering = explicit\nlocal_tmp = ${join(dir, 'tmp')}\n[ssh_connection]\npipelining = True\nssh_args = -o ControlMaster=auto -o ControlPersist=5s -o ControlPath=${join(dir, 'cm')} -o UserKnownHostsFile=/dev/null\n`,
  );
  writeFileSync(
    join(folder, 'hosts'),
    `web1 ansible_host=127.0.0.1 ansible_port=${sshd.port} ansible_user=${sshd.user} ansible_ssh_private_key_file=${sshd.key} ansible_python_interpreter=/usr/bin/python3\n`,
  );
  writeFileSync(
    join(folder, 'file.j2'),
    '# file {{ item }}\nname = svc-{{ item }}\nlisten = 127.0.0.1:{{ 8000 + item }}\n',
  );
  writeFileSync(
    join(folder, 'files.yml'),
    `- hosts: web1\n  gather_facts: false\n  tasks:\n    - ansible.builtin.template: { src: file.j2, dest: "${target}/f{{ item }}", mode: '0644' }\n      loop: "{{ range(1, ${ansibleFileCount + 1}) | list }}"\n`,
  );
  writeFileSync(
    join(folder, 'ping.yml'),
    '- hosts: web1\n  gather_facts: false\n  tasks:\n    - ansible.builtin.ping:\n',
  );
  writeFileSync(
    join(folder, 'packages.yml'),
    `- hosts: web1\n  gather_facts: false\n  tasks:\n    - ansible.builtin.apt: { name: ${JSON.stringify(packages)}, state: present }\n`,
  );
  return folder;
};
