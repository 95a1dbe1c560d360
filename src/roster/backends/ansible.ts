import type { Data, Dict } from '../../data/values/value.ts';
import type { RosterRequest } from '../load.ts';
import type { BackendHosts, Entry } from '../roster.ts';
import { readSshArguments } from './ansible-ssh-args.ts';
import { isVault, unmarked } from './ansible-values.ts';
import { expand } from './ansible-variables.ts';
import type { Inventory } from './inventory.ts';
import { readInventory } from './inventory-source.ts';
import { hostVariables } from './inventory-variables.ts';

/**
 * An Ansible inventory. Groups become nodegroups; variables that are not connection settings
 * become `minion_opts`, as Salt's `ansible` roster does it.
 */
export const ansible = async (
  source: string,
  { env }: Pick<RosterRequest, 'env'>,
): Promise<BackendHosts> => {
  const inventory = await readInventory(source);
  const all = inventory.group('all');
  for (const host of inventory.hosts.keys()) all.hosts.add(host);
  const names = [...inventory.hosts.keys()];
  const varsOf = hostVariables(inventory);
  return {
    entries: names.map(name =>
      entryOf({ inventory, id: name, vars: varsOf(name), file: source, env }),
    ),
    groups: new Map([...inventory.groups.keys()].map(name => [name, [...inventory.members(name)]])),
  };
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
  ansible_timeout: 'timeout',
  ansible_ssh_timeout: 'timeout',
};

const connections: Readonly<Record<string, string>> = {
  local: 'local',
  docker: 'docker',
  podman: 'podman',
  'community.docker.docker': 'docker',
  'containers.podman.podman': 'podman',
};

type Named = {
  readonly inventory: Inventory;
  readonly id: string;
  readonly vars: Dict;
  readonly file: string;
  readonly env: RosterRequest['env'];
};

const entryOf = ({ inventory, id, vars: written, file, env }: Named): Entry => {
  const at = inventory.hosts.get(id)?.at ?? { file };
  const vars = readable(written);
  const known = new Map([...vars, ['inventory_hostname', id]]);
  const value: Dict = new Map([['host', id]]);
  const opts: Dict = new Map();
  for (const [name, item] of vars) {
    const key = plainNames[String(name)];
    if (key !== undefined)
      value.set(key, numberOf(key, expand(item, String(name), known, env, at)));
    else if (!String(name).startsWith('ansible_') && !controlOnly.includes(String(name)))
      opts.set(name, unmarked(item));
  }
  setBecome(value, vars);
  const connection = connections[String(vars.get('ansible_connection'))];
  if (connection === 'local') value.set('transport', 'local');
  else if (connection !== undefined) {
    value.set('transport', 'container');
    value.set('host', `${connection}:${String(value.get('host'))}`);
  }
  const words = ['ansible_ssh_common_args', 'ansible_ssh_extra_args', 'ansible_ssh_args']
    .map(name => expand(vars.get(name) ?? '', name, known, env, at))
    .map(String);
  const { jump, options } = readSshArguments(words);
  if (jump !== undefined) value.set('proxy_jump', jump);
  if (options.length > 0) value.set('ssh_options', [...options]);
  if (opts.size > 0) value.set('minion_opts', opts);
  return { id, value, file, at, outside: 'inventory' };
};

const readable = (vars: Dict): Dict => new Map([...vars].filter(([, value]) => !isVault(value)));

const numberOf = (key: string, value: Data): Data =>
  key === 'timeout' && /^\d+$/.test(String(value)) ? Number(value) : value;

const setBecome = (value: Dict, vars: Dict): void => {
  const become = vars.get('ansible_become') ?? vars.get('ansible_sudo');
  if (become === undefined) return;
  value.set('sudo', isTrue(become));
  const method = String(vars.get('ansible_become_method') ?? 'sudo').replace(/^.*\./, '');
  if (isTrue(become) && method !== 'sudo') value.set('become', method);
};

const controlOnly = ['file_roots', 'pillar_roots', 'ext_pillar', 'fileserver_backend', 'id'];

const isTrue = (value: Data): boolean => /^(true|yes|on|1)$/i.test(String(value));
