import { salt } from '../_shared/states/call.ts';

/** An item of a zone: a name, or the fields of a forwarded port. */
export type Item = string | { [field: string]: string };

/** A kind of item in a zone, with the functions that list, add and remove it. */
export type ZoneItemKind = {
  readonly option:
    | 'block_icmp'
    | 'ports'
    | 'port_fwd'
    | 'services'
    | 'interfaces'
    | 'sources'
    | 'rich_rules';
  readonly label: string;
  readonly list: string;
  readonly read: (text: string) => Item;
  readonly add: (zone: string, item: Item) => Promise<unknown>;
  readonly remove: (zone: string, item: Item) => Promise<unknown>;
};

const plainKind = (
  option: ZoneItemKind['option'],
  list: string,
  add: string,
  remove: string,
  { label = option as string, read = (text: string): Item => text } = {},
): ZoneItemKind => ({
  option,
  label,
  list,
  read,
  add: (zone, item) => salt(`firewalld.${add}`)(zone, item, true),
  remove: (zone, item) => salt(`firewalld.${remove}`)(zone, item, true),
});

const forwardWords = (item: Item): string[] => {
  const fields = item as { [field: string]: string };
  return ['Source port', 'Destination port', 'Protocol', 'Destination address'].map(
    field => fields[field] ?? '',
  );
};

/** Parses `from:to:protocol[:address]`; the address may contain colons. */
const readForward = (text: string): Item => {
  const [from = '', to = '', protocol = '', ...address] = text.split(':');
  return {
    'Source port': from,
    'Destination port': to,
    Protocol: protocol,
    'Destination address': address.join(':'),
  };
};

/** Normalizes quotes: firewalld puts all values in double quotes. */
const readRichRule = (text: string): Item =>
  text
    .trim()
    .split(/\s+(?=(?:[^"']*["'][^"']*["'])*[^"']*$)/)
    .map(word =>
      word.replace(
        /^([^="']+)=(?:'([^']*)'|([^"'].*))$/,
        (_, key, quoted, bare) => `${key}="${quoted ?? bare}"`,
      ),
    )
    .join(' ');

/** The kinds of items in a zone, by the argument of `firewalld.present`. */
export const zoneItemKinds = {
  block_icmp: plainKind('block_icmp', 'list_icmp_block', 'block_icmp', 'allow_icmp', {
    label: 'icmp_types',
  }),
  ports: plainKind('ports', 'list_ports', 'add_port', 'remove_port'),
  port_fwd: {
    ...plainKind('port_fwd', 'list_port_fwd', '', '', { read: readForward }),
    add: (zone, item) => salt('firewalld.add_port_fwd')(zone, ...forwardWords(item), true),
    remove: (zone, item) => salt('firewalld.remove_port_fwd')(zone, ...forwardWords(item), true),
  },
  services: {
    ...plainKind('services', 'list_services', '', ''),
    add: (zone, item) => salt('firewalld.add_service')(item, zone, true),
    remove: (zone, item) => salt('firewalld.remove_service')(item, zone, true),
  },
  interfaces: {
    ...plainKind('interfaces', 'get_interfaces', '', ''),
    add: (zone, item) => salt('firewalld.change_interface')(zone, { interface: item }),
    remove: (zone, item) => salt('firewalld.remove_interface')(zone, { interface: item }),
  },
  sources: plainKind('sources', 'get_sources', 'add_source', 'remove_source'),
  rich_rules: plainKind('rich_rules', 'get_rich_rules', 'add_rich_rule', 'remove_rich_rule', {
    read: readRichRule,
  }),
} satisfies Record<ZoneItemKind['option'], ZoneItemKind>;
