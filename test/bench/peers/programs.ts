import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../helpers/cli.ts';
import type { Bed } from '../project.ts';
import { floorScript, hostName, playbookOf, slsOf, template, type Workload } from './workloads.ts';

/** A program that is measured: how it is called for a workload, through a port. */
export type Program = {
  readonly name: string;
  readonly command: (workload: Workload, port: number) => Command;
  /** Ends what it leaves running between runs. */
  readonly reset?: () => void;
};

export type Command = {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
};

const atOnce = 20;

/** The floor, this program, and the peers that are installed. */
export const programsOn = (bed: Bed): Program[] => [
  floor(bed),
  tsalt(bed),
  ...(isInstalled('ansible-playbook', '--version') ? [ansible(bed, 'ansible', {})] : []),
  ...(isInstalled('/usr/bin/python3', '-c', 'import ansible_mitogen')
    ? [ansible(bed, 'mitogen', { ANSIBLE_STRATEGY: 'mitogen_linear' })]
    : []),
];

const isInstalled = (command: string, ...args: string[]): boolean =>
  spawnSync(command, args, { stdio: 'ignore' }).status === 0;

/** Writes a file the first time; its folder is made. */
const write = (folder: string, name: string, text: string): string => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, name);
  if (!existsSync(file)) writeFileSync(file, text);
  return file;
};

const numbersOf = ({ hosts }: Workload): number[] =>
  Array.from({ length: hosts }, (_, at) => at + 1);

const targetOf = ({ dir }: Bed): string => join(dir, 'target');

const floor = (bed: Bed): Program => ({
  name: 'floor (ssh2)',
  command: (workload, port) => {
    const folder = join(bed.dir, 'floor', workload.name);
    for (const number of numbersOf(workload))
      write(folder, `${number}.cjs`, floorScript(targetOf(bed), workload, number));
    return {
      argv: [process.execPath, join(packageRoot, 'test/bench/floor.mjs')],
      cwd: folder,
      env: {
        PORT: String(port),
        KEY: bed.sshd.key,
        LOGIN: bed.sshd.user,
        SCRIPT: join(folder, '%.cjs'),
        HOSTS: String(workload.hosts),
        AT_ONCE: String(atOnce),
      },
    };
  },
});

const tsalt = (bed: Bed): Program => ({
  name: 'tsalt-ssh',
  command: (workload, port) => {
    const { cwd, env, roster, dist } = tsaltProject(bed, workload, port);
    const call = workload.files === 0 ? ['test.ping'] : ['state.apply', workload.name];
    return {
      argv: [
        ...[process.execPath, join(dist, 'tsalt-ssh.cjs'), '--roster-file', roster],
        ...['*', ...call, `--max-procs=${atOnce}`, '--out=quiet'],
      ],
      cwd,
      env,
    };
  },
});

/** A project with the hosts and the SLS of a workload, and the folder of the built program. */
export const tsaltProject = (
  bed: Bed,
  workload: Workload,
  port: number,
): Omit<Command, 'argv'> & { readonly roster: string; readonly dist: string } => {
  const { dir, sshd } = bed;
  const cwd = join(dir, 'tsalt', String(port));
  write(cwd, 'known_hosts', `[127.0.0.1]:${port} ${sshd.hostKeys[0]}\n`);
  write(cwd, 'tsalt.yaml', `known_hosts_file: known_hosts\ncachedir: ${join(dir, 'cache')}\n`);
  const entry = `host: 127.0.0.1, port: ${port}, user: ${sshd.user}, priv: ${sshd.key}, timeout: 60`;
  const roster = write(
    cwd,
    `roster-${workload.name}.yaml`,
    numbersOf(workload)
      .map(number => `${hostName(number)}: {${entry}${workspaceOf(bed, workload, number)}}\n`)
      .join(''),
  );
  const states = join(cwd, 'states');
  write(states, 'file.j2', template);
  write(states, `${workload.name}.sls`, slsOf(targetOf(bed), workload));
  return { cwd, env: { XDG_CACHE_HOME: join(dir, 'xdg') }, roster, dist: installed(bed) };
};

/**
 * The program as it is installed: in a clone, a run also looks whether one of the thousand sources of
 * the built-in modules has changed.
 */
const installed = ({ dir }: Bed): string => {
  const folder = join(dir, 'package');
  if (!existsSync(folder)) {
    cpSync(join(packageRoot, 'dist'), join(folder, 'dist'), { recursive: true });
    for (const name of ['node_modules', 'package.json'])
      symlinkSync(join(packageRoot, name), join(folder, name));
  }
  return join(folder, 'dist');
};

/**
 * A workspace of its own for each host of a run of states: one machine runs them one after the other,
 * twenty machines do not.
 */
const workspaceOf = ({ dir }: Bed, { hosts, files }: Workload, number: number): string =>
  hosts > 1 && files > 0 ? `, thin_dir: ${join(dir, 'workspaces', hostName(number))}` : '';

/** Ansible, without gathering facts and with its interpreter given: both save it time. */
const ansible = (bed: Bed, name: string, settings: Readonly<Record<string, string>>): Program => {
  const { dir, home, sshd } = bed;
  const sockets = join(dir, 'cp');
  return {
    name,
    command: (workload, port) => {
      const folder = join(dir, 'ansible', String(port));
      const known = write(folder, 'known_hosts', `[127.0.0.1]:${port} ${sshd.hostKeys[0]}\n`);
      const host = `ansible_host=127.0.0.1 ansible_port=${port} ansible_user=${sshd.user} ansible_ssh_private_key_file=${sshd.key}`;
      const inventory = write(
        folder,
        `hosts-${workload.hosts}.ini`,
        numbersOf(workload)
          .map(number => `${hostName(number)} ${host}\n`)
          .join(''),
      );
      write(folder, 'file.j2', template.replace('8000 + i', '8000 + i | int'));
      const playbook = write(folder, `${workload.name}.yml`, playbookOf(targetOf(bed), workload));
      const shared = [
        ...['-i', inventory, '-f', String(atOnce)],
        ...['-e', 'ansible_python_interpreter=/usr/bin/python3'],
        `--ssh-common-args=-F /dev/null -o UserKnownHostsFile=${known} -o IdentitiesOnly=yes`,
      ];
      return {
        argv:
          workload.files === 0
            ? ['ansible', 'all', ...shared, '-m', 'ansible.builtin.ping']
            : ['ansible-playbook', ...shared, playbook],
        cwd: folder,
        env: {
          HOME: home,
          ANSIBLE_PIPELINING: 'True',
          ANSIBLE_SSH_CONTROL_PATH_DIR: sockets,
          ANSIBLE_CONFIG: write(folder, 'ansible.cfg', ''),
          ...settings,
        },
      };
    },
    // Connections that ControlPersist keeps: every run starts without any.
    reset: () => {
      spawnSync('/bin/sh', [
        '-c',
        `for s in "$1"/*; do [ ! -S "$s" ] || ssh -F /dev/null -o ControlPath="$s" -O exit x; done`,
        'sh',
        sockets,
      ]);
    },
  };
};
