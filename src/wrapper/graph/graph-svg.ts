import { type GraphLabel, graphlib, layout } from '@dagrejs/dagre';
import { TsaltError } from '../../protocol/error.ts';
import type { RequisiteGraph } from '../../protocol/event.ts';
import { graphLabel } from './graph-text.ts';

/** The layout of larger graphs takes minutes. */
const mostNodes = 1000;
const mostEdges = 3000;

const height = 30;
const characterWidth = 7.2;

type Point = { readonly x: number; readonly y: number };

/** @throws TsaltError `graph-size` */
export const svgGraph = ({ tags, edges }: RequisiteGraph): string => {
  if (tags.length > mostNodes || edges.length > mostEdges)
    throw new TsaltError(
      'graph-size',
      `The graph has ${tags.length} states and ${edges.length} requisites: it is too large to draw.`,
      { hint: 'Use format=dot or format=mermaid, or name fewer SLS.' },
    );
  const graph = new graphlib.Graph({ multigraph: true });
  const settings: GraphLabel = { rankdir: 'LR', nodesep: 12, ranksep: 90, marginx: 8, marginy: 8 };
  graph.setGraph(settings);
  for (const [at, tag] of tags.entries())
    graph.setNode(String(at), {
      width: 24 + characterWidth * Math.min(60, graphLabel(tag).length),
      height,
    });
  for (const [place, [from, to]] of edges.entries())
    graph.setEdge(String(to), String(from), {}, String(place));
  layout(graph);
  const size = graph.graph();
  const [width, full] = [Math.ceil(size.width ?? 16), Math.ceil(size.height ?? 16)];
  const arrows = edges.map(([from, to, kind], place) => {
    const { points = [] } = graph.edge(String(to), String(from), String(place));
    return arrow(points as readonly Point[], kind);
  });
  const boxes = tags.map((tag, at) => {
    const node = graph.node(String(at));
    return box(tag, { x: node.x ?? 0, y: node.y ?? 0 }, node.width ?? 0);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${full}" viewBox="0 0 ${width} ${full}" font-family="sans-serif" font-size="12">`,
    '<defs><marker id="end" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#555"/></marker></defs>',
    ...arrows,
    ...boxes,
    '</svg>',
  ].join('\n');
};

const arrow = (points: readonly Point[], kind: string): string => {
  const path = points.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`);
  const middle = points[Math.floor(points.length / 2)] ?? { x: 0, y: 0 };
  return `<path d="${path.join('')}" fill="none" stroke="#555" marker-end="url(#end)"/><text x="${round(middle.x)}" y="${round(middle.y - 4)}" text-anchor="middle" fill="#555">${escaped(kind)}</text>`;
};

const box = (tag: string, { x, y }: Point, width: number): string => {
  const label = graphLabel(tag);
  const shown = label.length > 60 ? `${label.slice(0, 59)}…` : label;
  return `<g><title>${escaped(label)}</title><rect x="${round(x - width / 2)}" y="${round(y - height / 2)}" width="${round(width)}" height="${height}" rx="4" fill="#eef3fb" stroke="#46639c"/><text x="${round(x)}" y="${round(y + 4)}" text-anchor="middle">${escaped(shown)}</text></g>`;
};

const round = (value: number): number => Math.round(value * 10) / 10;

// Characters that XML does not allow: lone surrogates, U+FFFE, U+FFFF.
const noXml =
  /[\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

const escaped = (text: string): string =>
  text.replace(noXml, '?').replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
