/**
 * States of trees that send their own modules to hosts first. Nothing has to be sent here: what is
 * in `_modules`, `_states` and the like travels with every run.
 */

import { unchanged } from '../../_shared/states/returns.ts';
import type { Plain, StateReturn } from '../../api.ts';

type SyncOptions = { [option: string]: Plain };

/**
 * The modules of the tree are on the host, as always: nothing changes, also in test mode. Options
 * such as `refresh` have no effect.
 *
 * @param name a name for the state
 *
 * @example
 * sync everything:
 *   saltutil.sync_all:
 *     - refresh: True
 */
// biome-ignore lint/correctness/noEmptyPattern: the pattern says that any keyword is taken
export const sync_all = async (name: string, {}: SyncOptions = {}): Promise<StateReturn> =>
  unchanged(name, 'No updates to sync');

/** As `saltutil.sync_all`. */
export const sync_beacons = sync_all;
/** As `saltutil.sync_all`. */
export const sync_clouds = sync_all;
/** As `saltutil.sync_all`. */
export const sync_engines = sync_all;
/** As `saltutil.sync_all`. */
export const sync_executors = sync_all;
/** As `saltutil.sync_all`. */
export const sync_grains = sync_all;
/** As `saltutil.sync_all`. */
export const sync_log_handlers = sync_all;
/** As `saltutil.sync_all`. */
export const sync_matchers = sync_all;
/** As `saltutil.sync_all`. */
export const sync_modules = sync_all;
/** As `saltutil.sync_all`. */
export const sync_output = sync_all;
/** As `saltutil.sync_all`. */
export const sync_outputters = sync_all;
/** As `saltutil.sync_all`. */
export const sync_pillar = sync_all;
/** As `saltutil.sync_all`. */
export const sync_proxymodules = sync_all;
/** As `saltutil.sync_all`. */
export const sync_renderers = sync_all;
/** As `saltutil.sync_all`. */
export const sync_returners = sync_all;
/** As `saltutil.sync_all`. */
export const sync_sdb = sync_all;
/** As `saltutil.sync_all`. */
export const sync_serializers = sync_all;
/** As `saltutil.sync_all`. */
export const sync_states = sync_all;
/** As `saltutil.sync_all`. */
export const sync_thorium = sync_all;
/** As `saltutil.sync_all`. */
export const sync_utils = sync_all;
