import { which } from '../../modules/_shared/commands/which.ts';
import { hasFunction, salt } from '../../modules/_shared/states/call.ts';
import { type Argv, runRollbackProgram } from './programs.ts';
import { attempt, type RestoreResult } from './restore.ts';

/**
 * The services that a login needs, under the names on different systems, and the folders they read.
 */
const services: readonly (readonly [
  name: string,
  folders: readonly string[],
  renew: 'reload' | 'restart',
])[] = [
  ['ssh', ['/etc/ssh'], 'reload'],
  ['sshd', ['/etc/ssh'], 'reload'],
  ['ssh.socket', [], 'restart'],
  ['dropbear', ['/etc/dropbear', '/etc/default/dropbear'], 'restart'],
  ['networking', ['/etc/network'], 'restart'],
  ['network', ['/etc/sysconfig/network', '/etc/sysconfig/network-scripts'], 'restart'],
  ['systemd-networkd', ['/etc/systemd/network'], 'restart'],
  ['NetworkManager', ['/etc/NetworkManager', '/etc/sysconfig/network-scripts'], 'restart'],
  ['wicked', ['/etc/sysconfig/network'], 'restart'],
  ['firewalld', ['/etc/firewalld'], 'reload'],
  ['ufw', ['/etc/ufw'], 'restart'],
  ['fail2ban', ['/etc/fail2ban'], 'restart'],
];

/** Programs that configure the network from the files in these folders. */
const appliers: readonly (readonly [argv: Argv, folder: string])[] = [
  [['netplan', 'apply'], '/etc/netplan'],
];

/** Folders that services and programs read. */
export const serviceFolders: readonly string[] = [
  ...new Set([...services.flatMap(([, folders]) => folders), ...appliers.map(([, one]) => one)]),
];

type Facts = { readonly running: boolean; readonly enabled: boolean; readonly masked: boolean };

export type ServicesSnapshot = ReadonlyMap<string, Facts>;

/** Takes a snapshot of the services that a login needs. */
export const snapshotServices = async (): Promise<ServicesSnapshot> => {
  const kept = new Map<string, Facts>();
  if (!hasFunction('service.status')) return kept;
  for (const [name] of services) {
    const facts = await factsOf(name).catch(() => undefined);
    if (facts) kept.set(name, facts);
  }
  return kept;
};

/** Returns the state of a unit. A masked unit is not listed as available. */
const factsOf = async (name: string): Promise<Facts | undefined> => {
  const masked = hasFunction('service.masked') && (await salt('service.masked')(name)) === true;
  if (!masked && (await salt('service.available')(name)) !== true) return undefined;
  return {
    masked,
    running: (await salt('service.status')(name)) === true,
    enabled: (await salt('service.enabled')(name)) === true,
  };
};

/** Starts and stops services as they were before; those that read a restored file reload it. */
export const restoreServices = async (
  kept: ServicesSnapshot,
  files: readonly string[],
): Promise<RestoreResult> => {
  const outcome: RestoreResult = { restored: [], problems: [] };
  const isRead = (folder: string): boolean =>
    files.some(path => path === folder || path.startsWith(`${folder}/`));
  for (const [argv, folder] of appliers)
    if (isRead(folder) && which(argv[0]))
      await attempt(outcome, argv.join(' '), () => runRollbackProgram(argv));
  for (const [name, folders, renew] of services) {
    const before = kept.get(name);
    const due = before ? await dueOf(name, before, folders.some(isRead) ? renew : undefined) : [];
    if (due.length > 0)
      await attempt(outcome, `the service ${name}`, async () => {
        for (const fun of due) await call(fun, name);
      });
  }
  return outcome;
};

const dueOf = async (
  name: string,
  before: Facts,
  renew: 'reload' | 'restart' | undefined,
): Promise<string[]> => {
  const now = await factsOf(name).catch(() => undefined);
  const gone = { running: false, enabled: false, masked: false };
  const { running, enabled, masked } = now ?? gone;
  return [
    ...(masked && !before.masked ? ['unmask'] : []),
    ...(enabled === before.enabled || before.masked ? [] : [before.enabled ? 'enable' : 'disable']),
    ...(before.running && !running ? ['start'] : []),
    ...(!before.running && running ? ['stop'] : []),
    ...(before.running && running && renew ? [renew] : []),
  ];
};

const call = async (fun: string, name: string): Promise<void> => {
  if ((await salt(`service.${fun}`)(name)) === false) throw new Error(`service.${fun} failed`);
};
