import { templateParts } from '../template-parts.ts';

const pureId =
  /^\{\{[-+]?\s*(?:(?:grains|opts)(?:\.id|\[(?:'id'|"id")\])|grains\.get\((?:'id'|"id")\)|salt(?:\['grains\.get'\]|\["grains\.get"\]|\.grains\.get)\((?:'id'|"id")\))\s*[-+]?\}\}$/;

/** Statements whose output becomes a value that the template can look at. */
const captures = /^\{%[-+]?\s*(?:set\s+[\w.]+\s*(?:\||[-+]?%\})|macro|call|filter|capture|load_)/;

/** Grains and options by a name that is written out. */
const named =
  /\b(?:grains|opts)(?:\.(?!get\b)\w+|\.get\((?:'[^']*'|"[^"]*")|\[(?:'[^']*'|"[^"]*")\])|\bsalt(?:\['grains\.\w+'\]|\["grains\.\w+"\]|\.grains\.\w+)/g;

/**
 * Whether a template does nothing with the ID of the host but print it as it is: for another host
 * it prints the same text with the other ID.
 *
 * @param imported the texts of the files that it imports
 */
export const onlyPrintsId = (text: string, imported: readonly string[]): boolean => {
  const codes = codesOf(text);
  const others = codes.filter(code => !pureId.test(code));
  if (others.length < codes.length && others.some(code => captures.test(code))) return false;
  return ![...others, ...imported.flatMap(codesOf)].some(mayUseId);
};

/** By text: all hosts have the same templates. */
const knownCodes = new Map<string, readonly string[]>();
const mostKnown = 4000;

const codesOf = (text: string): readonly string[] => {
  const known = knownCodes.get(text);
  if (known) return known;
  const codes = templateParts(text)
    .filter(({ kind }) => kind !== 'comment')
    .map(({ start, end }) => text.slice(start, end));
  if (knownCodes.size >= mostKnown) knownCodes.clear();
  knownCodes.set(text, codes);
  return codes;
};

const mayUseId = (code: string): boolean =>
  /\bid\b/.test(code) || /\b(?:grains|opts)\b/.test(code.replaceAll(named, ''));
