import type { Problem } from '../compiler/problem.ts';
import { explained } from '../compiler/problem.ts';
import { excerptAt } from '../data/values/position.ts';
import { type SourceLocation, TsaltError } from '../protocol/error.ts';

/** The severity of a finding: only errors make a check fail. */
export type Severity = 'error' | 'warning' | 'note';

/** One mistake, or something that could not be checked. */
export type Finding = {
  /** The rule's id, as `unknown-argument`. */
  readonly rule: string;
  readonly severity: Severity;
  /** One sentence or Salt's text, without the place. */
  readonly message: string;
  readonly at?: SourceLocation | undefined;
  readonly hint?: string | undefined;
  /** The lines around the place, ready to print. */
  readonly excerpt?: string | undefined;
  /** The line at the place as it should be, where that is safe to say. */
  readonly fixed?: string | undefined;
};

/** A finding with the hosts that have it. Empty: it is about the project itself. */
export type HostFinding = Finding & { readonly hosts: readonly string[] };

/** Collects findings; those of several hosts that are alike become one. */
export class Findings {
  readonly #known = new Map<string, { finding: Finding; hosts: Set<string> }>();

  /** @param host the host that has it, if it is not about the project itself */
  add(finding: Finding, host?: string): void {
    const { rule, message, at } = finding;
    const key = JSON.stringify([rule, message, at?.file, at?.line, at?.column]);
    const known = this.#known.get(key) ?? { finding, hosts: new Set<string>() };
    if (host !== undefined) known.hosts.add(host);
    this.#known.set(key, known);
  }

  /** Returns all findings by file and line; those without a position come first. */
  all(): HostFinding[] {
    return [...this.#known.values()]
      .map(({ finding, hosts }) => ({ ...finding, hosts: [...hosts] }))
      .sort(
        (a, b) =>
          compare(a.at?.file ?? '', b.at?.file ?? '') ||
          (a.at?.line ?? 0) - (b.at?.line ?? 0) ||
          (a.at?.column ?? 0) - (b.at?.column ?? 0),
      );
  }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** A problem of the compiler as a finding. */
export const findingOf = (rule: string, one: Problem, severity: Severity = 'error'): Finding => ({
  rule,
  severity,
  message: one.sentence ?? one.message,
  ...(one.at ? { at: one.at } : {}),
  ...(one.hint === undefined ? {} : { hint: one.hint }),
  ...(one.excerpt === undefined ? {} : { excerpt: one.excerpt }),
});

/** An error that ended a part of the check as a finding. Other errors are thrown again. */
export const findingOfError = (rule: string, error: unknown): Finding => {
  if (!(error instanceof TsaltError) || error.kind === 'internal') throw error;
  const { message, at, hint, excerpt } = error;
  return {
    rule,
    severity: 'error',
    message,
    ...(at ? { at } : {}),
    ...(hint === undefined ? {} : { hint }),
    ...(excerpt === undefined ? {} : { excerpt }),
  };
};

/** A finding at a place, with the lines around it where the text is known. */
export const findingAt = (
  finding: Omit<Finding, 'excerpt' | 'at'>,
  at: SourceLocation | undefined,
): Finding => {
  const excerpt = at && excerptAt(at, 1);
  return { ...finding, ...(at ? { at } : {}), ...(excerpt === undefined ? {} : { excerpt }) };
};

/** A finding as people read it: sentence, place, excerpt, hint. */
export const findingText = ({ message, at, hint, excerpt }: Finding): string =>
  explained({ message, at, hint, excerpt });
