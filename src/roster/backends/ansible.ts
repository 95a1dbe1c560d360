import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { placeOf } from '../../data/read.ts';
import { type Data, type Dict, isDict } from '../../data/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { loadYaml } from '../../yaml/load.ts';
import { parseJson } from '../json.ts';
import { runProgram } from '../program.ts';
import type { Entry, Found } from '../roster.ts';
import { readRoster } from './flat.ts';
import { Inventory, readGroup } from './inventory.ts';
import { parseIni } from './inventory-ini.ts';

/**
 * An Ansible inventory: INI, YAML, JSON or a program (`--list`), with `group_vars` and
 * `host_vars` beside it. Groups become nodegroups; variables that are no connection settings
 * become `minion_opts`, as Salt's `ansible` roster does it.
 */
export const ansible = async (file: string): Promise<Found> => {
  const inventory = await read(file);
  const all = inventory.group('all');
  await readVarFiles(inventory, dirname(file));
  for (const host of inventory.hosts.keys()) all.hosts.add(host);
  const names = [...inventory.hosts.keys()];
  return {
    entries: names.map(name => entryOf(inventory, name, file)),
    groups: new Map([...inventory.groups.keys()].map(name => [name, [...inventory.members(name)]])),
  };
};

const read = async (file: string): Promise<Inventory> => {
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() && (found.mode & 0o111) !== 0) {
    const text = await runProgram({ file, args: ['--list'], source: file });
    return fromData(parseJson(text, file), file);
  }
  const text = await readRoster(file);
  if (/\.json$/.test(file)) return fromData(parseJson(text, file), file);
  return looksLikeYaml(text, file)
    ? fromData(loadYaml(text, { file }), file)
    : parseIni(text, file);
};

const looksLikeYaml = (text: string, file: string): boolean => {
  const first = text.split('\n').find(line => /^\s*[^\s#;]/.test(line)) ?? '';
  return !first.startsWith('[') && (/\.ya?ml$/.test(file) || /^(---|[\w-]+:\s*$)/.test(first));
};

const fromData = (data: Data, file: string): Inventory => {
  if (!isDict(data))
    throw new TsaltError('roster-shape', 'The inventory must be a mapping of groups.', {
      at: { file, line: 1 },
    });
  const inventory = new Inventory();
  const place = (node: object, key: unknown) => placeOf(file, node, key);
  for (const [name, group] of data)
    if (name !== '_meta') readGroup(inventory, String(name), group, place);
  const meta = data.get('_meta') ?? null;
  const hostvars = isDict(meta) ? (meta.get('hostvars') ?? null) : null;
  if (isDict(hostvars))
    for (const [host, vars] of hostvars)
      inventory.addHost(String(host), isDict(vars) ? vars : [], { file });
  return inventory;
};

/** `group_vars/NAME(.yml)`, `host_vars/NAME(.yml)` and folders of that name. */
const readVarFiles = async (inventory: Inventory, dir: string): Promise<void> => {
  for (const name of inventory.groups.keys())
    for (const vars of await varsIn(join(dir, 'group_vars'), name))
      for (const [key, value] of vars) inventory.group(name).vars.set(key, value);
  for (const [name, { at }] of inventory.hosts)
    for (const vars of await varsIn(join(dir, 'host_vars'), name)) {
      const own = new Map(inventory.hosts.get(name)?.vars);
      inventory.addHost(name, [...vars, ...own], at);
    }
};

const varsIn = async (dir: string, name: string): Promise<Dict[]> => {
  if (name.includes('/')) return [];
  const files: string[] = [];
  for (const path of [name, `${name}.yml`, `${name}.yaml`, `${name}.json`].map(n => join(dir, n))) {
    const found = await stat(path).catch(() => undefined);
    if (found?.isFile()) files.push(path);
    if (found?.isDirectory())
      files.push(...(await readdir(path)).sort().map(child => join(path, child)));
  }
  const loaded = await Promise.all(
    files.map(async file => {
      const text = await readRoster(file);
      // A vault is a secret of Ansible's that we have no key for.
      return text.startsWith('$ANSIBLE_VAULT') ? null : loadYaml(text, { file });
    }),
  );
  return loaded.filter(isDict);
};

const plainNames: Readonly<Record<string, string>> = {
  ansible_host: 'host',
  ansible_ssh_host: 'host',
  ansible_port: 'port',
  ansible_ssh_port: 'port',
  ansible_user: 'user',
  ansible_ssh_user: 'user',
  ansible_password: 'passwd',
  ansible_ssh_pass: 'passwd',
  ansible_ssh_password: 'passwd',
  ansible_private_key_file: 'priv',
  ansible_ssh_private_key_file: 'priv',
  ansible_become_user: 'sudo_user',
  ansible_sudo_user: 'sudo_user',
  ansible_become_pass: 'sudo_passwd',
  ansible_become_password: 'sudo_passwd',
  ansible_sudo_pass: 'sudo_passwd',
};

const connections: Readonly<Record<string, string>> = {
  local: 'local',
  docker: 'docker',
  podman: 'podman',
  'community.docker.docker': 'docker',
  'containers.podman.podman': 'podman',
};

const entryOf = (inventory: Inventory, id: string, file: string): Entry => {
  const vars = inventory.varsOf(id);
  const value: Dict = new Map([['host', id]]);
  const opts: Dict = new Map();
  for (const [name, item] of vars) {
    const key = plainNames[String(name)];
    if (key !== undefined) value.set(key, item);
    else if (!String(name).startsWith('ansible_') && !controlOnly.includes(String(name)))
      opts.set(name, item);
  }
  const become = vars.get('ansible_become') ?? vars.get('ansible_sudo');
  if (become !== undefined) value.set('sudo', isTrue(become));
  const connection = connections[String(vars.get('ansible_connection'))];
  if (connection === 'local') value.set('transport', 'local');
  else if (connection !== undefined) {
    value.set('transport', 'container');
    value.set('host', `${connection}:${String(value.get('host'))}`);
  }
  const jump = jumpIn([
    vars.get('ansible_ssh_common_args'),
    vars.get('ansible_ssh_extra_args'),
    vars.get('ansible_ssh_args'),
  ]);
  if (jump !== undefined) value.set('proxy_jump', jump);
  if (opts.size > 0) value.set('minion_opts', opts);
  return { id, value, file, at: inventory.hosts.get(id)?.at ?? { file }, outside: true };
};

const controlOnly = ['file_roots', 'pillar_roots', 'ext_pillar', 'fileserver_backend', 'id'];

const isTrue = (value: Data): boolean => /^(true|yes|on|1)$/i.test(String(value));

/** The jump host of ssh arguments like `-J bastion` or `-o ProxyJump=bastion`. */
const jumpIn = (args: readonly (Data | undefined)[]): string | undefined =>
  args
    .map(text => /(?:^|\s)-J\s*(\S+)|ProxyJump[=\s]+["']?([^\s"']+)/.exec(String(text ?? '')))
    .map(match => match?.[1] ?? match?.[2])
    .find(jump => jump !== undefined);
