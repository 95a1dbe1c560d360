import { readFileSync, statSync } from 'node:fs';
import type { Config } from '../../config/config.ts';
import { FileRoots } from '../../fileserver/file-roots.ts';
import { shownPath } from '../../fileserver/shown-path.ts';
import type { SourceLocation } from '../../protocol/error.ts';

/** The rule about the project as a whole. */
export const unusedPillarRule = {
  id: 'unused-pillar',
  severity: 'note',
  why: 'No file of file_roots has the name of this key: it may be misspelt, or a leftover. Files that begin with a dot are not looked at.',
  bad: '# pillar/a.sls\nlisten_prot: 80\n',
  good: "# pillar/a.sls\nlisten_port: 80\n# states/a.sls\n# {{ pillar['listen_port'] }}\n",
} as const;

const largest = 1024 * 1024;

/** Keys that tsalt-ssh itself reads. */
const ownKeys = new Set(['include', 'mine_functions', 'schedule', 'beacons', 'master']);

/**
 * Finds keys at the start of a line in pillar files whose names no file of the file roots contains.
 */
export const unusedPillar = (
  config: Config,
): { readonly message: string; readonly at: SourceLocation & { readonly line: number } }[] => {
  const known = wordsOf(new FileRoots(config.file_roots, config));
  const pillar = new FileRoots(config.pillar_roots, config);
  return pillar.envs().flatMap(env =>
    pillar.list(env).flatMap(path => {
      if (!path.endsWith('.sls') || path === 'top.sls') return [];
      const full = pillar.find(path, env)?.path;
      const text = full && readText(full);
      if (!full || !text || isProgram(text)) return [];
      return text.split('\n').flatMap((line, index) => {
        const [, key] = /^([A-Za-z_][\w-]*):(\s|$)/.exec(line) ?? [];
        if (key === undefined || ownKeys.has(key) || known.has(key)) return [];
        const message = `Nothing reads the pillar key '${key}'`;
        return [{ message, at: { file: shownPath(full), line: index + 1, column: 1 } }];
      });
    }),
  );
};

/** Whether a file is not YAML, or passes on everything below a key. */
const isProgram = (text: string): boolean =>
  /^#!.*\b(ts|js|py|pydsl|mako|wempy|json5?|toml)\b/.test(text);

const wordsOf = (roots: FileRoots): ReadonlySet<string> => {
  const words = new Set<string>();
  for (const env of roots.envs())
    for (const path of roots.list(env)) {
      const full = roots.find(path, env)?.path;
      const text = full && readText(full);
      if (text) for (const [word] of text.matchAll(/[A-Za-z_][\w-]*/g)) addParts(words, word);
    }
  return words;
};

/** `a-b` may be a key or a subtraction of two. */
const addParts = (words: Set<string>, word: string): void => {
  words.add(word);
  if (word.includes('-')) for (const part of word.split('-')) words.add(part);
};

const readText = (path: string): string | undefined => {
  try {
    return statSync(path).size > largest ? undefined : readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};
