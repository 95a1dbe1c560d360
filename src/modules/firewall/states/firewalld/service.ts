import { messageOf } from '../../../../protocol/error.ts';
import { salt } from '../../../_shared/states/call.ts';
import { changed, failed, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';

/**
 * Makes sure that a service is defined in firewalld with exactly these ports and protocols.
 *
 * @param name the service
 * @param ports its ports, `80/tcp`
 * @param protocols its protocols, `esp`
 * @example
 * my_service:
 *   firewalld.service:
 *     - ports: [8080/tcp, 8443/tcp]
 */
export const service = async (
  name: string,
  { ports = null, protocols = null }: { ports?: string[] | null; protocols?: string[] | null } = {},
): Promise<StateReturn> => {
  const changes: PlainDict = {};
  try {
    const isNew = !(await salt('firewalld.get_services')()).includes(name);
    if (isNew) {
      if (!__opts__.test) await salt('firewalld.new_service')(name, false);
      changes[name] = { old: null, new: name };
    }
    const isThere = !isNew || !__opts__.test;
    for (const [kind, given] of [
      ['port', ports],
      ['protocol', protocols],
    ] as const) {
      const wanted = (given ?? []).map(String);
      const current: string[] = isThere ? await salt(`firewalld.get_service_${kind}s`)(name) : [];
      const added = wanted.filter(one => !current.includes(one));
      const gone = current.filter(one => !wanted.includes(one));
      if (added.length + gone.length === 0) continue;
      if (!__opts__.test) {
        for (const one of added) await salt(`firewalld.add_service_${kind}`)(name, one);
        for (const one of gone) await salt(`firewalld.remove_service_${kind}`)(name, one);
      }
      changes[`${kind}s`] = { old: current, new: wanted };
    }
    if (Object.keys(changes).length === 0)
      return unchanged(name, `'${name}' is already in the desired state.`);
    if (__opts__.test) return would(name, `Configuration for '${name}' will change.`, changes);
    await salt('firewalld.reload_rules')();
  } catch (error) {
    return failed(name, `Error: ${messageOf(error)}`, __opts__.test ? {} : changes);
  }
  return changed(name, `'${name}' was configured.`, changes);
};
