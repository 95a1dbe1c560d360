/**
 * Values that a template engine prints must stay plain text for the engines after it: in
 * `jinja|mako|yaml` a grain that contains `${…}` must not become a Mako expression. If further
 * engines follow, special characters in printed values are replaced by stand-ins; the pipe restores
 * the characters after the last engine.
 */
const special = '$%{}#<\\=';
const base = 0xf8a0;

export const escapePrinted = (text: string): string =>
  text.replace(/[$%{}#<\\=]/g, char => String.fromCharCode(base + special.indexOf(char)));

export const unguard = (text: string): string =>
  text.replace(/[\uf8a0-\uf8a7]/g, char => special.charAt(char.charCodeAt(0) - base));
