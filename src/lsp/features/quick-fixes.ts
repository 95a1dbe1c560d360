import { closestMatch } from '../../data/closest-match.ts';
import type { Finding } from '../../validate/findings.ts';
import { lintRules } from '../../validate/lint/rules.ts';
import type { TextSpan } from '../text/scan-lines.ts';

/** A change of one line that an editor offers for a finding. */
export type QuickFix = {
  readonly title: string;
  readonly span: TextSpan;
  readonly text: string;
  /** It is what `lint --fix` does: it may be applied with all others. */
  readonly isSafe: boolean;
};

/** The changes that mend a finding: the rule's own, the word that was meant, or no rule for the line. */
export const quickFixes = (finding: Finding, lines: readonly string[]): QuickFix[] => {
  const line = (finding.at?.line ?? 0) - 1;
  const text = lines[line];
  if (text === undefined) return [];
  return [
    ...ruleFix(finding, line, text),
    ...meantFix(finding, line, text),
    ...offFix(finding, line, text),
  ];
};

const ruleFix = ({ fixed, rule }: Finding, line: number, text: string): QuickFix[] =>
  fixed === undefined
    ? []
    : [
        {
          title: `Correct ${rule}: ${fixed.trim()}`,
          span: { line, from: 0, to: text.length },
          text: fixed,
          isSafe: true,
        },
      ];

/** `'nmae' is … (did you mean 'name'?)`: replaces the word that the message quotes. */
const meantFix = ({ message, hint = '' }: Finding, line: number, text: string): QuickFix[] => {
  const whole = `${message}\n${hint}`;
  const meant = /\bdid you mean '([^'\n]+)'/i.exec(whole)?.[1];
  if (meant === undefined) return [];
  for (const [, word = ''] of whole.matchAll(/(?<!\w)'([^'\n]+)'/g)) {
    const from = wordIn(text, word);
    if (word === meant || from === undefined || closestMatch(word, [meant]) === undefined) continue;
    const span = { line, from, to: from + word.length };
    return [{ title: `Change to '${meant}'`, span, text: meant, isSafe: false }];
  }
  return [];
};

const wordIn = (text: string, word: string): number | undefined => {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!/[\w.]/.test(text[at - 1] ?? '') && !/[\w]/.test(text[at + word.length] ?? '')) return at;
  return undefined;
};

const offFix = ({ rule }: Finding, line: number, text: string): QuickFix[] => {
  if (!lintRules.has(rule)) return [];
  const indent = /^\s*/.exec(text)?.[0] ?? '';
  return [
    {
      title: `Switch ${rule} off for this line`,
      span: { line, from: 0, to: 0 },
      text: `${indent}# tsalt-lint: disable=${rule}\n`,
      isSafe: false,
    },
  ];
};
