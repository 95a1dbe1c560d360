import { resolve } from 'node:path';
import type { Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { isPlainDict, type PlainDict } from '../protocol/plain.ts';
import { type Finding, findingOfError } from '../validate/findings.ts';
import type { HostCheck } from '../validate/hosts/check-host.ts';
import { checkProject } from '../validate/hosts/check-project.ts';
import { CompileCache } from '../validate/hosts/compile-cache.ts';
import { defaultProfile, profileGrains } from '../validate/hosts/grain-profiles.ts';
import { Linter } from '../validate/lint/lint.ts';
import { loadYaml } from '../yaml/load.ts';
import {
  isSettings,
  type ProjectFile,
  type ServedProject,
  type ServedRoster,
} from './workspace.ts';

/** Hosts that are compiled to find one that has an SLS. */
const mostHosts = 50;
/** The search ends after so many milliseconds. */
const longestSearch = 5000;
/** Checks until compiled texts are forgotten. */
const mostTexts = 200;

/** Grains and pillar of a host, for completion. */
export type KnownFacts = { readonly grains: PlainDict; readonly pillar: Dict };

/**
 * Checks documents as `validate` and `lint` check files. A document is compiled together with the
 * states of a host that has it by the top file, or alone.
 */
export class DocumentChecker {
  readonly #project: ServedProject;
  readonly #unsaved: ReadonlyMap<string, string>;
  readonly #hostOf = new Map<string, string | undefined>();
  readonly #searched = new Set<string>();
  #roster: Promise<ServedRoster> | undefined;
  #cache = new CompileCache();
  #facts: KnownFacts | undefined;
  #count = 0;

  /** @param unsaved the texts of open documents by absolute path; read at each check */
  constructor(project: ServedProject, unsaved: ReadonlyMap<string, string>) {
    this.#project = project;
    this.#unsaved = unsaved;
  }

  /** Grains and pillar of the host that was checked last. */
  get facts(): KnownFacts {
    return this.#facts ?? { grains: profileGrains(defaultProfile, 'host'), pillar: new Map() };
  }

  /** Forgets which hosts have which SLS: a file was saved. */
  refresh(): void {
    this.#hostOf.clear();
    this.#searched.clear();
    this.#roster = undefined;
    this.#cache = new CompileCache();
  }

  /** The findings in one document. */
  async check(file: ProjectFile): Promise<readonly Finding[]> {
    const { openRoster } = this.#project;
    if (!openRoster) return yamlOnly(this.#unsaved.get(file.path) ?? '', file.path);
    if (file.kind === 'other') return [];
    const text = this.#unsaved.get(file.path) ?? '';
    if (isSettings(file.kind))
      return (await this.#project.files?.check(file.kind, file.path, text)) ?? [];
    try {
      this.#roster ??= openRoster();
      const roster = await this.#roster;
      const found = await this.#checkIn(file, roster);
      return found.filter(({ at }) => at !== undefined && resolve(at.file) === file.path);
    } catch (error) {
      this.#roster = undefined;
      if (!(error instanceof TsaltError)) throw error;
      return [{ ...findingOfError('project', error), at: { file: file.path, line: 1 } }];
    }
  }

  async #checkIn(file: ProjectFile, roster: ServedRoster): Promise<readonly Finding[]> {
    const [first] = usable(roster);
    if (file.kind === 'pillar' || file.kind === 'pillar-top')
      return (await this.#compile(roster, first, [])).findings;
    if (file.kind === 'top') return (await this.#compile(roster, first, undefined)).findings;
    const key = nameKey(file.saltenv, file.name ?? '');
    const host = await this.#search(key, roster);
    if (host !== undefined) {
      const checked = await this.#compile(roster, host, undefined);
      if (checked.names.has(key)) return checked.findings;
      this.#hostOf.delete(key);
    }
    return (await this.#compile(roster, first, [file.name ?? ''])).findings;
  }

  /** Finds a host whose states include a file. Each host is compiled once until a file is saved. */
  async #search(key: string, roster: ServedRoster): Promise<string | undefined> {
    // Modules are read with the first host: that time does not count.
    let until = Number.POSITIVE_INFINITY;
    for (const id of usable(roster).slice(0, mostHosts)) {
      if (this.#hostOf.has(key) || Date.now() > until) break;
      if (this.#searched.has(id)) continue;
      this.#searched.add(id);
      await this.#compile(roster, id, undefined);
      until = Math.min(until, Date.now() + longestSearch);
    }
    return this.#hostOf.get(key);
  }

  async #compile(
    roster: ServedRoster,
    host: string | undefined,
    sls: readonly string[] | undefined,
  ): Promise<{ findings: readonly Finding[]; names: ReadonlySet<string> }> {
    const request = roster.requestFor(host);
    const linter = new Linter(request.config, this.#unsaved);
    const names = new Set<string>();
    this.#count += 1;
    // Each text that was ever typed has an entry.
    if (this.#count % mostTexts === 0) this.#cache = new CompileCache();
    const { findings } = await checkProject({
      request,
      roster: roster.hosts.filter(one => one.host.id === host),
      sls,
      grains: { kind: 'any' },
      answers: [],
      cache: this.#cache,
      unsaved: this.#unsaved,
      inspect: (checked, { grains }) => {
        this.#facts = { grains, pillar: checked.pillar };
        for (const name of namesOf(checked)) names.add(name);
        return checked.groups.flatMap(chunks => linter.states(chunks, checked.modules));
      },
    });
    // An include that was typed since the search counts as well.
    if (sls === undefined && host !== undefined)
      for (const name of names) if (!this.#hostOf.has(name)) this.#hostOf.set(name, host);
    return { findings: findings.all(), names };
  }
}

const usable = ({ hosts }: ServedRoster): string[] =>
  hosts.flatMap(({ host, fault }) => (fault ? [] : [host.id]));

const nameKey = (saltenv: string, sls: string): string => `${saltenv}\0${sls}`;

/** All SLS of a host, those that cannot be rendered as well. */
const namesOf = ({ trees }: HostCheck): string[] => {
  const names: string[] = [];
  type Loaded = HostCheck['trees'][number][number]['loaded'];
  const walk = (loaded: Loaded): void => {
    if (!('sls' in loaded)) return;
    names.push(nameKey(loaded.saltenv, loaded.sls));
    for (const one of loaded.includes) walk(one);
  };
  for (const tree of trees) for (const { loaded } of tree) walk(loaded);
  return names;
};

/** The syntax of a document without a template, where nothing may be rendered. */
const yamlOnly = (text: string, file: string): Finding[] => {
  if (/\{[{%#]/.test(text) || /^#!(?!yaml\b)/.test(text)) return [];
  try {
    loadYaml(text, { file });
    return [];
  } catch (error) {
    return [findingOfError('yaml', error)];
  }
};

/** The keys of a nested value, with `:` between; values are left out. */
export const nestedKeys = (value: unknown, most: number): string[] => {
  const keys: string[] = [];
  const walk = (one: unknown, above: string, depth: number): void => {
    const entries = one instanceof Map ? [...one] : isPlainDict(one) ? Object.entries(one) : [];
    for (const [key, below] of entries) {
      if (keys.length >= most) return;
      const path = above === '' ? String(key) : `${above}:${String(key)}`;
      keys.push(path);
      if (depth < 8) walk(below, path, depth + 1);
    }
  };
  walk(value, '', 0);
  return keys;
};
