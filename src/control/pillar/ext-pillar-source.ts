import type { Data, Dict } from '../../data/values/value.ts';
import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import type { Vault } from '../../sdb/vault.ts';
import type { UserPillarSource } from '../facts/user-modules.ts';
import type { AskSource } from './source-results.ts';

/** Input of an external source: all that its result may depend on. */
export type ExtPillarInput = {
  readonly id: string;
  readonly pillar: Dict;
  readonly grains: Dict;
  /** The project folder: relative paths start there. */
  readonly dir: string;
  /** The folders of the pillar environment that was chosen, if any. */
  readonly pillarDirs: readonly string[] | undefined;
  readonly vault: () => Promise<Vault>;
  /** Runs a request that may have side effects, once per host. */
  readonly ask: AskSource;
  /** Names of the nodegroups the host is in. */
  readonly nodegroups: () => readonly string[];
  /** The user's sources (`_pillar`), by name: they go before built-in ones. */
  readonly own?: ReadonlyMap<string, UserPillarSource>;
  /** Renders a text as a pillar file. */
  readonly render: (request: PillarTemplate) => Promise<Data>;
  readonly log: (level: 'debug' | 'warning', message: string) => void;
};

/** A text, the pipe that renders it unless it names one, and the renderers that it may use. */
export type PillarTemplate = {
  readonly text: string;
  readonly file: string;
  readonly pipe: string | undefined;
  readonly whitelist: readonly string[];
  readonly blacklist: readonly string[];
};

export type ExtPillarSource = (settings: Plain, input: ExtPillarInput) => Promise<Data>;

/**
 * Binds settings as Salt passes them to a source: a mapping by name, a list in order, anything else
 * as the first argument. Refuses a name that the source does not have.
 */
export const argumentsOf = (settings: Plain, names: readonly string[]): PlainDict => {
  if (Array.isArray(settings)) {
    if (settings.length > names.length)
      throw new Error(`it takes at most ${names.length} arguments, ${settings.length} are given`);
    return Object.fromEntries(settings.map((value, at) => [names[at] ?? '', value as Plain]));
  }
  if (!isPlainDict(settings)) return { [names[0] ?? '']: settings };
  const unknown = Object.keys(settings).find(name => !names.includes(name));
  if (unknown !== undefined)
    throw new Error(`it has no option '${unknown}', but ${names.join(', ')}`);
  return settings;
};
