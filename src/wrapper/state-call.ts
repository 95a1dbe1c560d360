import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isFalsy } from '../compiler/high.ts';
import type { Matches, SlsTree } from '../compiler/load.ts';
import { loadSls } from '../compiler/load.ts';
import { brokenPillar } from '../compiler/pillar.ts';
import type { Problem } from '../compiler/problem.ts';
import { messagesOf } from '../compiler/problem.ts';
import type { Top, TopResult } from '../compiler/top.ts';
import { assignedAt, loadTop, topMatches } from '../compiler/top.ts';
import { pyStr } from '../data/python/python-text.ts';
import type { SlsLoader } from '../data/sls.ts';
import type { Data, Dict } from '../data/values/value.ts';
import { isDict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { loadYaml } from '../yaml/load.ts';
import type { PillarSettings, WrapperContext } from './context.ts';
import type { WrapperCall } from './define.ts';
import type { Outcome } from './outcome.ts';
import { pillarSettingsOf } from './pillar-settings.ts';

/** @throws TsaltError `missing-argument` if the argument is missing or null */
export const required = ({ get }: WrapperCall, name: string, fun: string): Data => {
  const value = get(name);
  if (value === null)
    throw new TsaltError('missing-argument', `${fun} needs the argument '${name}'`);
  return value;
};

/** Splits `a,b`; accepts lists as well. (salt.utils.args.split_input) */
export const splitInput = (value: Data): string[] => {
  const parts = Array.isArray(value) ? value.map(pyStr) : pyStr(value).split(',');
  return parts.map(part => part.trim()).filter(part => part !== '');
};

/** The environment, pillar and test mode of a call, and the SLS loader for them. */
export type StateCallView = {
  readonly ctx: WrapperContext;
  /** The call's arguments by name. */
  readonly named: Dict;
  /** `saltenv` of the call or the host; undefined if neither sets it. */
  readonly saltenv: string | undefined;
  readonly pillar: Dict;
  readonly pillarSettings: PillarSettings;
  /** Options of `localconfig=`, which apply to this run only. */
  readonly opts: Dict;
  readonly loader: SlsLoader;
  readonly test: boolean;
};

/**
 * Determines environment, pillar, options and test mode of a call.
 *
 * @throws TsaltError `bad-pillar-argument`, `lock-saltenv`, `localconfig`, and the errors of
 *   `ctx.pillar` for a broken pillar unless the call has `force=True`.
 */
export const viewOf = async (call: WrapperCall): Promise<StateCallView> => {
  const { ctx } = call;
  const named = call.named();
  const saltenv = text(named.get('saltenv'));
  if (
    saltenv !== undefined &&
    saltenv !== own(ctx) &&
    ctx.config.options.get('lock_saltenv') === true
  )
    throw new TsaltError('lock-saltenv', 'lock_saltenv is enabled, saltenv cannot be changed', {
      hint: 'tsalt.yaml holds hosts to their environment; leave out saltenv=.',
    });
  const opts = localConfig(ctx, named.get('localconfig') ?? null);
  const pillarSettings = pillarSettingsOf(named, ctx.config.options);
  const pillar = await pillarOf(ctx, named, pillarSettings);
  return {
    ctx,
    named,
    saltenv: saltenv ?? configuredEnv(ctx),
    pillar,
    pillarSettings,
    opts,
    loader: ctx.loader(pillar),
    test: testMode(named, opts.has('test') ? !isFalsy(opts.get('test') ?? null) : ctx.test),
  };
};

const own = (ctx: WrapperContext): string => text(ctx.opts.get('saltenv')) ?? 'base';

/** `localconfig=FILE`: minion options for one run, a YAML file of the control node. */
const localConfig = (ctx: WrapperContext, value: Data): Dict => {
  if (value === null) return new Map();
  const file = resolve(ctx.config.dir, String(value));
  let data: Data;
  try {
    data = loadYaml(readFileSync(file, 'utf8'), { file });
  } catch (error) {
    if (error instanceof TsaltError) throw error;
    throw new TsaltError('localconfig', `localconfig: ${file} cannot be read.`, {
      hint: 'It is a YAML file of this machine with options of the host.',
      cause: error,
    });
  }
  if (isDict(data)) return data;
  throw new TsaltError('localconfig', `localconfig: ${file} is not a mapping of options.`, {
    at: { file },
  });
};

/** The opts of a host always contain an environment; only a configured one narrows the top file. */
const configuredEnv = ({ config, opts }: WrapperContext): string | undefined => {
  const env = text(opts.get('saltenv'));
  return config.saltenv ?? (env === 'base' ? undefined : env);
};

const text = (value: Data | undefined): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value);

const pillarOf = async (
  ctx: WrapperContext,
  named: Dict,
  settings: PillarSettings,
): Promise<Dict> => {
  const override = named.get('pillar') ?? null;
  if (override !== null && !isDict(override))
    throw new TsaltError(
      'bad-pillar-argument',
      'Pillar data must be formatted as a dictionary, unless pillar_enc is specified.',
      { hint: "Write it as YAML: pillar='{key: value}'." },
    );
  try {
    return await (Object.keys(settings).length > 0 ? ctx.compilePillar(settings) : ctx.pillar());
  } catch (error) {
    const broken = brokenPillar(error);
    if (broken && isFlagSet(named.get('force'))) return broken.pillar;
    throw error;
  }
};

/** Reads a flag as Salt does on the command line: `True`, `1`, `true`; other strings are false. */
export const isFlagSet = (value: Data | undefined): boolean =>
  typeof value === 'string'
    ? value.toLowerCase() === 'true'
    : value !== undefined && value !== null && value !== 0 && value !== false;

/**
 * `test=` decides, and any string means yes; then the same word in another case; then the
 * configuration.
 */
const testMode = (named: Dict, configured: boolean): boolean => {
  const given = named.get('test') ?? null;
  if (given !== null) return !isFalsy(given);
  const spelled = [...named].find(([key]) => String(key).toLowerCase() === 'test');
  return spelled ? isFlagSet(spelled[1]) || configured : configured;
};

/** Returns the messages of a state run with a broken pillar, in Salt's words. */
export const pillarErrors = (error: unknown): Outcome => {
  const broken = brokenPillar(error);
  if (!broken) throw error;
  const messages = messagesOf(broken.problems);
  return {
    errors: ['Pillar failed to render with the following messages:', ...messages],
    problems: broken.problems,
    retcode: 5,
  };
};

/** Returns the outcome of states that do not compile. */
export const compileErrors = (problems: readonly Problem[], retcode = 1): Outcome => ({
  errors: messagesOf(problems),
  problems,
  retcode,
});

/** Loads the tree of the SLS in a call. */
export const loadMods = (view: StateCallView, mods: Data): Promise<SlsTree> =>
  loadSls({
    matches: new Map([[view.saltenv ?? 'base', slsNames(mods)]]),
    loader: view.loader,
  });

/**
 * Returns the SLS names. Dictionaries and nested lists are refused: as strings they could match as
 * patterns.
 */
const slsNames = (mods: Data): string[] => {
  const odd = [mods].flat().find(name => isDict(name) || Array.isArray(name));
  if (odd !== undefined)
    throw new TsaltError(
      'bad-argument',
      `SLS are named by a text or a list, not by ${pyStr(odd)}`,
      {
        hint: 'Write a,b or [a, b].',
      },
    );
  const names = splitInput(mods);
  return names.length === 0 && !Array.isArray(mods) ? [''] : names;
};

export const readTop = (view: StateCallView, stateTop?: string): Promise<TopResult> => {
  const { config } = view.ctx;
  return loadTop(view.loader, {
    stateTop: stateTop ?? config.state_top,
    saltenv: view.saltenv,
    stateTopSaltenv: config.state_top_saltenv,
    strategy: config.top_file_merging_strategy,
    defaultTop: config.default_top,
    envOrder: config.env_order,
  });
};

export const matchTop = (view: StateCallView, top: Top): Matches =>
  topMatches(
    top,
    {
      id: view.ctx.id,
      grains: view.ctx.grains,
      pillar: view.pillar,
      nodegroups: view.ctx.nodegroups,
      matchers: view.ctx.matchers,
    },
    { saltenv: view.saltenv, envs: view.loader.envs() },
  );

/**
 * Loads the SLS that a top file assigns to the host.
 *
 * @param matches all of them, or some
 */
export const loadTopSls = (view: StateCallView, top: Top, matches: Matches): Promise<SlsTree> =>
  loadSls({
    matches,
    loader: view.loader,
    placeOf: (saltenv, sls) => assignedAt(top, saltenv, sls),
  });

/** Returns the compiler settings of the configuration. */
export const compileOptions = ({ config }: WrapperContext) => {
  const disabled = config.options.get('disabled_requisites') ?? null;
  return {
    autoOrder: config.state_auto_order,
    disabledRequisites: disabled === null ? [] : splitInput(disabled),
  };
};
