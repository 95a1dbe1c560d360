import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The work that each program has to do. */
export type Workload = {
  readonly name: string;
  readonly hosts: number;
  /** Files per host, made of one template; none is a ping. */
  readonly files: number;
  /** Also a group, a user, lines in a file, commands, a service and a package: 30 states. */
  readonly isMixed?: true;
  /** The files are removed before each run. */
  readonly isNew?: true;
};

export const workloads: readonly Workload[] = [
  { name: 'ping', hosts: 1, files: 0 },
  { name: 'ping100', hosts: 100, files: 0 },
  { name: 'files100', hosts: 1, files: 100 },
  { name: 'files100-new', hosts: 1, files: 100, isNew: true },
  { name: 'files1000', hosts: 1, files: 1000 },
  { name: 'files1000-new', hosts: 1, files: 1000, isNew: true },
  { name: 'fleet20', hosts: 20, files: 10 },
  { name: 'fleet20-new', hosts: 20, files: 10, isNew: true },
  { name: 'mixed', hosts: 1, files: 10, isMixed: true },
];

/** The template, in the Jinja that all programs read. */
export const template = `# {{ node }} file {{ i }} - managed by bench
[service]
name = svc-{{ i }}
listen = 127.0.0.1:{{ 8000 + i }}
log = /var/log/svc-{{ i }}.log
workers = 4
timeout = 30
`;

export const hostName = (number: number): string => `host${number}`;

const contentOf = (node: string, i: number): string =>
  template
    .replaceAll('{{ node }}', node)
    .replaceAll('{{ i }}', String(i))
    .replaceAll('{{ 8000 + i }}', String(8000 + i));

export const folderOf = (target: string, { name }: Workload, number: number): string =>
  join(target, name.replace('-new', ''), hostName(number));

/** The files of one host, with their content. */
const filesOf = (target: string, workload: Workload, number: number): [string, string][] =>
  Array.from({ length: workload.files }, (_, at) => [
    join(folderOf(target, workload, number), `f${at + 1}`),
    contentOf(hostName(number), at + 1),
  ]);

/** Checks that a run did its work; returns a text that changes when a file is written again. */
export const checkFiles = (target: string, workload: Workload): string => {
  const times: number[] = [];
  for (let number = 1; number <= workload.hosts; number += 1)
    for (const [path, content] of filesOf(target, workload, number)) {
      const { mode, mtimeMs } = lstatSync(path);
      if (readFileSync(path, 'utf8').trimEnd() !== content.trimEnd() || (mode & 0o7777) !== 0o644)
        throw new Error(`${path} is not as it should be.`);
      times.push(mtimeMs);
    }
  return times.join();
};

/** The script that the floor runs for one host: rendered before, without dependencies. */
export const floorScript = (target: string, workload: Workload, number: number): string => {
  const folder = folderOf(target, workload, number);
  const put = `const put = (id, changed, result = true) =>
  process.stdout.write(JSON.stringify({ id, result, changed }) + '\\n');
`;
  if (workload.files === 0) return `${put}put('ping', false);\n`;
  return `const fs = require('node:fs');
process.umask(0o022);
${put}fs.mkdirSync(${JSON.stringify(folder)}, { recursive: true });
for (const [path, content] of ${JSON.stringify(filesOf(target, workload, number))}) {
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  const isSame = stat && (stat.mode & 0o7777) === 0o644 && stat.uid === process.getuid() &&
    fs.readFileSync(path, 'utf8') === content;
  if (!isSame) {
    fs.writeFileSync(path + '.new', content, { mode: 0o644 });
    fs.renameSync(path + '.new', path);
  }
  put(path, !isSame);
}
${workload.isMixed ? mixedScript(folder) : ''}`;
};

const mixedScript = (folder: string): string => `
const { spawnSync } = require('node:child_process');
for (const file of ['/etc/group', '/etc/passwd'])
  put(file, false, fs.readFileSync(file, 'utf8').split('\\n').some(line => line.startsWith('www-data:')));
const conf = ${JSON.stringify(join(folder, 'app.conf'))};
for (let i = 1; i <= 10; i++) {
  const line = 'option_' + i + ' = ' + i;
  const isThere = fs.existsSync(conf) && fs.readFileSync(conf, 'utf8').split('\\n').includes(line);
  if (!isThere) fs.appendFileSync(conf, line + '\\n');
  put(line, !isThere);
}
for (let i = 1; i <= 5; i++) {
  const path = ${JSON.stringify(`${folder}/cmd`)} + i;
  const isThere = fs.existsSync(path);
  if (!isThere) spawnSync('/bin/sh', ['-c', 'touch ' + path]);
  put(path, !isThere);
}
put('service', false, spawnSync('/bin/sh', ['-c', 'service dbus status']).status !== 0);
put('package', false, spawnSync('dpkg-query', ['-W', 'openssl']).status === 0);
`;

/** The SLS of a workload. */
export const slsOf = (target: string, workload: Workload): string => {
  const folder = `${join(target, workload.name.replace('-new', ''))}/{{ grains['id'] }}`;
  return `#!jinja|yaml
${folder}:
  file.directory:
    - makedirs: true
{% for i in range(1, ${workload.files + 1}) %}
${folder}/f{{ i }}:
  file.managed:
    - source: salt://file.j2
    - template: jinja
    - mode: '0644'
    - user: root
    - group: root
    - context: { i: {{ i }}, node: {{ grains['id'] }} }
{% endfor %}
${workload.isMixed ? mixedSls(folder) : ''}`;
};

const mixedSls = (folder: string): string => `
www-data-group:
  group.present:
    - name: www-data
www-data-user:
  user.present:
    - name: www-data
    - createhome: false
    - allow_gid_change: false
    - remove_groups: false
{% for i in range(1, 11) %}
line{{ i }}:
  file.append:
    - name: ${folder}/app.conf
    - text: option_{{ i }} = {{ i }}
{% endfor %}
{% for i in range(1, 6) %}
touch ${folder}/cmd{{ i }}:
  cmd.run:
    - creates: ${folder}/cmd{{ i }}
{% endfor %}
dbus:
  service.dead: []
openssl:
  pkg.installed: []
`;

/** The playbook of a workload. */
export const playbookOf = (target: string, workload: Workload): string => {
  const folder = `${join(target, workload.name.replace('-new', ''))}/{{ inventory_hostname }}`;
  const loop = (count: number): string =>
    `\n      loop: "{{ range(1, ${count + 1}) | list }}"\n      loop_control: { loop_var: i }`;
  const tasks = [
    `ansible.builtin.file: { path: "${folder}", state: directory }`,
    `ansible.builtin.template: { src: "{{ playbook_dir }}/file.j2", dest: "${folder}/f{{ i }}", mode: "0644", owner: root, group: root }${loop(workload.files)}`,
  ];
  if (workload.isMixed)
    tasks.push(
      'ansible.builtin.group: { name: www-data, state: present }',
      'ansible.builtin.user: { name: www-data, state: present }',
      `ansible.builtin.lineinfile: { path: "${folder}/app.conf", line: "option_{{ i }} = {{ i }}", create: true, mode: "0644" }${loop(10)}`,
      `ansible.builtin.command: { cmd: "touch ${folder}/cmd{{ i }}", creates: "${folder}/cmd{{ i }}" }${loop(5)}`,
      'ansible.builtin.service: { name: dbus, state: stopped }',
      'ansible.builtin.apt: { name: openssl, state: present }',
    );
  return `- hosts: all
  gather_facts: false
  vars: { node: "{{ inventory_hostname }}" }
  tasks:
${tasks.map(task => `    - ${task}\n`).join('')}`;
};
