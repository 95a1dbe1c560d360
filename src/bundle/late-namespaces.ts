/** The functions that esbuild puts in front of a minified bundle. */
const exporter =
  /([\w$]+)=\(([\w$]+),([\w$]+)\)=>\{for\(var ([\w$]+) in \3\)[\w$]+\(\2,\4,\{get:\3\[\4\],enumerable:!0\}\)\}/;
const converter = /([\w$]+)=([\w$]+)=>([\w$]+)\([\w$]+\(\{\},"__esModule",\{value:!0\}\),\2\)/;

/** What the two call instead. */
const exportNames = 'tsaltExports';
const asCommonJs = 'tsaltCommonJs';
const head = `var {${exportNames},${asCommonJs}}=(()=>{
class Late{constructor(names){this.names=names}}
const made=new Map,define=Object.defineProperty,start=()=>define({},"__esModule",{value:!0}),
fill=(to,names)=>{for(const name in names)define(to,name,{get:names[name],enumerable:!0});return to},
make=(from,copy)=>{const to=from instanceof Late?fill(start(),from.names()):copy(start(),from);made.set(from,to);return to};
return{${exportNames}:(to,names)=>names?void fill(to,names):new Late(to),
${asCommonJs}:(from,copy)=>made.get(from)??make(from,copy)}})();
`;

/**
 * Makes the namespaces of a bundle's ES modules when they are first required. esbuild makes them all
 * at the start: of the 3,000 exports of the runtime and the built-in modules, a run uses a tenth.
 *
 * @param text - a bundle with short names
 * @returns lines that must come in front of the text, and the text, in which all code that can throw
 * is where it was; no lines, and the same text, if it has another form than this esbuild writes
 */
export const withLateNamespaces = (
  text: string,
): { readonly head: string; readonly text: string } => {
  const [exporting, exported] = exporter.exec(text) ?? [];
  const [converting, converted, , copy] = converter.exec(text) ?? [];
  if (!exporting || !exported || !converting || !converted) return { head: '', text };
  const isOnlyRequired = requiredOnly(text, converted);
  const late = text
    .replace(exporting, () => padded(`${exported}=${exportNames}`, exporting))
    .replace(converting, () => padded(`${converted}=e=>${asCommonJs}(e,${copy})`, converting))
    .replace(namespaces(exported), (made, name: string, names: string) =>
      isOnlyRequired(name) ? padded(`var ${name}=${exported}(_=>(${names}));`, made) : made,
    );
  return { head, text: late };
};

/** Finds `var x={};exported(x,{name:()=>variable, …});`. */
const namespaces = (exported: string): RegExp =>
  new RegExp(`\\bvar ([\\w$]+)=\\{\\};${inPattern(exported)}\\(\\1,(\\{[^{}]*\\})\\);`, 'g');

/** Returns whether a namespace is used by `require` alone: only that makes a late one. */
const requiredOnly = (text: string, converted: string): ((name: string) => boolean) => {
  const used = counts(text, /([\w$]+)/g);
  const required = counts(
    text,
    new RegExp(`(?<![\\w$.])${inPattern(converted)}\\(([\\w$]+)\\)`, 'g'),
  );
  // It is named twice where it is made.
  return name => used.get(name) === 2 + (required.get(name) ?? 0);
};

const inPattern = (name: string): string => name.replaceAll('$', '\\$');

const counts = (text: string, pattern: RegExp): Map<string, number> => {
  const found = new Map<string, number>();
  for (const [, word = ''] of text.matchAll(pattern)) found.set(word, (found.get(word) ?? 0) + 1);
  return found;
};

/** Returns a text in the place of another one: code behind it stays where a source map has it. */
const padded = (text: string, other: string): string =>
  text.length > other.length ? other : text.padEnd(other.length);
