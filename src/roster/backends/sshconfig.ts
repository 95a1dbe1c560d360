import { readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Dict } from '../../data/values/value.ts';
import { checkTrusted } from '../../trust/check.ts';
import { isId } from '../address.ts';
import type { BackendHosts, Entry } from '../roster.ts';
import { readRosterFile } from './flat.ts';

/** A `Host` (or `Match`) section: its patterns and what it sets, in order. */
export type Section = {
  readonly patterns: readonly string[];
  readonly settings: (readonly [string, string])[];
  readonly file: string;
  readonly line: number;
};

/**
 * An OpenSSH client configuration as a roster: every `Host` name without wildcards. The first
 * value of an option counts, as in ssh_config(5); `Match` sections but `Match all` are left to
 * ssh itself.
 */
export const sshconfig = async (file: string): Promise<BackendHosts> => {
  const path = file === '' ? join(homedir(), '.ssh', 'config') : file;
  const sections = parseSshConfig(await readRosterFile(path), path);
  const sectionsOf = sectionFinder(sections);
  const entries = new Map<string, Entry>();
  for (const section of sections)
    for (const name of section.patterns)
      if (!/[*?!]/.test(name) && isId(name) && !entries.has(name))
        entries.set(name, {
          id: name,
          value: settingsOf(name, sectionsOf(name)),
          file: path,
          at: { file: section.file, line: section.line },
        });
  return { entries: [...entries.values()] };
};

/**
 * Returns a function that finds the sections of a name, in order. Of thousands of sections, most
 * have a single name.
 */
const sectionFinder = (sections: readonly Section[]): ((name: string) => Section[]) => {
  const byName = new Map<string, number[]>();
  const wide: (readonly [number, (name: string) => boolean])[] = [];
  for (const [index, { patterns }] of sections.entries()) {
    if (patterns.some(pattern => /[*?!]/.test(pattern))) wide.push([index, nameTest(patterns)]);
    else
      for (const pattern of new Set(patterns.map(one => one.toLowerCase()))) {
        const known = byName.get(pattern);
        if (known) known.push(index);
        else byName.set(pattern, [index]);
      }
  }
  return name => {
    const own = byName.get(name.toLowerCase()) ?? [];
    const found = [...own, ...wide.filter(([, test]) => test(name)).map(([index]) => index)];
    return found.sort((a, b) => a - b).flatMap(index => sections[index] ?? []);
  };
};

/** Roster keys for one name. */
const settingsOf = (name: string, sections: readonly Section[]): Dict => {
  const first = new Map<string, string>();
  for (const { settings } of sections)
    for (const [key, value] of settings) if (!first.has(key)) first.set(key, value);
  const host = (first.get('hostname') ?? name).replaceAll('%h', name).replaceAll('%%', '%');
  const dict: Dict = new Map([['host', host]]);
  const set = (key: string, option: string): void => {
    const value = first.get(option);
    if (value !== undefined) dict.set(key, value);
  };
  set('user', 'user');
  set('port', 'port');
  set('proxy_jump', 'proxyjump');
  const key = first.get('identityfile');
  if (key !== undefined && !/%[^%dhu]/.test(key)) dict.set('priv', key.replaceAll('%d', homedir()));
  const only = first.get('identitiesonly')?.toLowerCase();
  if (only === 'yes' || only === 'no') dict.set('identities_only', only === 'yes');
  return dict;
};

const maxDepth = 16;

/** Returns sections in order of precedence; `Include` is expanded in place. */
export const parseSshConfig = (text: string, file: string, depth = 0): Section[] => {
  const sections: Section[] = [{ patterns: ['*'], settings: [], file, line: 1 }];
  for (const [at, line] of text.split('\n').entries()) {
    const [, word = '', rest = ''] = /^\s*([A-Za-z]+)(?:\s*=\s*|\s+)(.*?)\s*$/.exec(line) ?? [];
    const key = word.toLowerCase();
    const values = words(rest);
    const here = { file, line: at + 1 };
    if (key === 'host') sections.push({ patterns: values, settings: [], ...here });
    else if (key === 'match')
      sections.push({
        patterns: values.join(' ').toLowerCase() === 'all' ? ['*'] : [],
        settings: [],
        ...here,
      });
    else if (key === 'include' && depth < maxDepth) {
      const outer = sections.at(-1)?.patterns ?? ['*'];
      sections.push(...values.flatMap(path => included(path, file, depth)));
      sections.push({ patterns: outer, settings: [], ...here });
    } else if (key !== '' && values[0] !== undefined)
      sections.at(-1)?.settings.push([key, values[0]]);
  }
  return sections;
};

const words = (text: string): string[] =>
  [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(match => match[1] ?? match[2] ?? '');

const included = (path: string, from: string, depth: number): Section[] => {
  const full = path.startsWith('~/')
    ? join(homedir(), path.slice(2))
    : isAbsolute(path)
      ? path
      : join(dirname(from), path);
  return expand(full).flatMap(file => {
    checkTrusted(file, 'The ssh configuration');
    try {
      return parseSshConfig(readFileSync(file, 'utf8'), file, depth + 1);
    } catch {
      return [];
    }
  });
};

/** A path whose last part may have wildcards. */
const expand = (path: string): string[] => {
  if (!/[*?]/.test(basename(path))) return [path];
  try {
    const fits = patternTest(basename(path));
    return readdirSync(dirname(path))
      .filter(name => !name.startsWith('.') && fits(name))
      .sort()
      .map(name => join(dirname(path), name));
  } catch {
    return [];
  }
};

const nameTest = (patterns: readonly string[]): ((name: string) => boolean) => {
  const wanted = patterns.filter(pattern => !pattern.startsWith('!')).map(patternTest);
  const denied = patterns
    .filter(pattern => pattern.startsWith('!'))
    .map(pattern => patternTest(pattern.slice(1)));
  return name => wanted.some(test => test(name)) && !denied.some(test => test(name));
};

const patternTest = (pattern: string): ((name: string) => boolean) => {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.');
  const regex = new RegExp(`^${source}$`, 'i');
  return name => regex.test(name);
};
