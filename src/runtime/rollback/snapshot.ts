import { homedir } from 'node:os';
import { join } from 'node:path';
import { readAccounts } from '../../modules/_shared/commands/accounts.ts';
import { hasFunction, salt } from '../../modules/_shared/states/call.ts';
import { messageOf } from '../../protocol/error.ts';
import { isPlainDict } from '../../protocol/plain.ts';
import type { RollbackParams, RollbackResult } from '../../protocol/rollback.ts';
import { type AccountsSnapshot, restoreAccounts, snapshotAccounts } from './accounts.ts';
import { type FilesSnapshot, restoreFiles, snapshotFiles } from './files.ts';
import { type NetworkSnapshot, restoreNetwork, snapshotNetwork } from './network.ts';
import type { RestoreResult } from './restore.ts';
import {
  restoreServices,
  type ServicesSnapshot,
  serviceFolders,
  snapshotServices,
} from './services.ts';

/**
 * All that a guarded run can roll back. It stays in memory, since it contains keys and passwords.
 */
export type RollbackSnapshot = {
  readonly files: FilesSnapshot;
  readonly accounts: AccountsSnapshot;
  readonly services: ServicesSnapshot;
  readonly network: NetworkSnapshot;
};

/** Files that decide whether a user can log in, besides the folders of services. */
const usualPaths = [
  '/etc/hosts',
  '/etc/hosts.allow',
  '/etc/hosts.deny',
  '/etc/nsswitch.conf',
  '/etc/resolv.conf',
  '/etc/pam.d',
  '/etc/security',
  '/etc/shells',
  '/etc/sudo.conf',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/etc/doas.conf',
  '/etc/sysctl.conf',
  '/etc/sysctl.d',
  '/etc/iptables',
  '/etc/sysconfig/iptables',
  '/etc/sysconfig/ip6tables',
  '/etc/nftables.conf',
  '/etc/nftables',
  '/etc/sysconfig/nftables.conf',
  '/etc/default/ufw',
];

/** Takes a snapshot of everything that a guarded run can roll back. */
export const snapshotAll = async ({ users, paths }: RollbackParams): Promise<RollbackSnapshot> => {
  const names = [...new Set([...users, 'root'])];
  const accounts = await readAccounts().catch(() => []);
  const homes = accounts.filter(({ name }) => names.includes(name)).map(({ home }) => home);
  const keys = [...new Set([...homes, homedir()])].map(home => join(home, '.ssh'));
  return {
    files: snapshotFiles([...new Set([...usualPaths, ...serviceFolders, ...keys, ...paths])]),
    accounts: snapshotAccounts(names),
    services: await snapshotServices(),
    network: await snapshotNetwork(),
  };
};

/** Restores everything that differs; a failure in one part does not stop the others. */
export const restoreAll = async (kept: RollbackSnapshot): Promise<RollbackResult> => {
  const parts: RestoreResult[] = [];
  const part = async (work: () => RestoreResult | Promise<RestoreResult>): Promise<void> => {
    try {
      parts.push(await work());
    } catch (error) {
      parts.push({ restored: [], problems: [messageOf(error)] });
    }
  };
  await part(() => restoreFiles(kept.files, ofPackages));
  await part(() => restoreAccounts(kept.accounts));
  await part(() =>
    restoreServices(
      kept.services,
      parts.flatMap(({ restored }) => restored),
    ),
  );
  await part(() => restoreNetwork(kept.network));
  return {
    confirmed: false,
    restored: parts.flatMap(({ restored }) => restored),
    problems: parts.flatMap(({ problems }) => problems),
  };
};

/**
 * Returns files that belong to packages. They are kept: the package manager would not restore them.
 */
const ofPackages = async (paths: readonly string[]): Promise<ReadonlySet<string>> => {
  if (paths.length === 0 || !hasFunction('pkg.owner')) return new Set();
  const owners: unknown = await salt('pkg.owner')(...paths).catch(() => undefined);
  if (typeof owners === 'string') return new Set(owners === '' ? [] : paths);
  if (!isPlainDict(owners)) return new Set();
  return new Set(paths.filter(path => Boolean(owners[path])));
};
