import { synced, syncedAll } from '../../data/signatures/module-docs.ts';
import { toData } from '../../data/values/value.ts';
import { refused, type WrapperFunction, type WrapperModule } from '../define.ts';

const sync = (what: string): WrapperFunction => ({
  doc: `Names of the user's ${what} that the host has. They are always current: nothing is copied now.`,
  params: [
    ['saltenv', null],
    ['refresh', true],
    ['extmod_whitelist', null],
    ['extmod_blacklist', null],
  ],
  work: ({ ctx }) => toData(synced(ctx.modules, what)),
});

const withoutRefresh = [
  ['saltenv', null],
  ['extmod_whitelist', null],
  ['extmod_blacklist', null],
] as const;

/** Adds the flag with which Salt also clears a cached pillar; here no pillar is cached. */
const clearing = (fun: WrapperFunction): WrapperFunction => ({
  ...fun,
  params: [...fun.params, ['clean_pillar_cache', false]],
});

/** Modules of kinds that run only on a master or in a minion's daemon. */
const noneOf = (what: string): WrapperFunction => ({
  ...sync(what),
  doc: `There are no ${what} here: nothing runs between calls. An empty list, so that formulas go on.`,
  work: () => [],
});

const refreshPillar: WrapperFunction = {
  doc: 'Compiles the pillar again: later states see the new one.',
  params: [
    ['wait', false],
    ['timeout', 30],
    ['clean_cache', true],
  ],
  work: async ({ ctx }) => {
    await ctx.refreshPillar();
    return true;
  },
};

const current = (doc: string): WrapperFunction => ({
  doc,
  params: [],
  anyKeyword: true,
  work: () => true,
});

const refusedHere = (name: string, why: string, hint: string): WrapperFunction =>
  refused(`saltutil.${name}`, `Not done here: ${why}. ${hint}`, why, hint);

const noMaster = 'there is no master to ask';
const noCache = 'no jobs are kept';

/**
 * `saltutil.sync_*`: no sync step is needed here, so the functions return what the artifact
 * contains.
 */
export const saltutil: WrapperModule = {
  doc: 'Functions that update modules in Salt; here, every run has the current ones.',
  functions: {
    sync_modules: sync('modules'),
    sync_states: sync('states'),
    sync_grains: clearing(sync('grains')),
    sync_renderers: sync('renderers'),
    sync_utils: sync('utils'),
    sync_outputters: sync('outputters'),
    sync_output: sync('outputters'),
    sync_matchers: sync('matchers'),
    sync_returners: sync('returners'),
    sync_pillar: clearing(sync('pillar')),
    refresh_pillar: refreshPillar,
    pillar_refresh: refreshPillar,
    list_extmods: {
      doc: "Names of all of the user's modules that the host has, by kind.",
      params: [],
      work: ({ ctx }) => toData(syncedAll(ctx.modules)),
    },
    mmodule: refusedHere('mmodule', noMaster, 'Call the function by its name.'),
    sync_beacons: noneOf('beacons'),
    sync_clouds: noneOf('clouds'),
    sync_engines: noneOf('engines'),
    sync_executors: noneOf('executors'),
    sync_log_handlers: noneOf('log handlers'),
    sync_proxymodules: noneOf('proxy modules'),
    sync_sdb: { ...noneOf('sdb modules'), params: withoutRefresh },
    sync_serializers: noneOf('serializers'),
    sync_thorium: noneOf('thorium modules'),
    refresh_modules: current(
      'True: modules come with every run; a state renews them by `reload_modules`.',
    ),
    refresh_grains: current(
      'True: grains are collected in every run; a state renews them by `reload_grains`.',
    ),
    refresh_matchers: current('True: matchers are read in every run.'),
    refresh_beacons: current('True: there are no beacons.'),
    clear_cache: current(
      'True: nothing of a run is kept on the host but artifacts by their hash; `--wipe` leaves none.',
    ),
    clear_job_cache: current('True: no jobs are kept.'),
    find_job: refusedHere('find_job', noCache, 'saltutil.running lists the running jobs.'),
    find_cached_job: refusedHere(
      'find_cached_job',
      noCache,
      'Keep the output: --out=json --out-file.',
    ),
    signal_job: refusedHere('signal_job', noCache, 'saltutil.term_all_jobs ends running jobs.'),
    term_job: refusedHere('term_job', noCache, 'saltutil.term_all_jobs ends running jobs.'),
    kill_job: refusedHere('kill_job', noCache, 'saltutil.kill_all_jobs ends running jobs.'),
    runner: refusedHere('runner', noMaster, 'Call functions of the control node with --local.'),
    wheel: refusedHere('wheel', noMaster, 'Host keys are those of ssh.'),
    cmd: refusedHere('cmd', noMaster, 'Give the target on the command line.'),
    cmd_iter: refusedHere('cmd_iter', noMaster, 'Give the target on the command line.'),
    regen_keys: refusedHere('regen_keys', noMaster, 'Host keys are those of ssh.'),
    revoke_auth: refusedHere('revoke_auth', noMaster, 'Take the host out of the roster.'),
    update: refusedHere('update', 'there is no minion to update', 'Every run brings its runtime.'),
    sync_all: {
      ...clearing(sync('modules')),
      doc: "Names of all of the user's modules that the host has, by kind.",
      work: ({ ctx }) => toData(syncedAll(ctx.modules)),
    },
  },
};
