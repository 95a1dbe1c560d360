import { dictOf } from '../../protocol/key-order.ts';
import type { LowChunk } from '../../protocol/low.ts';
import type { FunctionMeta } from '../../protocol/meta.ts';
import { isPlainDict, type Plain } from '../../protocol/plain.ts';
import { hasWholeFloats, wholeFloatAt } from '../../protocol/whole-floats.ts';

/** Arguments that states convert to strings whatever their type is: their types say nothing. */
const texts: ReadonlySet<string> = new Set([
  'comment',
  'contents',
  'driver_opts',
  'entries',
  'env',
  'env_vars',
  'labels',
  'pkgs',
  'sections',
  'text',
  'version',
]);

/**
 * Replaces floats without a fraction by Python's string for them, in arguments that become strings:
 * `version: 2.0` would be `2` on the host.
 */
export const withFloatStrings = (chunk: LowChunk, fun: FunctionMeta | undefined): LowChunk => {
  if (!hasWholeFloats()) return chunk;
  const params = fun ? [...fun.signature.positional, ...(fun.signature.keywords ?? [])] : [];
  const isText = (key: string): boolean =>
    texts.has(key) || /\bstring\b(?!\])/.test(params.find(({ name }) => name === key)?.type ?? '');
  let copy: LowChunk | undefined;
  for (const [key, value] of Object.entries(chunk)) {
    if (!isText(key)) continue;
    const asText = textAt(chunk, key, value);
    if (asText === value) continue;
    copy ??= { ...chunk };
    copy[key] = asText;
  }
  return copy ?? chunk;
};

const textAt = (container: object, key: string | number, value: Plain): Plain => {
  if (typeof value === 'number') return wholeFloatAt(container, key) ?? value;
  if (Array.isArray(value)) {
    const list = value.map((item, at) => textAt(value, at, item));
    return list.some((item, at) => item !== value[at]) ? list : value;
  }
  if (!isPlainDict(value)) return value;
  const items = Object.entries(value).map(
    ([name, item]) => [name, textAt(value, name, item)] as const,
  );
  return items.some(([name, item]) => item !== value[name]) ? dictOf(items) : value;
};
