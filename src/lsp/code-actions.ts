import {
  type CodeAction,
  CodeActionKind,
  type CodeActionParams,
  type Diagnostic,
  type TextEdit,
} from 'vscode-languageserver/node';
import type { QuickFix } from './features/quick-fixes.ts';
import { rangeOf } from './wire-forms.ts';

/** A change that corrects a finding. */
export type OfferedFix = { readonly fix: QuickFix; readonly diagnostic: Diagnostic };

/** All that `lint --fix` would change in a document. */
export const fixAll = 'source.fixAll.tsalt-ssh';

/** The fixes of a document that an editor asks for: those of its lines, and all at once. */
export const codeActions = (
  all: readonly OfferedFix[],
  { textDocument: { uri }, range, context: { only } }: CodeActionParams,
): CodeAction[] => {
  const isRequested = (kind: string): boolean =>
    only === undefined || only.some(one => kind === one || kind.startsWith(`${one}.`));
  const near = all.filter(
    ({ fix: { span } }) => range.start.line <= span.line && span.line <= range.end.line,
  );
  const actions: CodeAction[] = isRequested(CodeActionKind.QuickFix)
    ? near.map(({ fix, diagnostic }) => ({
        title: fix.title,
        kind: CodeActionKind.QuickFix,
        diagnostics: [diagnostic],
        isPreferred: fix.isSafe,
        edit: { changes: { [uri]: [textEdit(fix)] } },
      }))
    : [];
  const safe = [
    ...new Map(
      all.flatMap(({ fix }) => (fix.isSafe ? [[fix.span.line, textEdit(fix)] as const] : [])),
    ).values(),
  ];
  if (safe.length > 0 && isRequested(fixAll) && (only !== undefined || safe.length > 1))
    actions.push({
      title: `Correct all that lint can correct (${safe.length})`,
      kind: fixAll,
      edit: { changes: { [uri]: safe } },
    });
  return actions;
};

const textEdit = ({ span, text }: QuickFix): TextEdit => ({ range: rangeOf(span), newText: text });
