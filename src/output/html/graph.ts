import { type GraphLabel, graphlib, layout } from '@dagrejs/dagre';
import type { RequisiteGraph } from '../../protocol/event.ts';
import type { ReportGraph } from './model.ts';

/** Larger graphs are not drawn: they are unreadable, and their layout takes long. */
const mostNodes = 300;
const mostEdges = 1200;

const nodeHeight = 30;

/**
 * Places the states of a plan that have requisites.
 *
 * @param labels the text of a state, by its place among the tags
 * @param stateAt the state's place in the page's table
 * @returns a sentence where the graph is not drawn
 */
export const layOutGraph = (
  { tags, edges }: RequisiteGraph,
  labels: (tag: string) => string,
  stateAt: (tag: string) => number,
): ReportGraph | string => {
  const drawn = placesIn(edges);
  if (drawn.length === 0) return 'No state of this run requires another.';
  if (drawn.length > mostNodes || edges.length > mostEdges)
    return `The graph has ${drawn.length} states and ${edges.length} requisites: it is too large to draw.`;
  const graph = new graphlib.Graph({ multigraph: true });
  const settings: GraphLabel = { rankdir: 'LR', nodesep: 12, ranksep: 56, marginx: 8, marginy: 8 };
  graph.setGraph(settings);
  for (const at of drawn) {
    const width = Math.min(280, 24 + 7.2 * labels(tags[at] ?? '').length);
    graph.setNode(String(at), { width, height: nodeHeight });
  }
  // Arrows lead from what is required to what requires it: in the order of the run.
  for (const [place, [from, to]] of edges.entries())
    graph.setEdge(String(to), String(from), {}, String(place));
  layout(graph);
  const places = new Map(drawn.map((at, place) => [at, place]));
  const { width = 0, height = 0 } = graph.graph();
  return {
    nodes: drawn.map(at => {
      const node = graph.node(String(at));
      return [stateAt(tags[at] ?? ''), round(node.x), round(node.y), round(node.width)];
    }),
    edges: edges.map(([from, to, kind], place) => {
      const points: { x: number; y: number }[] =
        graph.edge(String(to), String(from), String(place)).points ?? [];
      return [
        places.get(from) ?? 0,
        places.get(to) ?? 0,
        kind,
        points.flatMap(({ x, y }) => [round(x), round(y)]),
      ];
    }),
    width: Math.ceil(width),
    height: Math.ceil(height),
    nodeHeight,
    alone: tags.length - drawn.length,
  };
};

const round = (value: number | undefined): number => Math.round((value ?? 0) * 10) / 10;

/** The places of the states that require or are required, in order. */
const placesIn = (edges: RequisiteGraph['edges']): number[] => {
  const places = new Set<number>();
  for (const [from, to] of edges) places.add(from).add(to);
  return [...places].sort((a, b) => a - b);
};
