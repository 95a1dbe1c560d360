import { getOwn } from '../../protocol/plain.ts';
import { toList } from '../_shared/states/values.ts';
import { __env__, CommandExecutionError, type Plain } from '../api.ts';
import { localPackage } from './package-file.ts';
import {
  actions,
  type InstallAction,
  installedBy,
  isGood,
  type Manager,
  type ManagerOptions,
  refreshWith,
  runManager,
  upgradeWith,
} from './package-manager.ts';
import {
  forgetPackages,
  fulfills,
  type PackageChanges,
  PackageError,
  type PackageList,
  packageChanges,
  packageSources,
  targetsOf,
} from './packages.ts';

/** A package and its argument on the command line. */
type Due = { readonly name: string; readonly word: string };

/** `pkg.install` for any manager. */
export const installWith = async (
  manager: Manager,
  name: string | null,
  options: ManagerOptions,
): Promise<PackageChanges> => {
  if (options.advisory_ids) return installAdvisories(manager, options);
  const { root = null } = options;
  const before = await installedBy(manager, root);
  const errors: string[] = [];
  if (options.refresh) await refreshWith(manager, options);
  const due = await dueFor(manager, name, options, before, errors);
  const again = due.reinstall.map(one => one.name);
  const held = await takeHolds(manager, due, options, errors);
  for (const action of actions) {
    const words = due[action].filter(one => !held.kept.includes(one.name)).map(one => one.word);
    if (words.length === 0) continue;
    const argv = manager.install(action, words, options);
    const { code, stdout, stderr } = await runManager(argv, manager.locked, options.env);
    if (!isGood(manager, code))
      errors.push(stderr.trim() || stdout.trim().split('\n').slice(-5).join('\n'));
  }
  forgetPackages();
  if (held.lifted.length > 0) await manager.holds?.change(held.lifted, true);
  const after = await installedBy(manager, root);
  const changes = packageChanges(before, after);
  for (const one of again)
    changes[one] ??= {
      old: getOwn(before, one)?.join(',') ?? '',
      new: getOwn(after, one)?.join(',') ?? '',
    };
  if (errors.length > 0)
    throw new PackageError('Problem encountered installing package(s)', errors, changes);
  return changes;
};

const dueFor = async (
  manager: Manager,
  name: string | null,
  options: ManagerOptions,
  before: PackageList,
  errors: string[],
): Promise<Record<InstallAction, Due[]>> => {
  const due: Record<InstallAction, Due[]> = {
    install: [],
    upgrade: [],
    downgrade: [],
    reinstall: [],
  };
  if (options.sources) {
    for (const [one, source] of packageSources(options.sources)) {
      const file = await localPackage(one, source, String(options.saltenv ?? __env__));
      due.install.push({ name: one, word: file });
    }
    return due;
  }
  for (const [one, condition] of targetsOf(name, options.pkgs, options.version as Plain)) {
    const have = getOwn(before, one) ?? [];
    const version = await pickVersion(manager, one, condition, options, errors);
    if (version === undefined) continue;
    const action = actionFor(manager, one, have, version, options.reinstall === true);
    due[action].push({ name: one, word: manager.word(one, version) });
  }
  return due;
};

/** Handles held packages among those to be installed: skips them, or unholds them meanwhile. */
const takeHolds = async (
  { holds }: Manager,
  due: Record<InstallAction, Due[]>,
  { update_holds = false }: ManagerOptions,
  errors: string[],
): Promise<{ kept: readonly string[]; lifted: readonly string[] }> => {
  const locked = (await holds?.list()) ?? [];
  const names = actions.flatMap(action => due[action]).map(one => one.name);
  const held = names.filter(one => locked.includes(one));
  if (!holds || held.length === 0) return { kept: [], lifted: [] };
  if (update_holds) {
    const failed = await holds.change(held, false);
    errors.push(...failed);
    return { kept: failed, lifted: held.filter(one => !failed.includes(one)) };
  }
  errors.push(
    `The following package(s) could not be updated because they are being held: ${held.join(', ')}. Set 'update_holds' to True to temporarily unhold these packages so that they can be updated.`,
  );
  return { kept: held, lifted: [] };
};

const installAdvisories = async (
  manager: Manager,
  options: ManagerOptions,
): Promise<PackageChanges> => {
  if (!manager.installAdvisories)
    throw new CommandExecutionError('This package manager knows no advisories.');
  if (options.refresh) await refreshWith(manager, options);
  const ids = toList(options.advisory_ids);
  const known = await manager.advisories?.(options);
  const unknown = known && ids.find(id => !known.includes(id));
  if (unknown !== undefined) throw new CommandExecutionError(`Advisory id "${unknown}" not found`);
  return upgradeWith(manager, manager.installAdvisories(ids, options), options);
};

const pickVersion = async (
  { versions, compare }: Manager,
  name: string,
  condition: string | null,
  options: ManagerOptions,
  errors: string[],
): Promise<string | null | undefined> => {
  if (condition === null || condition === 'latest') return null;
  if (!/[<>!*]/.test(condition)) return condition.replace(/^=+/, '');
  const known = (await versions?.(name, options)) ?? [];
  const found = known
    .toSorted((left, right) => compare(right, left))
    .find(one => fulfills([one], condition, compare));
  if (found === undefined)
    errors.push(
      `No version matching '${name}${condition}' could be found (available: ${known.join(', ') || 'None'})`,
    );
  return found;
};

const actionFor = (
  { compare, installsOnly, sideBySide }: Manager,
  name: string,
  have: readonly string[],
  version: string | null,
  reinstall: boolean,
): InstallAction => {
  if (have.length === 0) return 'install';
  if (version === null) return reinstall ? 'reinstall' : installsOnly ? 'upgrade' : 'install';
  const order = Math.max(...have.map(one => compare(version, one)));
  if (order < 0) return sideBySide?.test(name) ? 'install' : 'downgrade';
  return order === 0 && reinstall ? 'reinstall' : 'install';
};
