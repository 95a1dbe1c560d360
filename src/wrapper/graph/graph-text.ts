import type { RequisiteGraph } from '../../protocol/event.ts';
import { unsafeCharacters } from '../../protocol/unsafe-characters.ts';

const unsafe = new RegExp(`[\\n\\t\\u2028\\u2029${unsafeCharacters}]`, 'g');

/** Formats a state in a graph: its ID and function on one line. */
export const graphLabel = (tag: string): string => {
  const [module = '', id = '', , fun = ''] = tag.split('_|-');
  return `${id} (${module}.${fun})`.replace(unsafe, '?').slice(0, 200);
};

/** Arrows lead from the required state to the requiring one, in the order of the run. */
export const dotGraph = ({ tags, edges }: RequisiteGraph): string => {
  const quoted = (text: string): string =>
    `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
  return [
    'digraph states {',
    '  rankdir=LR;',
    '  node [shape=box];',
    ...tags.map((tag, at) => `  s${at} [label=${quoted(graphLabel(tag))}];`),
    ...edges.map(([from, to, kind]) => `  s${to} -> s${from} [label=${quoted(kind)}];`),
    '}',
  ].join('\n');
};

export const mermaidGraph = ({ tags, edges }: RequisiteGraph): string => {
  // Mermaid reads HTML and Markdown in labels; entities have no meaning in either.
  const quoted = (text: string): string =>
    `"${text.replace(/[^\p{L}\p{N} ./,:_()-]/gu, character => `#${character.codePointAt(0)};`)}"`;
  return [
    'flowchart LR',
    ...tags.map((tag, at) => `  s${at}[${quoted(graphLabel(tag))}]`),
    ...edges.map(([from, to, kind]) => `  s${to} -->|${kind}| s${from}`),
  ].join('\n');
};
