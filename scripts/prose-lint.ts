// Finds prose that is hard to read, in comments, docs and test titles (CONTRIBUTING.md, "How we write"):
//   npm run prose              lines that were added since the branch left main, or are not committed
//   npm run prose -- --all     counts per kind over all files; --list prints each line
// A hit is a place to reread, so that a few are allowed; the exit code is 1 above that.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const kinds: Readonly<Record<string, RegExp>> = {
  'opens with a riddle (What/Who/Of a/The same/None …)':
    /^(what|who|whoever|whatever|whose|of (a|an|the|what|those|these)|the same|that which|none|nobody|somebody|another one|as \w+ as)\b/i,
  '"is no X" for "is not a"':
    /\b(is|are|was|were|be) (no|none) (?!longer\b|more\b|need\b|other way\b)[a-z]/i,
  'double genitive (of Salt’s, of theirs)':
    /\bof (\w+['’]s\b(?! (own )?\w)|theirs|its\b(?! \w)|ours|his\b(?! \w))/i,
  'archaic (anew, whoever, in vain, thereof, likewise, till)':
    /\b(anew|whoever|whomever|in vain|thereof|therein|hereby|likewise|till|nobody else)\b/i,
  'gives/tells/says/stands for returns/reports/is':
    /\b(gives?|gave|tells?|told|hears?|heard|stands? (in|at|there|here|for|as|below|above|beside))\b/i,
};

/** The part of the added lines that may be hits, and how many may be in any case. */
const share = 0.015;
const few = 3;

const isRead = (file: string): boolean =>
  /\.(?:ts|mts|js|mjs|cjs|md)$/.test(file) && !/^test\/(?:fixtures|golden\/cases)\//.test(file);

/** The prose of a line: a comment, a test title, or text of a document; empty if it has none. */
const proseOf = (file: string, line: string): string => {
  if (file.endsWith('.md')) {
    const isTable = /^\s*(?:\||```)/.test(line) && !/[a-z] [a-z]+ [a-z]/.test(line);
    return isTable ? '' : line.replace(/`[^`]*`/g, '``').replace(/^[\s|#>*-]+/, '');
  }
  const [, comment] = /^\s*(?:\/\*\*?|\*(?!\/)|\/\/)\s?(.*?)(?:\*\/)?\s*$/.exec(line) ?? [];
  if (comment !== undefined)
    return comment
      .replace(/^@(?:param|returns|throws|default)\s+\S+\s*/, '')
      .replace(/`[^`]*`/g, '``')
      .trim();
  return (
    /\b(?:test|it|describe)(?:\.\w+)*(?:\([^'"`]*\))?\(\s*['"`](.*?)['"`],/.exec(line)?.[1] ?? ''
  );
};

const git = (...args: string[]): string =>
  execFileSync('git', args, {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });

const tryGit = (...args: string[]): string | undefined => {
  try {
    return git(...args).trim();
  } catch {
    return undefined;
  }
};

type Line = { readonly file: string; readonly number: number; readonly text: string };

const allLines = (): Line[] =>
  git('ls-files')
    .split('\n')
    .filter(isRead)
    .flatMap(file =>
      readFileSync(file, 'utf8')
        .split('\n')
        .map((text, at) => ({ file, number: at + 1, text })),
    );

const addedLines = (): Line[] => {
  const trunk = ['origin/main', 'main'].find(name => tryGit('rev-parse', '--verify', '-q', name));
  const base = (trunk && tryGit('merge-base', 'HEAD', trunk)) ?? 'HEAD';
  const found: Line[] = [];
  let file = '';
  let number = 0;
  for (const line of (tryGit('diff', '-U0', '--no-ext-diff', base, '--') ?? '').split('\n')) {
    const to = /^\+\+\+ b\/(.*)/.exec(line);
    const at = /^@@ .*\+(\d+)/.exec(line);
    if (to) file = to[1] ?? '';
    else if (at) number = Number(at[1]);
    else if (line.startsWith('+') && isRead(file)) {
      found.push({ file, number, text: line.slice(1) });
      number += 1;
    }
  }
  return found;
};

const { values } = parseArgs({ options: { all: { type: 'boolean' }, list: { type: 'boolean' } } });
const lines = (values.all ? allLines() : addedLines())
  .map(line => ({ ...line, text: proseOf(line.file, line.text) }))
  .filter(({ text }) => /[a-z]{2}/i.test(text));
const hits = lines.flatMap(line => {
  const kind = Object.keys(kinds).find(name => kinds[name]?.test(line.text));
  return kind === undefined ? [] : [{ ...line, kind }];
});
const most = Math.max(few, share * lines.length);
if (values.list || (!values.all && hits.length > most))
  for (const { file, number, text } of hits)
    console.log(`${file}:${number}: ${text.slice(0, 140)}`);
if (values.all)
  for (const kind of Object.keys(kinds))
    console.log(`${hits.filter(hit => hit.kind === kind).length} ${kind}`);
if (values.all || hits.length > most)
  console.log(
    `${hits.length} of ${lines.length} lines of prose (${((100 * hits.length) / Math.max(1, lines.length)).toFixed(1)} %). Reread them: CONTRIBUTING.md, "How we write".`,
  );
process.exitCode = !values.all && hits.length > most ? 1 : 0;
