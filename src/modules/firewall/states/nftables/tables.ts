import { salt } from '../../../_shared/states/call.ts';
import { failOnError } from '../../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../../_shared/states/returns.ts';
import { __opts__, type StateReturn } from '../../../api.ts';

/**
 * Makes sure that a table exists.
 *
 * @param name the table
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @unknown ignored
 * @example
 * filter:
 *   nftables.table_present:
 *     - family: inet
 */
export const table_present = async (
  name: string,
  { family = 'ipv4' }: { family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if ((await salt('nftables.check_table')(name, family)).result)
      return unchanged(name, `nftables table ${name} already exists in family ${family}`);
    if (__opts__.test)
      return would(
        name,
        `nftables table ${name} would be created in family ${family}`,
        inPlan({ locale: name }),
      );
    const { result, comment } = await salt('nftables.new_table')(name, family);
    return result
      ? changed(name, `nftables table ${name} successfully created in family ${family}`, {
          locale: name,
        })
      : failed(name, `Failed to create table ${name} for family ${family}: ${comment}`);
  });

/**
 * Makes sure that a table and its contents do not exist.
 *
 * @param name the table
 * @param family `ipv4`, `ipv6`, `inet`, `arp`, `bridge` or `netdev`
 * @unknown ignored
 * @example
 * filter:
 *   nftables.table_absent
 */
export const table_absent = async (
  name: string,
  { family = 'ipv4' }: { family?: string } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('nftables.check_table')(name, family)).result)
      return unchanged(name, `nftables table ${name} is already absent from family ${family}`);
    if (__opts__.test)
      return would(
        name,
        `nftables table ${name} would be deleted from family ${family}`,
        inPlan({ locale: name }),
      );
    const { result, comment } = await salt('nftables.delete_table')(name, family);
    return result
      ? changed(name, `nftables table ${name} successfully deleted from family ${family}`, {
          locale: name,
        })
      : failed(name, `Failed to delete table ${name} from family ${family}: ${comment}`);
  });
