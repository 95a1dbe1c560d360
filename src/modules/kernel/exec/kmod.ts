/**
 * Manages kernel modules, now and at boot.
 *
 * @platform linux
 * @depends modprobe, rmmod
 */

import { release } from 'node:os';
import { runChecked } from '../../_shared/commands/run-command.ts';
import { writeAtomic } from '../../_shared/files/atomic-write.ts';
import { makeDirs } from '../../_shared/files/make-dirs.ts';
import { readOr } from '../../_shared/files/read-file.ts';
import { existsSync, readFileSync } from '../../_shared/safe-fs/fs.ts';
import { splitCommandArgs } from '../../_shared/text/command-args.ts';
import { CommandExecutionError } from '../../api.ts';

const systemdFile = '/etc/modules-load.d/salt_managed.conf';

const persistFile = (): string =>
  existsSync('/run/systemd/system') || !existsSync('/etc/modules') ? systemdFile : '/etc/modules';

/**
 * Returns the available kernel modules.
 *
 * @example tsalt-ssh '*' kmod.available
 */
export const available = async (): Promise<string[]> => {
  const dir = `/lib/modules/${release()}`;
  // Modules that did not come with the kernel are listed only in modules.dep.
  const names = ['modules.dep', 'modules.builtin'].flatMap(file =>
    (readOr(`${dir}/${file}`) ?? '').split('\n').map(line => line.split(':')[0] ?? ''),
  );
  return [
    ...new Set(names.filter(Boolean).map(path => nameOf(path.split('/').at(-1) ?? ''))),
  ].sort();
};

/**
 * Whether a kernel module could be loaded.
 *
 * @param mod the module
 *
 * @example tsalt-ssh '*' kmod.check_available kvm
 */
export const check_available = async (mod: string): Promise<boolean> =>
  (await available()).includes(nameOf(mod));

/**
 * Returns the kernel modules that are loaded, or that are loaded at boot.
 *
 * @param only_persist only those that are loaded at boot
 *
 * @example tsalt-ssh '*' kmod.mod_list
 */
export const mod_list = async (only_persist = false): Promise<string[]> => {
  if (only_persist)
    return persisted()
      .filter(line => line !== '' && !line.startsWith('#'))
      .map(nameOf)
      .sort();
  if (!existsSync('/proc/modules')) return [];
  return readFileSync('/proc/modules', 'utf8')
    .split('\n')
    .filter(Boolean)
    .map(line => line.split(' ')[0] ?? '')
    .sort();
};

/**
 * Whether a kernel module is loaded.
 *
 * @param mod the module
 *
 * @example tsalt-ssh '*' kmod.is_loaded kvm
 */
export const is_loaded = async (mod: string): Promise<boolean> =>
  (await mod_list()).includes(nameOf(mod));

/**
 * Loads a kernel module. Returns all modules that were loaded with it.
 *
 * @param mod the module, followed by its parameters: `bonding mode=4`
 * @param persist also at boot
 *
 * @example tsalt-ssh '*' kmod.load kvm
 */
export const load = async (mod: string, persist = false): Promise<string[]> => {
  const before = await mod_list();
  const [name = '', ...settings] = splitCommandArgs(mod);
  await runChecked(['modprobe', plain(name), ...settings], { plainLocale: true });
  const added = (await mod_list()).filter(each => !before.includes(each));
  if (!persist || (await mod_list(true)).includes(nameOf(mod))) return added;
  makeDirs('/etc/modules-load.d');
  const lines = persisted().filter((line, at, all) => line !== '' || at < all.length - 1);
  const off = lines.findIndex(line => line.replace(/^#\s*/, '').trim() === mod);
  const kept = off < 0 ? [...lines, mod] : lines.with(off, mod);
  writeAtomic(persistFile(), `${kept.join('\n')}\n`);
  return [...new Set([...added, name])];
};

/**
 * Removes a kernel module, but not the modules it depends on. Returns the removed modules.
 *
 * @param mod the module
 * @param persist also at boot
 * @param comment comment it out in the file for boot, do not remove it
 *
 * @example tsalt-ssh '*' kmod.remove kvm
 */
export const remove = async (mod: string, persist = false, comment = true): Promise<string[]> => {
  const before = await mod_list();
  if (before.includes(nameOf(mod))) await runChecked(['rmmod', plain(mod)], { plainLocale: true });
  const after = await mod_list();
  const removed = before.filter(each => !after.includes(each));
  if (!persist || !(await mod_list(true)).includes(nameOf(mod))) return removed;
  const lines = persisted().flatMap(line =>
    nameOf(line.trim()) !== nameOf(mod) ? [line] : comment ? [`#${line}`] : [],
  );
  writeAtomic(persistFile(), lines.join('\n'));
  return [...new Set([...removed, mod])];
};

const persisted = (): string[] =>
  existsSync(persistFile()) ? readFileSync(persistFile(), 'utf8').split('\n') : [];

const nameOf = (text: string): string =>
  (text.split(/\s/)[0] ?? '').replace(/\.ko(\.\w+)?$/, '').replaceAll('-', '_');

const plain = (mod: string): string => {
  if (!/^\w[\w-]*$/.test(mod))
    throw new CommandExecutionError(`${mod} is not a valid name of a kernel module`);
  return mod;
};

/**
 * Returns the kernel modules that are loaded: `module`, `size`, `depcount` and `deps` (the modules
 * that use it).
 *
 * @example tsalt-ssh '*' kmod.lsmod
 */
export const lsmod = async (): Promise<
  { module: string; size: string; depcount: string; deps: string[] }[]
> =>
  (readOr('/proc/modules') ?? '')
    .split('\n')
    .filter(Boolean)
    .map(line => {
      const [module = '', size = '', depcount = '', deps = '-'] = line.split(' ');
      return { module, size, depcount, deps: deps === '-' ? [] : deps.split(',').filter(Boolean) };
    });
