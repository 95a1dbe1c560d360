import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';

type Where = {
  /** `tcp` or `udp` */
  protocol?: string | null;
  port?: string | number | null;
};

const shown = (sel_type: string | null, { protocol, port }: Where): string =>
  `with specified sel_type "${sel_type ?? 'None'}", protocol "${protocol ?? 'None'}" and port "${port ?? 'None'}".`;

/**
 * The policy has a type for a port.
 *
 * @param name `tcp/8080`, or any name beside `protocol` and `port`
 * @param sel_type the type
 * @param port a port or a range, `20-21`
 * @param sel_range its security range
 * @example
 * tcp/8091:
 *   selinux.port_policy_present:
 *     - sel_type: http_port_t
 */
export const port_policy_present = async (
  name: string,
  {
    sel_type,
    protocol = null,
    port = null,
    sel_range = null,
  }: Where & { sel_type: string; sel_range?: string | null },
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const where = { protocol, port };
    if (await salt('selinux.port_get_policy')(name, { sel_type, ...where }))
      return unchanged(
        name,
        `SELinux policy for "${name}" already present ${shown(sel_type, where)}`,
      );
    const old = await salt('selinux.port_get_policy')(name, where);
    if (__opts__.test)
      return would(
        name,
        `SELinux policy for "${name}" is set to be added`,
        inPlan({ old, new: { sel_type, ...where } }),
      );
    const done = await salt('selinux.port_add_policy')(name, sel_type, { ...where, sel_range });
    if (done.retcode !== 0) return failed(name, `Error adding new policy: ${done.stderr.trim()}`);
    const fresh = await salt('selinux.port_get_policy')(name, { sel_type, ...where });
    return changed(name, '', { old, new: fresh });
  });

/**
 * The policy has no rule for a port.
 *
 * @param name `tcp/8080`, or any name beside `protocol` and `port`
 * @param sel_type only a rule with this type
 * @param port a port or a range
 * @example
 * tcp/8091:
 *   selinux.port_policy_absent
 */
export const port_policy_absent = async (
  name: string,
  { sel_type = null, protocol = null, port = null }: Where & { sel_type?: string | null } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    const where = { protocol, port };
    const old = await salt('selinux.port_get_policy')(name, { sel_type, ...where });
    if (!old)
      return unchanged(
        name,
        `SELinux policy for "${name}" already absent ${shown(sel_type, where)}`,
      );
    if (__opts__.test)
      return would(
        name,
        `SELinux policy for "${name}" is set to be removed`,
        inPlan({ old, new: null }),
      );
    const done = await salt('selinux.port_delete_policy')(name, where);
    if (done.retcode !== 0) return failed(name, `Error deleting policy: ${done.stderr.trim()}`);
    const fresh = await salt('selinux.port_get_policy')(name, { sel_type, ...where });
    return changed(name, '', { old, new: fresh });
  });
