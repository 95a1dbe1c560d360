import {
  type Diagnostic,
  DiagnosticSeverity,
  type DocumentSymbol,
  type Location,
  type SignatureHelp,
  type SignatureHelpClientCapabilities,
  SymbolKind,
  type TextEdit,
} from 'vscode-languageserver/node';
import type { Finding, Severity } from '../validate/findings.ts';
import type { RenameEdit } from './features/rename.ts';
import type { ShownSignature } from './features/signature.ts';
import type { OutlineSymbol } from './features/symbols.ts';
import type { TextSpan } from './text/scan-lines.ts';
import { templateTokens, templateTokenTypes } from './text/template-tokens.ts';

/** A span as the protocol has it. */
export const rangeOf = ({ line, from, to }: TextSpan): Location['range'] => ({
  start: { line, character: from },
  end: { line, character: to },
});

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  note: DiagnosticSeverity.Information,
};

/** A finding as the protocol has it: from its place to the end of the line. */
export const diagnosticOf = (
  { rule, severity, message, hint, at }: Finding,
  lines: readonly string[],
): Diagnostic => {
  const line = Math.min(Math.max(0, (at?.line ?? 1) - 1), lines.length - 1);
  const text = lines[line] ?? '';
  const indent = text.length - text.trimStart().length;
  const from = Math.min(at?.column === undefined ? indent : at.column - 1, text.length);
  const to = Math.max(from, text.trimEnd().length);
  return {
    range: rangeOf({ line, from, to }),
    severity: severities[severity],
    code: rule,
    source: 'tsalt-ssh',
    message: hint === undefined ? message : `${message}\n${hint}`,
  };
};

const symbolKinds: Readonly<Record<OutlineSymbol['kind'], SymbolKind>> = {
  id: SymbolKind.Class,
  state: SymbolKind.Method,
  macro: SymbolKind.Function,
  variable: SymbolKind.Variable,
};

/** An entry of the outline as the protocol has it. */
export const symbolOf = (one: OutlineSymbol, lines: readonly string[]): DocumentSymbol => ({
  name: one.name || '""',
  detail: one.detail,
  kind: symbolKinds[one.kind],
  range: {
    start: { line: one.span.line, character: 0 },
    end: { line: one.end, character: lines[one.end]?.length ?? 0 },
  },
  selectionRange: rangeOf(one.span),
  children: one.children.map(child => symbolOf(child, lines)),
});

/** The parts of signatures that an editor can show; old editors do not send them. */
export type SignatureForms = SignatureHelpClientCapabilities['signatureInformation'];

/**
 * Signatures as the protocol has them. One that has the written argument comes forward: the one
 * that the user looks at, if possible.
 */
export const signatureHelpOf = (
  shown: readonly ShownSignature[],
  forms: SignatureForms,
  before: SignatureHelp | undefined,
): SignatureHelp | undefined => {
  const chosen = before?.signatures[before.activeSignature ?? 0]?.label;
  const fit = shown.filter(({ active }) => active !== undefined);
  const own = fit.length > 0 ? fit : shown;
  const first = own.find(({ label }) => label === chosen) ?? own[0];
  if (!first) return undefined;
  const signatures = shown.map(({ label, doc, params }) => ({
    label,
    ...(doc === undefined ? {} : { documentation: markdown(doc) }),
    parameters: params.map(({ from, to, doc: text }) => ({
      label: forms?.parameterInformation?.labelOffsetSupport
        ? ([from, to] as [number, number])
        : label.slice(from, to),
      ...(text === undefined ? {} : { documentation: markdown(text) }),
    })),
  }));
  // Editors take a number without a parameter for none, or for the first one.
  const none = forms?.noActiveParameterSupport ? null : first.params.length;
  return {
    signatures,
    activeSignature: shown.indexOf(first),
    activeParameter: first.active ?? none,
  };
};

const markdown = (value: string) => ({ kind: 'markdown' as const, value });

/** The changes of a rename by file. */
export const changesOf = (
  edits: readonly RenameEdit[],
  uriOf: (path: string) => string,
): Record<string, TextEdit[]> => {
  const changes: Record<string, TextEdit[]> = {};
  for (const { path, span, text } of edits) {
    const uri = uriOf(path);
    const edit = { range: rangeOf(span), newText: text };
    changes[uri] = [...(changes[uri] ?? []), edit];
  }
  return changes;
};

/** The tokens of templates as numbers, each relative to the one before it. */
export const tokenData = (text: string): number[] => {
  let line = 0;
  let from = 0;
  return templateTokens(text).flatMap(token => {
    const lines = token.line - line;
    const column = lines === 0 ? token.from - from : token.from;
    line = token.line;
    from = token.from;
    return [lines, column, token.length, templateTokenTypes.indexOf(token.type), 0];
  });
};
