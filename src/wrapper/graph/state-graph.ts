import { lowChunks } from '../../compiler/chunks.ts';
import { type Compiled, compile } from '../../compiler/compile.ts';
import { requisiteEdges } from '../../compiler/requisite-edges.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { RequisiteGraph } from '../../protocol/event.ts';
import type { WrapperCall } from '../define.ts';
import { type Outcome, valueOutcome } from '../outcome.ts';
import { compileErrors, compileOptions, loadMods, required, viewOf } from '../state-call.ts';
import { highTree } from '../state-show.ts';

type Writer = (graph: RequisiteGraph) => string;

/** Loaded separately, since only SVG needs the layout library. */
const writers: Readonly<Record<string, () => Promise<Writer>>> = {
  dot: async () => (await import('./graph-text.ts')).dotGraph,
  mermaid: async () => (await import('./graph-text.ts')).mermaidGraph,
  svg: async () => (await import('./graph-svg.ts')).svgGraph,
};

/** Returns the requisites between the states of SLS. */
export const graphOfSls = async (call: WrapperCall): Promise<Outcome> => {
  const writer = await writerOf(call, 'state.graph');
  const mods = required(call, 'mods', 'state.graph');
  const tree = await loadMods(await viewOf(call), mods);
  return outcomeOfGraph(compile(tree, compileOptions(call.ctx)), writer);
};

/** Returns the requisites between the states of the highstate. */
export const graphOfHighstate = async (call: WrapperCall): Promise<Outcome> => {
  const writer = await writerOf(call, 'state.graph_highstate');
  const { tree, faults } = await highTree(await viewOf(call));
  if (faults.length > 0) return compileErrors(faults);
  return outcomeOfGraph(compile(tree, compileOptions(call.ctx)), writer);
};

const outcomeOfGraph = ({ chunks, errors }: Compiled, writer: Writer): Outcome =>
  errors.length > 0
    ? compileErrors(errors)
    : valueOutcome(writer(requisiteEdges(lowChunks(chunks))));

const writerOf = (call: WrapperCall, fun: string): Promise<Writer> => {
  const format = call.text('format');
  const writer = Object.hasOwn(writers, format) ? writers[format] : undefined;
  if (writer) return writer();
  const names = Object.keys(writers);
  const meant = closestMatch(format, names);
  throw new TsaltError('arguments', `${fun}: there is no format '${format}'.`, {
    hint: meant === undefined ? `The formats are ${names.join(', ')}.` : `Did you mean '${meant}'?`,
  });
};
