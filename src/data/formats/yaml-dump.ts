import { floatText } from '../python/float-text.ts';
import { isOrdered } from '../values/ordered.ts';
import { type Data, type DataKey, type Dict, Float } from '../values/value.ts';
import { compareKeys } from './json-dump.ts';
import { type Analysis, analyse, type Escapes } from './yaml-scalar.ts';
import { YamlWriter } from './yaml-writer.ts';

export type YamlDumpOptions = {
  /**
   * `true`: everything on one line, `false`: every collection on its own lines, `null`: only
   * collections of scalars on one line. Default `null`, as in Salt.
   */
  readonly defaultFlowStyle?: boolean | null | undefined;
  /**
   * Default `plain`: keys are sorted as PyYAML does for dicts, but an ordered dictionary
   * (`ordered.ts`) keeps its order. `true` sorts all, `false` none.
   */
  readonly sortKeys?: boolean | 'plain' | undefined;
  /** Spaces per level. Default 2. */
  readonly indent?: number | undefined;
  /** Column after which long lines are folded. Default 80. */
  readonly width?: number | undefined;
  /**
   * `ascii`: escape all non-ASCII characters, as PyYAML does without `allow_unicode`. `marks`:
   * escape the marks that reorder text on a screen. Default: neither.
   */
  readonly escapes?: Escapes;
  /** Begin with `---`. */
  readonly explicitStart?: boolean | undefined;
};

/** A value that Salt's dumper cannot represent: it writes `NULL`. */
export const unrepresentable = new Float(Number.NaN);

/**
 * Formats YAML exactly as Salt's dumper does (`salt.utils.yaml.safe_dump`: PyYAML on libyaml,
 * without escaping Unicode): quoting, folding at 80 columns, `&id001` for a value that occurs
 * twice. The text ends with a line end.
 */
export const dumpYaml = (data: Data, options: YamlDumpOptions = {}): string =>
  new Dumper(data, options).dump();

type Context = { readonly mapping: boolean; readonly simpleKey: boolean };

class Dumper {
  readonly #data: Data;
  readonly #style: boolean | null;
  readonly #sort: boolean | 'plain';
  readonly #step: number;
  readonly #escapes: Escapes;
  readonly #out: YamlWriter;
  readonly #anchors = new Map<object, string | undefined>();
  readonly #written = new Set<object>();
  #count = 0;
  #flow = 0;

  constructor(data: Data, options: YamlDumpOptions) {
    this.#data = data;
    this.#style = options.defaultFlowStyle === undefined ? null : options.defaultFlowStyle;
    this.#sort = options.sortKeys ?? 'plain';
    this.#step = options.indent ?? 2;
    this.#escapes = options.escapes;
    this.#out = new YamlWriter(options.width ?? 80, this.#escapes);
    if (options.explicitStart) this.#out.indicator('---', true);
  }

  dump(): string {
    this.#anchor(this.#data);
    this.#node(this.#data, { mapping: false, simpleKey: false });
    return `${this.#out.text}\n`;
  }

  /** Names values that occur twice, in the order of the second occurrences. */
  #anchor(data: Data): void {
    if (isScalar(data)) return;
    if (this.#anchors.has(data)) {
      if (this.#anchors.get(data) === undefined) {
        this.#count += 1;
        this.#anchors.set(data, `id${String(this.#count).padStart(3, '0')}`);
      }
      return;
    }
    this.#anchors.set(data, undefined);
    if (Array.isArray(data)) for (const item of data) this.#anchor(item);
    else for (const [, item] of this.#entries(data)) this.#anchor(item);
  }

  #node(data: Data, context: Context): void {
    if (isScalar(data)) {
      this.#scalar(data, context);
      return;
    }
    const anchor = this.#anchors.get(data);
    if (anchor !== undefined) {
      this.#out.indicator(`${this.#written.has(data) ? '*' : '&'}${anchor}`, true);
      if (this.#written.has(data)) return;
      this.#written.add(data);
    }
    const size = Array.isArray(data) ? data.length : data.size;
    const flow = this.#flow > 0 || size === 0 || (this.#style ?? this.#isFlat(data));
    if (Array.isArray(data)) flow ? this.#flowList(data) : this.#blockList(data, context);
    else flow ? this.#flowDict(data) : this.#blockDict(data);
  }

  #isFlat(data: Data[] | Dict): boolean {
    return (Array.isArray(data) ? data : [...data.values()]).every(isScalar);
  }

  #flowList(list: readonly Data[]): void {
    const out = this.#out;
    out.indicator('[', true, true);
    const indent = this.#deeper(true);
    this.#flow += 1;
    list.forEach((item, index) => {
      if (index > 0) out.indicator(',', false);
      if (out.isPastWidth) out.newLine();
      this.#node(item, { mapping: false, simpleKey: false });
    });
    this.#flow -= 1;
    out.indent = indent;
    out.indicator(']', false);
  }

  #flowDict(dict: Dict): void {
    const out = this.#out;
    out.indicator('{', true, true);
    const indent = this.#deeper(true);
    this.#flow += 1;
    this.#entries(dict).forEach(([key, value], index) => {
      if (index > 0) out.indicator(',', false);
      if (out.isPastWidth) out.newLine();
      if (isSimpleKey(key)) {
        this.#node(key, { mapping: true, simpleKey: true });
        out.indicator(':', false);
      } else {
        out.indicator('?', true);
        this.#node(key, { mapping: true, simpleKey: false });
        if (out.isPastWidth) out.newLine();
        out.indicator(':', true);
      }
      this.#node(value, { mapping: true, simpleKey: false });
    });
    this.#flow -= 1;
    out.indent = indent;
    out.indicator('}', false);
  }

  #blockList(list: readonly Data[], { mapping }: Context): void {
    const out = this.#out;
    const indent = out.indent;
    if (!(mapping && !out.indention)) this.#deeper(false);
    for (const item of list) {
      out.newLine();
      out.indicator('-', true, false, true);
      this.#node(item, { mapping: false, simpleKey: false });
    }
    out.indent = indent;
  }

  #blockDict(dict: Dict): void {
    const out = this.#out;
    const indent = this.#deeper(false);
    for (const [key, value] of this.#entries(dict)) {
      out.newLine();
      if (isSimpleKey(key)) {
        this.#node(key, { mapping: true, simpleKey: true });
        out.indicator(':', false);
      } else {
        out.indicator('?', true, false, true);
        this.#node(key, { mapping: true, simpleKey: false });
        out.newLine();
        out.indicator(':', true, false, true);
      }
      this.#node(value, { mapping: true, simpleKey: false });
    }
    out.indent = indent;
  }

  #scalar(data: Scalar, context: Context): void {
    const indent = this.#deeper(true);
    this.#writeScalar(data, context);
    this.#out.indent = indent;
  }

  #writeScalar(data: Scalar, { simpleKey }: Context): void {
    const text = scalarText(data);
    if (isPlain(data, { flow: this.#flow > 0, simpleKey, escapes: this.#escapes })) {
      this.#out.plain(text, !simpleKey);
      return;
    }
    const analysis = analyse(text, this.#escapes);
    if (analysis.single && !(simpleKey && analysis.multiline)) this.#out.single(text, !simpleKey);
    else this.#out.double(text, !simpleKey);
  }

  /** Enters a level; returns the level to restore. */
  #deeper(flow: boolean): number {
    const { indent } = this.#out;
    this.#out.indent = indent < 0 ? (flow ? this.#step : 0) : indent + this.#step;
    return indent;
  }

  /** PyYAML sorts keys that Python can compare; others keep their order. */
  #entries(dict: Dict): [DataKey, Data][] {
    const entries = [...dict];
    if (!this.#sort || (this.#sort === 'plain' && isOrdered(dict))) return entries;
    if (entries.every(([key]) => typeof key === 'string'))
      return entries.sort(([a], [b]) => compareKeys(a as string, b as string));
    if (entries.every(([key]) => isNumber(key)))
      return entries.sort(([a], [b]) => Number(a) - Number(b));
    return entries;
  }
}

type Scalar = Exclude<Data, Data[] | Dict>;

const isScalar = (data: Data): data is Scalar =>
  typeof data !== 'object' || data === null || data instanceof Float;

const isNumber = (key: DataKey): boolean => typeof key !== 'string' && key !== null;

const scalarText = (data: Scalar): string => {
  if (data === unrepresentable) return 'NULL';
  if (data === null) return 'null';
  if (typeof data === 'string') return data;
  if (data instanceof Float) return yamlFloat(data.value);
  if (typeof data === 'number')
    return Number.isInteger(data) ? String(BigInt(data)) : yamlFloat(data);
  return String(data);
};

const yamlFloat = (value: number): string => {
  if (Number.isNaN(value)) return '.nan';
  if (!Number.isFinite(value)) return value < 0 ? '-.inf' : '.inf';
  const text = floatText(value);
  return text.includes('.') ? text : text.replace('e', '.0e');
};

const isPlain = (
  data: Scalar,
  { flow, simpleKey, escapes }: { flow: boolean; simpleKey: boolean; escapes: Escapes },
): boolean => {
  if (typeof data !== 'string') return true;
  const analysis: Analysis = analyse(data, escapes);
  if (!analysis.implicit || (data === '' && (flow || simpleKey))) return false;
  if (simpleKey && analysis.multiline) return false;
  return flow ? analysis.flowPlain : analysis.blockPlain;
};

const isSimpleKey = (key: DataKey): boolean => {
  const text = scalarText(key);
  return (
    new TextEncoder().encode(text).length <= 128 &&
    !(typeof key === 'string' && analyse(text).multiline)
  );
};
