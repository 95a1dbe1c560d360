import {
  runPlain,
  type SelinuxResult,
  selinuxResult,
  semanageAdd,
  semanageLines,
} from '../../../_shared/files/selinux-run.ts';
import { SaltInvocationError } from '../../../api.ts';

type PortOptions = {
  /** `tcp` or `udp` */
  protocol?: string | null;
  /** a port or a range */
  port?: string | number | null;
};

/** Protocol and port from `tcp/8080`, or from the arguments. */
const protocolAndPort = (
  name: string,
  { protocol, port }: PortOptions,
): { protocol: string; port: string } => {
  for (const text of [name, `${protocol}/${port}`]) {
    const match = /^(tcp|udp|dccp|sctp)\/(\d+(?:-\d+)?)$/.exec(text);
    if (match) return { protocol: match[1] ?? '', port: match[2] ?? '' };
  }
  throw new SaltInvocationError(
    `Invalid name "${name}" format and protocol and port not provided or invalid: "${protocol}" "${port}".`,
  );
};

type Policy = { sel_type: string; protocol: string; port: string };

/**
 * The rule for a port: its type, and all ports of that type; null when there is none.
 *
 * @param name `tcp/80`, or any name beside `protocol` and `port`
 * @param sel_type with this type
 * @param port a port or a range, `20-21`
 * @example tsalt-ssh '*' selinux.port_get_policy tcp/80
 */
export const port_get_policy = async (
  name: string,
  { sel_type = null, ...where }: PortOptions & { sel_type?: string | null } = {},
): Promise<Policy | null> => {
  const { protocol, port } = protocolAndPort(name, where);
  const found = _parsePorts(await semanageLines('port')).find(
    rule =>
      rule.protocol === protocol &&
      (sel_type === null || rule.sel_type === sel_type) &&
      rule.port.split(', ').includes(port),
  );
  return found ?? null;
};

/** Lines of `type  protocol  80, 443, 8000-8010`. */
export const _parsePorts = (lines: readonly string[]): Policy[] =>
  lines.flatMap(line => {
    const match = /^(\w+)\s+(\w+)\s+([\d, -]+)$/.exec(line.trim());
    return match
      ? [{ sel_type: match[1] ?? '', protocol: match[2] ?? '', port: match[3] ?? '' }]
      : [];
  });

/**
 * Adds or changes the rule for a port.
 *
 * @param name `tcp/8080`, or any name beside `protocol` and `port`
 * @param sel_type the type that it gets
 * @param sel_range its security range
 * @example tsalt-ssh '*' selinux.port_add_policy tcp/8080 http_port_t
 */
export const port_add_policy = async (
  name: string,
  sel_type: string,
  {
    protocol: kind = null,
    port: number = null,
    sel_range = null,
  }: PortOptions & { sel_range?: string | null } = {},
): Promise<SelinuxResult> => {
  const { protocol, port } = protocolAndPort(name, { protocol: kind, port: number });
  const range = sel_range === null ? [] : ['--range', sel_range];
  return selinuxResult(
    await semanageAdd('port', ['--proto', protocol, '--type', sel_type, ...range, port]),
  );
};

/**
 * Takes the rule for a port away.
 *
 * @param name `tcp/8080`, or any name beside `protocol` and `port`
 * @example tsalt-ssh '*' selinux.port_delete_policy tcp/8080
 */
export const port_delete_policy = async (
  name: string,
  options: PortOptions = {},
): Promise<SelinuxResult> => {
  const { protocol, port } = protocolAndPort(name, options);
  return selinuxResult(await runPlain(['semanage', 'port', '--delete', '--proto', protocol, port]));
};
