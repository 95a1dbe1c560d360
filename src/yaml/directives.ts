import type { YamlSource } from './yaml-error.ts';

const beforeDirective = /(?:[ \t]*(?:#[^\r\n]*)?(?:\r\n|[\r\n]))+/y;
const directive = /%(\S*)(?:[ \t]+(\S+))?[^\r\n]*(?:\r\n|[\r\n]|$)/y;

/** Refuses `%` lines that libyaml refuses and js-yaml ignores. */
export const checkDirectives = (source: YamlSource): void => {
  const { text } = source;
  for (let at = 0; ; ) {
    at = matchEnd(beforeDirective, text, at) ?? at;
    if (text.charCodeAt(at) !== 0x25) return;
    directive.lastIndex = at;
    const [line = '', name, version = ''] = directive.exec(text) ?? [];
    if (name !== 'YAML' && name !== 'TAG')
      throw source.fault('yaml-syntax', 'found unknown directive name', at);
    if (name === 'YAML' && /^\d+\.\d+$/.test(version) && !/^1\.[12]$/.test(version))
      throw source.fault('yaml-syntax', 'found incompatible YAML document', at);
    at += line.length;
  }
};

const matchEnd = (pattern: RegExp, text: string, at: number): number | undefined => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
};
