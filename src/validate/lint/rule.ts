import { argumentLocation, stateLocation } from '../../compiler/chunks.ts';
import type { SourceLocation } from '../../protocol/error.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { FunctionMeta, ModuleMeta } from '../../protocol/meta.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import type { Severity } from '../findings.ts';
import type { SourceFiles } from './source-files.ts';

/** A pattern of states that compile but are probably wrong. */
export type LintRule = {
  readonly id: string;
  readonly severity: Severity;
  /** The problem and its solution, for the reference page. */
  readonly why: string;
  /** An SLS with the mistake, and the same without it. */
  readonly bad: string;
  readonly good: string;
  readonly find: (chunk: LowChunk, run: LintRun) => readonly LintHit[];
};

export type LintHit = {
  /** One sentence, without ID, SLS and place. */
  readonly message: string;
  /** The argument concerned; absent for the whole state. */
  readonly argument?: string;
  /** Returns the corrected line of the file; undefined if the line has another form. */
  readonly fix?: (line: string) => string | undefined;
};

/** The states of one host, for rules that compare them. */
export class LintRun {
  readonly chunks: readonly LowChunk[];
  readonly files: SourceFiles;
  readonly #functions = new Map<string, FunctionMeta>();
  readonly #hooks = new Set<string>();
  readonly #named = new Map<string, LowChunk[]>();

  constructor(chunks: readonly LowChunk[], modules: readonly ModuleMeta[], files: SourceFiles) {
    this.chunks = chunks;
    this.files = files;
    for (const module of modules) {
      if (module.kind !== 'state') continue;
      const name = module.virtualname ?? module.file;
      for (const fun of module.functions) this.#functions.set(`${name}.${fun.name}`, fun);
      for (const hook of module.hooks ?? []) this.#hooks.add(`${name}.${hook.name}`);
    }
    for (const chunk of chunks)
      for (const name of new Set([chunk.__id__, chunk.name])) {
        const key = `${chunk.state}\0${name}`;
        this.#named.set(key, [...(this.#named.get(key) ?? []), chunk]);
      }
  }

  functionOf({ state, fun }: LowChunk): FunctionMeta | undefined {
    return this.#functions.get(`${state}.${fun}`);
  }

  /** Whether a module of states reacts to `watch`. Unknown modules may. */
  reacts({ state, fun }: LowChunk): boolean {
    return this.#hooks.has(`${state}.mod_watch`) || !this.#functions.has(`${state}.${fun}`);
  }

  /** The states of a module that a requisite names. */
  named(module: string, name: string): readonly LowChunk[] {
    return this.#named.get(`${module}\0${name}`) ?? [];
  }

  /** The states that requisites of these kinds name. */
  required(chunk: LowChunk, kinds: readonly string[]): LowChunk[] {
    return kinds.flatMap(kind =>
      namedRequisites(chunk, kind).flatMap(([module, name]) => this.named(module, name)),
    );
  }

  /** The line of a file that an argument, or a state, is written in. */
  lineOf(chunk: LowChunk, argument?: string): string | undefined {
    const at = hitLocation(chunk, argument);
    return at?.line === undefined ? undefined : this.files.lines(at.file)?.[at.line - 1];
  }

  /** Whether the state itself sets an argument, and not another state or the compiler. */
  isOwn(chunk: LowChunk, argument: string): boolean {
    return this.lineOf(chunk, argument)?.includes(`${argument}:`) === true;
  }

  /** Whether an argument is literal: no template computes its line. */
  isLiteral(chunk: LowChunk, argument: string): boolean {
    const line = this.lineOf(chunk, argument);
    return line !== undefined && !/\{[{%]/.test(line);
  }
}

/** Where a hit is written. */
export const hitLocation = (chunk: LowChunk, argument?: string): SourceLocation | undefined =>
  (argument === undefined ? undefined : argumentLocation(chunk, argument)) ?? stateLocation(chunk);

/** The requisites of a kind as module and name. */
export const namedRequisites = (
  chunk: LowChunk,
  kind: string,
): [module: string, name: string][] => {
  const list = chunk[kind];
  if (!Array.isArray(list)) return [];
  return list.flatMap(item =>
    isPlainDict(item)
      ? Object.entries(item).map(([module, name]): [string, string] => [module, String(name)])
      : [],
  );
};

/** Whether a chunk is of one of these functions, `cmd.run` or `cmd.*`. */
export const isOneOf = ({ state, fun }: LowChunk, names: readonly string[]): boolean =>
  names.includes(`${state}.${fun}`) || names.includes(`${state}.*`);

export const isGiven = (value: Plain | undefined): boolean => value !== undefined && value !== null;

export const argumentText = (value: Plain | undefined): string =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
