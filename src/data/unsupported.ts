/**
 * Salt's modules that cannot exist here, because they talk to a master or to a permanent minion:
 * the reason, and the alternative.
 */
const noMaster = 'there is no master to ask';

const reasons = {
  exec: {
    beacons: 'beacons need a minion that keeps running',
    cloud: 'salt-cloud is not a part of tsalt-ssh',
    data: 'a host keeps nothing for tsalt-ssh between runs; grains.set writes what is to stay',
    key: 'hosts are identified by their ssh keys; ssh.host_keys returns them',
    minion: `${noMaster}; the roster names the hosts`,
    out: 'results are formatted on the control node: --out=json, --out=yaml and others',
    publish:
      'only a template asks other hosts; on the command line name the hosts and the function',
    ret: 'returners do not run on hosts; --out=json passes the results to a program',
    saltcloud: 'salt-cloud is not a part of tsalt-ssh',
    schedule: 'a schedule needs a minion that keeps running; cron.present and timers of systemd do',
  },
  state: {
    beacon: 'beacons need a minion that keeps running',
    cloud: 'salt-cloud is not a part of tsalt-ssh',
    salt_proxy: 'proxy minions need a master',
    schedule: 'a schedule needs a minion that keeps running; cron.present and timers of systemd do',
  },
} as const;

/** Returns why a function of Salt does not exist here; undefined if no reason is known. */
export const whyUnsupported = (kind: 'exec' | 'state', name: string): string | undefined => {
  const module = name.slice(0, name.indexOf('.'));
  const known: Readonly<Record<string, string>> = reasons[kind];
  return Object.hasOwn(known, module) ? known[module] : undefined;
};
