import { isPlainDict, type Plain, type PlainDict } from '../../protocol/plain.ts';
import { pathAt, scanLines } from '../text/scan-lines.ts';
import type { PositionIn } from './position-context.ts';

/** A key or value that a schema knows, with its description. */
export type SchemaChoice = {
  readonly label: string;
  readonly doc: string;
  readonly isKey: boolean;
};

/** Offers keys and values at a position of a file with a JSON Schema, with the text that is typed already. */
export const schemaChoices = (
  { lines, line, character }: PositionIn,
  schema: PlainDict,
): { readonly typed: string; readonly items: readonly SchemaChoice[] } | undefined => {
  const before = (lines[line] ?? '').slice(0, character);
  const shape = /^(\s*)((?:-\s+)*)(?:([\w.-]+):\s+)?(['"]?)(.*)$/.exec(before);
  if (!shape || /^\s*#/.test(before)) return undefined;
  const [, spaces = '', dashes = '', key, , typed = ''] = shape;
  const path = pathAt(lines, line, spaces.length, dashes !== '');
  const places = schemasAt(schema, path, schema);
  if (key !== undefined)
    return { typed, items: valuesOf(places.flatMap(one => at(one, key, schema))) };
  if (/[\s:]/.test(typed)) return undefined;
  return { typed, items: [...(dashes === '' ? [] : valuesOf(places)), ...keysOf(places, schema)] };
};

/** The description of the key at a position. */
export const schemaDoc = (
  { lines, line, character }: PositionIn,
  schema: PlainDict,
):
  | { readonly text: string; readonly span: { line: number; from: number; to: number } }
  | undefined => {
  const one = scanLines(lines).find(scanned => scanned.line === line);
  const { key, keySpan: span, path = [] } = one ?? {};
  if (key === undefined || !span || character < span.from || character > span.to) return undefined;
  const found = schemasAt(schema, path, schema).flatMap(place => at(place, key, schema));
  const doc = found.map(docOf).find(text => text !== '');
  return doc === undefined ? undefined : { text: `\`${key}\`\n\n${doc}`, span };
};

const docOf = ({ description }: PlainDict): string =>
  typeof description === 'string' ? description : '';

const schemasAt = (schema: PlainDict, path: readonly string[], root: PlainDict): PlainDict[] =>
  path.reduce<PlainDict[]>(
    (places, key) => places.flatMap(place => at(place, key, root)),
    expanded(schema, root),
  );

/** The schemas of what a key has. */
const at = (schema: PlainDict, key: string, root: PlainDict): PlainDict[] =>
  expanded(schema, root).flatMap(({ properties, additionalProperties }) => {
    const own =
      isPlainDict(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined;
    return expanded(own ?? additionalProperties, root);
  });

/** A schema with its alternatives and those of its items. */
const expanded = (schema: Plain | undefined, root: PlainDict): PlainDict[] => {
  if (!isPlainDict(schema)) return [];
  const { $ref, anyOf, items, ...own } = schema;
  const named = typeof $ref === 'string' ? referred($ref, root) : undefined;
  const others = [...(Array.isArray(anyOf) ? anyOf : []), items, named];
  return [own, ...others.flatMap(one => expanded(one, root))];
};

const referred = (ref: string, { $defs }: PlainDict): Plain | undefined =>
  isPlainDict($defs) ? $defs[ref.replace('#/$defs/', '')] : undefined;

const keysOf = (places: readonly PlainDict[], root: PlainDict): SchemaChoice[] =>
  places.flatMap(({ properties }) =>
    isPlainDict(properties)
      ? Object.entries(properties).map(([label, own]) => ({
          label,
          doc:
            expanded(own, root)
              .map(docOf)
              .find(text => text !== '') ?? '',
          isKey: true,
        }))
      : [],
  );

const valuesOf = (places: readonly PlainDict[]): SchemaChoice[] => {
  const values = places.flatMap(({ enum: list, examples, type }) => [
    ...(Array.isArray(list) ? list : []),
    ...(Array.isArray(examples) ? examples : []),
    ...([type].flat().includes('boolean') ? [true, false] : []),
  ]);
  return [...new Set(values.map(String))].map(label => ({ label, doc: '', isKey: false }));
};
