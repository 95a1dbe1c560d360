import type { ControlModule } from '../../bundle/control-modules.ts';
import type { Config } from '../../config/config.ts';
import { moduleFolders } from '../../config/module-dirs.ts';
import { toPlain, toPlainDict } from '../../data/values/value.ts';
import type { Artifact } from '../../protocol/artifact.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import type { Plain, PlainDict } from '../../protocol/plain.ts';
import { bounded } from '../../render/ts/bounded.ts';
import type { Matchers, Subject } from '../../targeting/match.ts';

/** A source of `ext_pillar` that the user wrote; it gets its arguments as in Salt. */
export type UserPillarSource = (id: string, pillar: PlainDict, settings: Plain) => Promise<unknown>;

/** The user's modules of the file roots that work on the control node. */
export type UserModules = {
  readonly matchers: Matchers;
  readonly sources: ReadonlyMap<string, UserPillarSource>;
};

export const noUserModules: UserModules = { matchers: new Map(), sources: new Map() };

/** Loads the modules in `_matchers` and `_pillar`. Reads nothing if there are none. */
export const loadUserModules = async (config: Config, artifact: Artifact): Promise<UserModules> => {
  if (!artifact.modules.some(({ kind }) => kind === 'matchers' || kind === 'pillar'))
    return noUserModules;
  const { loadControlModules } = await import('../../bundle/control-modules.ts');
  const modules = await loadControlModules(moduleFolders(config));
  return {
    matchers: new Map(
      modules
        .filter(({ kind }) => kind === 'matchers')
        .map(module => [module.name.replace(/_match$/, ''), matcher(module)]),
    ),
    sources: new Map(
      modules.filter(({ kind }) => kind === 'pillar').map(module => [module.name, source(module)]),
    ),
  };
};

type AnyFunction = (...args: unknown[]) => unknown;

/** `match(target, { id, grains, pillar, delimiter })`: true or false, at once. */
const matcher =
  (module: ControlModule) =>
  (expression: Parameters<typeof toPlain>[0], subject: Subject, delimiter: string): boolean => {
    const match = functionOf(module, 'match');
    const host = {
      id: subject.id,
      grains: toPlainDict(subject.grains),
      pillar: toPlainDict(subject.pillar),
      delimiter,
    };
    const answer = attempt(module, () => match(toPlain(expression), host));
    if (typeof answer === 'boolean') return answer;
    throw unusable(module, "its 'match' must return true or false");
  };

/** `ext_pillar(id, pillar, …)`: a list is spread as arguments, anything else is one. */
const source =
  (module: ControlModule): UserPillarSource =>
  async (id, pillar, settings) => {
    const extPillar = functionOf(module, 'ext_pillar');
    const more = Array.isArray(settings) ? settings : [settings];
    return bounded(() => extPillar(id, pillar, ...more));
  };

const functionOf = (module: ControlModule, name: string): AnyFunction => {
  if (module.broken !== undefined) throw unusable(module, module.broken);
  const found = attempt(module, () => module.load()[name]);
  if (typeof found === 'function') return found as AnyFunction;
  throw unusable(module, `it exports no function '${name}'`);
};

const attempt = <T>(module: ControlModule, work: () => T): T => {
  try {
    return bounded(work);
  } catch (error) {
    throw unusable(module, messageOf(error), error);
  }
};

const unusable = ({ kind, name, path }: ControlModule, why: string, cause?: unknown): TsaltError =>
  new TsaltError(
    'own-module',
    `The ${kind === 'pillar' ? 'ext_pillar' : 'matcher'} '${name}' cannot be used: ${why}`,
    { at: { file: path }, ...(kind === 'pillar' ? { kind } : {}), cause },
  );
