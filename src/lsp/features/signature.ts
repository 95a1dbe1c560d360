import { showDefault } from '../../data/signatures/module-docs.ts';
import type { FunctionMeta, Param } from '../../protocol/meta.ts';
import type { Workspace } from '../workspace.ts';
import { type OpenCall, openCall } from './open-call.ts';
import { contextAt, linePath, type PositionIn } from './position-context.ts';
import { argumentDoc } from './texts.ts';

/** A function with its parameters, as an editor shows it above the line. */
export type ShownSignature = {
  readonly label: string;
  readonly doc: string | undefined;
  readonly params: readonly ShownParam[];
  /** The parameter at the cursor. */
  readonly active: number | undefined;
};

export type ShownParam = {
  /** Its part of the label. */
  readonly from: number;
  readonly to: number;
  readonly doc: string | undefined;
};

/** The parameter at the cursor: by name, or by its number in a call. */
type Argument = { readonly name?: string | undefined; readonly index?: number };

const mostSignatures = 10;

/**
 * The signatures of the function whose arguments are being written: of the call in a template,
 * else of the state. Modules of one virtual name have several.
 */
export const signaturesAt = async (
  position: PositionIn,
  workspace: Workspace,
): Promise<readonly ShownSignature[]> => {
  const context = contextAt(position);
  const call = context?.kind === 'template' ? openCall(context.before) : undefined;
  const found = call
    ? { kind: 'exec' as const, name: call.name, argument: argumentOf(call) }
    : stateAt(position, workspace);
  if (!found) return [];
  const known = await workspace.functionsNamed(found.kind, found.name);
  const shown = known.map(({ fun }) => shownSignature(found.name, fun, found));
  return [...new Map(shown.map(one => [one.label, one])).values()].slice(0, mostSignatures);
};

const argumentOf = ({ keyword, index }: OpenCall): Argument =>
  keyword === undefined ? { index } : { name: keyword };

type Called = { readonly kind: 'state' | 'exec'; readonly argument: Argument };

/** The state that a line belongs to, and its argument on the line. */
const stateAt = (
  { file, lines, line, character }: PositionIn,
  workspace: Workspace,
): (Called & { readonly name: string }) | undefined => {
  if (file.kind !== 'sls') return undefined;
  const { path, rest } = linePath(lines, line, (lines[line] ?? '').slice(0, character));
  const [id, key, argument] = path[0] === 'extend' ? path.slice(1) : path;
  const { ids } = workspace.outline(file.path);
  const declared = ids.filter(({ span }) => span.line <= line).at(-1);
  if (id !== undefined && declared?.id !== id) return undefined;
  const state = declared?.states.find(({ name, span }) =>
    key === undefined ? span.line === line : name === key || name.startsWith(`${key}.`),
  );
  const pattern = key === undefined ? flowKey : /^([\w-]+):/;
  return (
    state && {
      kind: 'state',
      name: state.name,
      argument: { name: argument ?? pattern.exec(rest)?.[1] },
    }
  );
};

/** The key before the cursor in `[{name: a}, {user: b}]`. */
const flowKey = /[[{,]\s*['"]?(\w+)['"]?:\s[^,{}[\]]*$/;

type Slot = { readonly name: string; readonly text: string; readonly doc: string | undefined };

const shownSignature = (name: string, fun: FunctionMeta, called: Called): ShownSignature => {
  const slots = slotsOf(fun, called);
  let label = `${name}(`;
  const params = slots.map(({ text, doc }, at) => {
    if (at > 0) label += ', ';
    const from = label.length;
    label += text;
    return { from, to: label.length, doc };
  });
  return { label: `${label})`, doc: fun.doc, params, active: activeOf(slots, fun, called) };
};

const slotsOf = (fun: FunctionMeta, { kind, argument: { name } }: Called): readonly Slot[] => {
  const { positional, rest, keywords = [], anyKeyword } = fun.signature;
  const slotOf = (param: Param): Slot => ({
    name: param.name,
    text: paramText(param),
    doc: argumentDoc(fun, param.name),
  });
  const own = [
    ...positional.map(slotOf),
    // All arguments of a state have names.
    ...(rest && kind === 'exec' ? [{ ...rest, text: `*${rest.name}`, doc: rest.doc }] : []),
    ...keywords.map(slotOf),
  ];
  // Requisites and other arguments of all states are listed while they are written.
  const isCommon = kind === 'state' && !own.some(slot => slot.name === name);
  const doc = isCommon && name !== undefined ? argumentDoc(fun, name) : undefined;
  return [
    ...own,
    ...(doc !== undefined && name !== undefined ? [{ name, text: name, doc }] : []),
    ...(anyKeyword ? [{ name: '', text: '**kwargs', doc: undefined }] : []),
  ];
};

const paramText = ({ name, optional, default: value }: Param): string => {
  if (!optional) return name;
  if (value === undefined || value === null) return `${name}=None`;
  return `${name}=${typeof value === 'string' ? `'${value}'` : showDefault(value)}`;
};

/** Arguments without names continue into the keywords, unless a list takes all of them. */
const activeOf = (
  slots: readonly Slot[],
  { signature: { positional, rest, keywords = [], anyKeyword } }: FunctionMeta,
  { argument: { name, index } }: Called,
): number | undefined => {
  if (name !== undefined) {
    const at = slots.findIndex(slot => slot.name === name);
    return at >= 0 ? at : anyKeyword ? slots.length - 1 : undefined;
  }
  if (index === undefined) return undefined;
  if (rest) return Math.min(index, positional.length);
  return index < positional.length + keywords.length ? index : undefined;
};
