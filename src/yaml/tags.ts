import type { DocumentEvent } from 'js-yaml';
import { tagPrefix } from './node.ts';
import type { YamlSource } from './yaml-error.ts';

/** Resolves the tag of a node: `!!str`, `!suffix`, `!handle!suffix`, `!<tag>`. */
export const resolveTag = (
  source: YamlSource,
  written: string,
  directives: DocumentEvent['directives'],
  at: number,
): string => {
  if (written === '!') return '!';
  const [, verbatim] = /^!<(.*)>$/.exec(written) ?? [];
  if (verbatim !== undefined) return decoded(source, verbatim, at);
  const [handle = '!'] = /^![\w-]*!/.exec(written) ?? [];
  const suffix = written.slice(handle.length);
  return prefixOf(handle, directives) + decoded(source, suffix, at);
};

const prefixOf = (handle: string, directives: DocumentEvent['directives']): string => {
  for (const directive of directives)
    if (directive.kind === 'tag' && directive.handle === handle) return directive.prefix;
  return handle === '!!' ? tagPrefix : handle;
};

/** Decodes the `%xx` of UTF-8 bytes. */
const decoded = (source: YamlSource, uri: string, at: number): string => {
  if (!uri.includes('%')) return uri;
  try {
    return decodeURIComponent(uri);
  } catch {
    throw source.fault('yaml-syntax', 'did not find URI escaped octet', at);
  }
};
