import { synced, syncedAll } from '../../data/module-docs.ts';
import { toData } from '../../data/value.ts';
import type { WrapperFunction, WrapperModule } from '../define.ts';

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

/** `saltutil.sync_*`: no sync step is needed here; the answer is what the artifact contains. */
export const saltutil: WrapperModule = {
  doc: 'What Salt needs to be told for modules to be current; here they are with every run.',
  functions: {
    sync_modules: sync('modules'),
    sync_states: sync('states'),
    sync_grains: sync('grains'),
    sync_renderers: sync('renderers'),
    sync_utils: sync('utils'),
    sync_outputters: sync('outputters'),
    sync_output: sync('outputters'),
    sync_matchers: sync('matchers'),
    sync_pillar: sync('pillar'),
    refresh_pillar: {
      doc: 'Compiles the pillar anew: what runs from now on sees the new one.',
      params: [
        ['wait', false],
        ['timeout', 30],
        ['clean_cache', true],
      ],
      work: async ({ ctx }) => {
        await ctx.refreshPillar();
        return true;
      },
    },
    sync_all: {
      ...sync('modules'),
      doc: "Names of all of the user's modules that the host has, by kind.",
      work: ({ ctx }) => toData(syncedAll(ctx.modules)),
    },
  },
};
