import type { Config } from '../../config/config.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { keyLocation } from '../../data/values/read.ts';
import { isDict } from '../../data/values/value.ts';
import { type SourceLocation, TsaltError } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import { type Finding, findingAt, type Severity } from '../findings.ts';
import { hitLocation, LintRun } from './rule.ts';
import { lintRules } from './rules.ts';
import { SourceFiles } from './source-files.ts';
import { unusedPillar, unusedPillarRule } from './unused-pillar.ts';

/** A rule's severity, or `off`. */
type LintLevel = Severity | 'off';

const levels: readonly LintLevel[] = ['error', 'warning', 'note', 'off'];

type Fix = { readonly at: SourceLocation; readonly text: string };

/** Looks for probable mistakes in compiled states, by the rules that the configuration leaves on. */
export class Linter {
  readonly #levels: ReadonlyMap<string, LintLevel>;
  readonly #config: Config;
  readonly #files: SourceFiles;
  readonly #fixes = new Map<string, Fix>();
  /** Hosts with the same SLS have the same findings. */
  readonly #known = new WeakMap<LowChunk, { count: number; findings: readonly Finding[] }>();

  /**
   * @param unsaved texts of an editor that are read instead of files, by absolute path
   * @throws TsaltError `lint-rule` for a rule of `tsalt.yaml` that does not exist
   */
  constructor(config: Config, unsaved?: ReadonlyMap<string, string>) {
    this.#config = config;
    this.#files = new SourceFiles(unsaved);
    this.#levels = levelsOf(config);
  }

  /** The findings in the states of a host. */
  states(chunks: readonly LowChunk[], modules: readonly ModuleMeta[]): readonly Finding[] {
    const [first] = chunks;
    const known = first && this.#known.get(first);
    if (known?.count === chunks.length) return known.findings;
    const run = new LintRun(chunks, modules, this.#files);
    const findings = chunks.flatMap(chunk => this.#state(chunk, run));
    if (first) this.#known.set(first, { count: chunks.length, findings });
    return findings;
  }

  #state(chunk: LowChunk, run: LintRun): Finding[] {
    const findings: Finding[] = [];
    for (const [rule, { severity, find }] of lintRules) {
      const level = this.#levels.get(rule) ?? severity;
      if (level === 'off') continue;
      for (const { message, argument, fix } of find(chunk, run)) {
        const at = hitLocation(chunk, argument);
        if (at && this.#files.isDisabled(rule, at.file, at.line)) continue;
        const line = at?.line === undefined ? undefined : this.#files.lines(at.file)?.[at.line - 1];
        const text = fix && line !== undefined ? fix(line) : undefined;
        if (at && text !== undefined)
          this.#fixes.set(`${at.file}:${at.line} ${rule}`, { at, text });
        const sentence = `${message}, in ID '${chunk.__id__}' of SLS '${chunk.__sls__}'`;
        const fixed = text === undefined ? {} : { fixed: text };
        findings.push(findingAt({ rule, severity: level, message: sentence, ...fixed }, at));
      }
    }
    return findings;
  }

  /** The findings in the project as a whole. */
  project(): Finding[] {
    const level = this.#levels.get(unusedPillarRule.id) ?? unusedPillarRule.severity;
    if (level === 'off') return [];
    return unusedPillar(this.#config).flatMap(({ message, at }) =>
      this.#files.isDisabled(unusedPillarRule.id, at.file, at.line)
        ? []
        : [findingAt({ rule: unusedPillarRule.id, severity: level, message }, at)],
    );
  }

  /** Corrects what can be corrected safely. @returns the number of lines that were changed */
  fix(): number {
    for (const { at, text } of this.#fixes.values())
      if (at.line !== undefined) this.#files.replace(at.file, at.line, text);
    return this.#fixes.size;
  }
}

/** `lint: {disable: [ID, …], severity: {ID: note}}` of `tsalt.yaml`. */
const levelsOf = ({ options, file = 'tsalt.yaml' }: Config): Map<string, LintLevel> => {
  const lint = options.get('lint') ?? null;
  const found = new Map<string, LintLevel>();
  if (lint === null) return found;
  const disable = isDict(lint) ? (lint.get('disable') ?? []) : null;
  const severity = isDict(lint) ? (lint.get('severity') ?? new Map()) : null;
  if (!isDict(lint) || !Array.isArray(disable) || !isDict(severity))
    throw new TsaltError('lint-shape', "'lint' must be a mapping of disable and severity.", {
      at: { file },
      hint: 'lint: {disable: [pkg-latest], severity: {cmd-wait: error}}',
    });
  const check = (id: string, at: SourceLocation): string => {
    if (id === unusedPillarRule.id || lintRules.has(id)) return id;
    const meant = closestMatch(id, [...lintRules.keys(), unusedPillarRule.id]);
    throw new TsaltError('lint-rule', `There is no lint rule '${id}'.`, {
      at,
      hint:
        meant === undefined
          ? 'docs/reference/lint-rules.md lists them.'
          : `Did you mean '${meant}'?`,
    });
  };
  for (const id of disable) found.set(check(String(id), keyLocation(file, lint, 'disable')), 'off');
  for (const [id, level] of severity) {
    const at = keyLocation(file, severity, id);
    const name = levels.find(one => one === level || (one === 'off' && level === false));
    if (name === undefined)
      throw new TsaltError(
        'lint-level',
        `The severity of '${id}' must be one of ${levels.join(', ')}.`,
        {
          at,
        },
      );
    found.set(check(String(id), at), name);
  }
  return found;
};
