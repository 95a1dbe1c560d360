import { which } from '../../modules/_shared/commands/which.ts';
import { hasFunction, salt } from '../../modules/_shared/states/call.ts';
import { type Argv, runGuardProgram } from './programs.ts';
import { attempt, type PutBack } from './put-back.ts';

/** What a login goes through, by the names that systems give it, and the folders it reads. */
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

/** Programs that make the network out of what these folders hold. */
const appliers: readonly (readonly [argv: Argv, folder: string])[] = [
  [['netplan', 'apply'], '/etc/netplan'],
];

/** Folders that services read, and programs. */
export const serviceFolders: readonly string[] = [
  ...new Set([...services.flatMap(([, folders]) => folders), ...appliers.map(([, one]) => one)]),
];

type Facts = { readonly running: boolean; readonly enabled: boolean; readonly masked: boolean };

export type KeptServices = ReadonlyMap<string, Facts>;

/** How the services stand that a login goes through. */
export const keepServices = async (): Promise<KeptServices> => {
  const kept = new Map<string, Facts>();
  if (!hasFunction('service.status')) return kept;
  for (const [name] of services) {
    const facts = await factsOf(name).catch(() => undefined);
    if (facts) kept.set(name, facts);
  }
  return kept;
};

/** An unit that is masked is none that is available. */
const factsOf = async (name: string): Promise<Facts | undefined> => {
  const masked = hasFunction('service.masked') && (await salt('service.masked')(name)) === true;
  if (!masked && (await salt('service.available')(name)) !== true) return undefined;
  return {
    masked,
    running: (await salt('service.status')(name)) === true,
    enabled: (await salt('service.enabled')(name)) === true,
  };
};

/** Starts what ran and stops what did not; what reads one of these files reads it again. */
export const putServicesBack = async (
  kept: KeptServices,
  files: readonly string[],
): Promise<PutBack> => {
  const outcome: PutBack = { restored: [], problems: [] };
  const isRead = (folder: string): boolean =>
    files.some(path => path === folder || path.startsWith(`${folder}/`));
  for (const [argv, folder] of appliers)
    if (isRead(folder) && which(argv[0]))
      await attempt(outcome, argv.join(' '), () => runGuardProgram(argv));
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
