/**
 * Text that a template engine prints must stay text for the engines behind it: in
 * `jinja|mako|yaml` a grain that holds `${…}` is no Mako expression. While further engines
 * follow, printed values carry stand-ins for the characters that mean something to them;
 * the pipe puts the characters back after the last engine.
 */
const special = '$%{}#<\\=';
const base = 0xf8a0;

export const guard = (text: string): string =>
  text.replace(/[$%{}#<\\=]/g, char => String.fromCharCode(base + special.indexOf(char)));

export const unguard = (text: string): string =>
  text.replace(/[\uf8a0-\uf8a7]/g, char => special.charAt(char.charCodeAt(0) - base));
