import { showError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { readRosters } from '../request/rosters.ts';
import { openInvocation } from './invocation.ts';
import type { ProjectOptions, RunFlags } from './options.ts';

/** The hosts of a roster. */
export type LoadedRoster = {
  /** Every host, with the defaults filled in, in the order of the rosters. No secret is read. */
  readonly hosts: readonly Host[];
  /** Groups that the inventories bring along, as target expressions by name. */
  readonly groups: Readonly<Record<string, string>>;
  /** Errors of entries by id. Such a host fails when it is run. */
  readonly faults: Readonly<Record<string, string>>;
};

/**
 * Reads the rosters of a project. No connection is made.
 *
 * @throws TsaltError `config-…`, `roster-…`
 */
export const loadRoster = async (
  options: ProjectOptions & RunFlags = {},
): Promise<LoadedRoster> => {
  const { hosts, groups } = await readRosters(await openInvocation(options));
  return {
    hosts: hosts.map(({ host }) => host),
    groups,
    faults: Object.fromEntries(
      hosts.flatMap(({ host, fault }) => (fault ? [[host.id, showError(fault)]] : [])),
    ),
  };
};
