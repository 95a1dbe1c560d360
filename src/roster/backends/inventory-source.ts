import type { Stats } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { keyLocation } from '../../data/values/read.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { checkTrusted } from '../../trust/check.ts';
import { loadYaml } from '../../yaml/load.ts';
import { parseRosterJson } from '../json.ts';
import { runRosterProgram } from '../program.ts';
import { ansibleTags } from './ansible-values.ts';
import { readRosterFile } from './flat.ts';
import { Inventory, readGroup } from './inventory.ts';
import { parseIniInventory } from './inventory-ini.ts';

/**
 * Reads an inventory: INI, YAML, JSON, a program, the configuration of an inventory plugin (by
 * way of `ansible-inventory`), or a folder of these; with `group_vars` and `host_vars` beside it.
 */
export const readInventory = async (source: string): Promise<Inventory> => {
  const inventory = new Inventory();
  inventory.group('all');
  const found = await stat(source).catch(() => undefined);
  await read(inventory, source, found);
  await readVarFiles(inventory, found?.isDirectory() ? source : dirname(source));
  return inventory;
};

const read = async (
  inventory: Inventory,
  source: string,
  found: Stats | undefined,
): Promise<void> => {
  if (found?.isDirectory()) await readFolder(inventory, source);
  else if (found?.isFile() && (found.mode & 0o111) !== 0) await readProgram(inventory, source);
  else await readText(inventory, source);
};

/** Names that Ansible ignores in a folder of inventories. */
const ignored = /^\.|~$|\.(pyc|pyo|swp|bak|rpm|md|txt|rst|orig|ini|cfg|retry)$|^(group|host)_vars$/;

const readFolder = async (inventory: Inventory, folder: string): Promise<void> => {
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    if (!ignored.test(name)) await read(inventory, path, await stat(path).catch(() => undefined));
  }
};

/** Calls a program without `_meta` once for each host. */
const readProgram = async (inventory: Inventory, file: string): Promise<void> => {
  checkTrusted(file, 'The inventory program');
  const ask = async (...args: string[]): Promise<Data> =>
    parseRosterJson(await runRosterProgram({ file, args, source: file }), file);
  const data = await ask('--list');
  fromData(inventory, data, file);
  if (isDict(data) && data.has('_meta')) return;
  const own = new Inventory();
  fromData(own, data, file);
  for (const name of own.hosts.keys()) {
    const vars = await ask('--host', name);
    if (isDict(vars)) inventory.addHost(name, vars, { file });
  }
};

const readText = async (inventory: Inventory, file: string): Promise<void> => {
  const text = await readRosterFile(file);
  if (/\.json$/.test(file)) fromData(inventory, parseRosterJson(text, file), file);
  else if (!looksLikeYaml(text, file)) parseIniInventory(text, file, inventory);
  else {
    const data = loadYaml(text, { file, tags: ansibleTags });
    if (isDict(data) && typeof data.get('plugin') === 'string') {
      const answer = await fromPlugin(file, String(data.get('plugin')));
      fromData(inventory, parseRosterJson(answer, file), file);
    } else fromData(inventory, data, file);
  }
};

const fromPlugin = async (file: string, plugin: string): Promise<string> => {
  try {
    const args = ['-i', file, '--list'];
    // Otherwise an unreadable inventory would cause only a warning, and no hosts.
    const env = { ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'true' };
    return await runRosterProgram({ file: 'ansible-inventory', args, source: file, env });
  } catch (cause) {
    const reason = messageOf(cause);
    throw new TsaltError(
      'roster-program',
      `The inventory plugin '${plugin}' cannot be asked: ${reason}`,
      { at: { file }, hint: 'Its configuration is read by ansible-inventory, which must be here.' },
    );
  }
};

const looksLikeYaml = (text: string, file: string): boolean => {
  const first = text.split('\n').find(line => /^\s*[^\s#;]/.test(line)) ?? '';
  return !first.startsWith('[') && (/\.ya?ml$/.test(file) || /^(---|[\w-]+:\s*$)/.test(first));
};

const fromData = (inventory: Inventory, data: Data, file: string): void => {
  if (!isDict(data))
    throw new TsaltError('roster-shape', 'The inventory must be a mapping of groups.', {
      at: { file, line: 1 },
    });
  const place = (node: object, key: unknown) => keyLocation(file, node, key);
  for (const [name, group] of data)
    if (name !== '_meta') readGroup(inventory, String(name), group, place);
  const meta = data.get('_meta') ?? null;
  const hostvars = isDict(meta) ? (meta.get('hostvars') ?? null) : null;
  if (isDict(hostvars))
    for (const [host, vars] of hostvars)
      inventory.addHost(String(host), isDict(vars) ? vars : [], { file });
};

/** `group_vars/NAME(.yml)`, `host_vars/NAME(.yml)` and folders of that name. */
const readVarFiles = async (inventory: Inventory, dir: string): Promise<void> => {
  for (const name of inventory.groups.keys())
    for (const vars of await varsIn(join(dir, 'group_vars'), name))
      for (const [key, value] of vars) inventory.group(name).fileVars.set(key, value);
  for (const [name, { at }] of inventory.hosts)
    for (const vars of await varsIn(join(dir, 'host_vars'), name))
      inventory.addHost(name, vars, at);
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
      const text = await readRosterFile(file);
      // A vault is encrypted by Ansible, and we have no key for it.
      return text.startsWith('$ANSIBLE_VAULT') ? null : loadYaml(text, { file, tags: ansibleTags });
    }),
  );
  return loaded.filter(isDict);
};
