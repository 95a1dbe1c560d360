import { posix } from 'node:path';
import {
  type Context,
  type Emitter,
  type Liquid,
  type Parser,
  Tag,
  type TagToken,
  type Template,
  type Tokenizer,
  type TopLevelToken,
  Value,
} from 'liquidjs';
import type { Trace } from '../../data/values/position.ts';
import type { Data } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { parsePythonJson } from '../json.ts';
import { retraced } from '../retrace.ts';
import { RenderedText } from '../source-map.ts';
import { loadTaintedJson, loadTaintedYaml } from '../taint/load-tainted.ts';
import type { TaintSource } from '../taint/taint-table.ts';
import { fileIn, mapsOf } from './origins.ts';
import { stageOf } from './stage.ts';
import { refuseTaintedPath, tableOf } from './tracking.ts';
import { unwrap, wrap } from './wrap.ts';

type TagClass = Parameters<Liquid['registerTag']>[1];

type Format = (text: string, taint: TaintSource | undefined, where: Where) => Data;

type Where = {
  readonly file: string;
  readonly firstLine: number;
  readonly trace?: Trace | undefined;
};

const formats: Readonly<Record<string, Format>> = {
  yaml: loadTaintedYaml,
  json: (text, taint, { file, firstLine }) =>
    loadTaintedJson(text, taint, file, json => parsePythonJson(json, file, firstLine)),
  text: text => text,
};

/** Salt's tags for Liquid: `load_*`, `import_*` and `salt`. */
export const registerTags = (liquid: Liquid): void => {
  for (const [name, format] of Object.entries(formats)) {
    liquid.registerTag(`load_${name}`, loadTag(name, format));
    liquid.registerTag(`import_${name}`, importTag(format));
  }
  liquid.registerTag('salt', SaltTag);
};

/** `{% load_yaml as NAME %} … {% endload %}` */
const loadTag = (name: string, format: Format): TagClass =>
  class extends Tag {
    readonly #templates: Template[] = [];
    readonly #variable: string;

    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid, parser: Parser) {
      super(token, rest, liquid);
      this.#variable = readTarget(token.tokenizer, `{% load_${name} as NAME %}`);
      while (rest.length > 0) {
        const next = rest.shift();
        if (next === undefined) break;
        if ('name' in next && (next as TagToken).name === 'endload') return;
        this.#templates.push(parser.parseToken(next, rest));
      }
      throw new Error(`tag {% load_${name} %} not closed: {% endload %} is missing`);
    }

    override *render(ctx: Context, _emitter: Emitter): Generator<unknown, void, unknown> {
      const text = (yield this.liquid.renderer.renderTemplates(this.#templates, ctx)) as string;
      const stage = stageOf(ctx.globals);
      const [line = 1] = this.token.getPosition();
      const file = this.token.file ?? stage.request.file;
      const table = tableOf(ctx.globals);
      const map = mapsOf(ctx.globals).known.get(text);
      const rendered = map && new RenderedText(text, map, { file, text: '', origins: undefined });
      const where = rendered
        ? { file, firstLine: 1, trace: rendered.trace }
        : { file, firstLine: line };
      try {
        ctx.bottom()[this.#variable] = wrap(format(text, table, where));
      } catch (error) {
        throw rendered && error instanceof TsaltError ? retraced(error, file, rendered) : error;
      }
    }
  };

/**
 * `{% import_yaml 'path' as NAME %}`, from the file roots; `./` and `../` are relative to the
 * template.
 */
const importTag = (format: Format): TagClass =>
  class extends Tag {
    readonly #path: Value;
    readonly #variable: string;

    constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
      super(token, rest, liquid);
      const args = /^([\s\S]*?)\s+as\s+([A-Za-z_][\w-]*)\s*$/.exec(token.args);
      if (!args?.[1] || !args[2]) throw new Error(`write it as {% ${token.name} 'path' as NAME %}`);
      this.#path = new Value(args[1], liquid);
      this.#variable = args[2];
    }

    override *render(ctx: Context, _emitter: Emitter): Generator<unknown, void, unknown> {
      const path = String(unwrap(yield this.#path.value(ctx, false)));
      const { request, recorder } = stageOf(ctx.globals);
      refuseTaintedPath(ctx.globals, path);
      const here = posix.dirname(this.token.file ?? '');
      const full = /^\.\.?\//.test(path) ? posix.join(here, path) : path;
      const text = request.context.files.read(full, request.saltenv);
      recorder?.file(full, request.saltenv);
      const file = fileIn(request.context.files, full, request.saltenv);
      ctx.bottom()[this.#variable] = wrap(format(text, undefined, { file, firstLine: 1 }));
    }
  };

/** `{% salt NAME = mod.fun arg, key: value %}`, or without `NAME =` for the effect alone. */
class SaltTag extends Tag {
  readonly #call: Value;
  readonly #variable: string | undefined;

  constructor(token: TagToken, rest: TopLevelToken[], liquid: Liquid) {
    super(token, rest, liquid);
    const args = /^\s*(?:([A-Za-z_][\w-]*)\s*=\s*)?([A-Za-z_]\w*\.\w+)\s*,?\s*([\s\S]*)$/.exec(
      token.args,
    );
    if (!args?.[2])
      throw new Error('write it as {% salt NAME = module.function argument, key: value %}');
    this.#variable = args[1];
    this.#call = new Value(`'${args[2]}' | salt${args[3] ? `: ${args[3]}` : ''}`, liquid);
  }

  override *render(ctx: Context, _emitter: Emitter): Generator<unknown, void, unknown> {
    const result = yield this.#call.value(ctx, false);
    if (this.#variable !== undefined) ctx.bottom()[this.#variable] = result;
  }
}

const readTarget = (tokenizer: Tokenizer, usage: string): string => {
  const word = tokenizer.readIdentifier().content;
  const name = word === 'as' ? tokenizer.readIdentifier().content : '';
  if (name === '') throw new Error(`write it as ${usage}`);
  return name;
};
