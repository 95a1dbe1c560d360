/** Manages zones and services of firewalld. */
import { messageOf } from '../../../../protocol/error.ts';
import { hasFunction, salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { failed, unchanged } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';
import { type Item, type ZoneItemKind, zoneItemKinds } from '../../firewall-zone.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('firewalld.get_zones') || [
    false,
    'firewall-cmd is not available, firewalld is probably not installed.',
  ];

type PresentOptions = {
  block_icmp?: string[] | null;
  prune_block_icmp?: boolean;
  default?: boolean | null;
  masquerade?: boolean;
  ports?: string[] | null;
  prune_ports?: boolean;
  port_fwd?: string[] | null;
  prune_port_fwd?: boolean;
  services?: string[] | null;
  prune_services?: boolean;
  interfaces?: string[] | null;
  prune_interfaces?: boolean;
  sources?: string[] | null;
  prune_sources?: boolean;
  rich_rules?: string[] | null;
  prune_rich_rules?: boolean;
};

/**
 * Makes sure that a zone exists, permanently and now, with the given services, ports and so on.
 * Others are kept unless they are pruned.
 *
 * @param name the zone
 * @param default true: the zone of all that is in no other
 * @param masquerade true: enable masquerading
 * @param block_icmp types of ICMP that are blocked
 * @param prune_block_icmp true: remove all others
 * @param ports ports that are open, `22/tcp`
 * @param prune_ports true: remove all others
 * @param port_fwd ports that are forwarded, `from:to:protocol[:address]`
 * @param prune_port_fwd true: remove all others
 * @param services services that are let through
 * @param prune_services true: remove all others
 * @param interfaces interfaces that belong to the zone
 * @param prune_interfaces true: remove all others
 * @param sources addresses that belong to the zone
 * @param prune_sources true: remove all others
 * @param rich_rules rules in firewalld's language
 * @param prune_rich_rules true: remove all others
 * @example
 * public:
 *   firewalld.present:
 *     - default: true
 *     - services: [ssh, https]
 *     - ports: [8080/tcp]
 *     - prune_services: true
 */
export const present = async (name: string, options: PresentOptions = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    const changes: PlainDict = {};
    try {
      await bringAbout(name, options, changes);
    } catch (error) {
      if (Object.keys(changes).length > 0 && !__opts__.test) await salt('firewalld.reload_rules')();
      return failed(name, `Error: ${messageOf(error)}`, __opts__.test ? {} : changes);
    }
    if (Object.keys(changes).length === 0)
      return unchanged(name, `'${name}' is already in the desired state.`);
    if (__opts__.test)
      return {
        name,
        changes,
        result: null,
        comment: `Configuration for '${name}' will change.`,
      };
    await salt('firewalld.reload_rules')();
    return { name, changes, result: true, comment: `'${name}' was configured.` };
  });

const bringAbout = async (
  zone: string,
  options: PresentOptions,
  changes: PlainDict,
): Promise<void> => {
  const zones: string[] = await salt('firewalld.get_zones')(true);
  const isNew = !zones.includes(zone);
  if (isNew) {
    if (!__opts__.test) await salt('firewalld.new_zone')(zone);
    changes[zone] = { old: zones, new: zone };
  }
  // In test mode, a zone that does not exist yet cannot be queried.
  const isThere = !isNew || !__opts__.test;
  const sort = async (kind: ZoneItemKind): Promise<void> =>
    settle(zone, kind, options, changes, isThere);
  await sort(zoneItemKinds.block_icmp);
  if (options.default) {
    const old: string = await salt('firewalld.default_zone')();
    if (old !== zone) {
      if (!__opts__.test) await salt('firewalld.set_default_zone')(zone);
      changes.default = { old, new: zone };
    }
  }
  const hasMasquerade: boolean = isThere && (await salt('firewalld.get_masquerade')(zone, true));
  const masquerade = options.masquerade ?? false;
  if (masquerade !== hasMasquerade) {
    if (!__opts__.test)
      await salt(masquerade ? 'firewalld.add_masquerade' : 'firewalld.remove_masquerade')(
        zone,
        true,
      );
    changes.masquerade = {
      old: '',
      new: `Masquerading successfully ${masquerade ? 'set' : 'disabled'}.`,
    };
  }
  for (const kind of [
    zoneItemKinds.ports,
    zoneItemKinds.port_fwd,
    zoneItemKinds.services,
    zoneItemKinds.interfaces,
    zoneItemKinds.sources,
    zoneItemKinds.rich_rules,
  ])
    await sort(kind);
};

const keyOf = (item: Item): string => JSON.stringify(item, Object.keys(item).sort());

const settle = async (
  zone: string,
  kind: ZoneItemKind,
  options: PresentOptions,
  changes: PlainDict,
  isThere: boolean,
): Promise<void> => {
  const named = options[kind.option] ?? [];
  const pruning = options[`prune_${kind.option}`] === true;
  if (named.length === 0 && !pruning) return;
  const wanted = named.map(text => kind.read(String(text)));
  const current: Item[] = isThere ? await salt(`firewalld.${kind.list}`)(zone, true) : [];
  const missing = (from: readonly Item[], of: readonly Item[]): Item[] => {
    const keys = new Set(from.map(keyOf));
    return of.filter(item => !keys.has(keyOf(item)));
  };
  const added = missing(current, wanted);
  const gone = pruning ? missing(wanted, current) : [];
  if (added.length + gone.length === 0) return;
  if (!__opts__.test) {
    for (const item of added) await kind.add(zone, item);
    for (const item of gone) await kind.remove(zone, item);
  }
  changes[kind.label] = { old: current, new: pruning ? wanted : [...current, ...added] };
};
