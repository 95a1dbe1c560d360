import { posix } from 'node:path';
import {
  type Context,
  type Emitter,
  evalToken,
  IncludeTag,
  LayoutTag,
  type Liquid,
  RenderTag,
  type Template,
  type Token,
} from 'liquidjs';
import { stageOf } from './stage.ts';
import { refuseTaintedPath } from './tracking.ts';
import { unwrap } from './wrap.ts';

/** Parses the text of a template of the file roots, or returns what it was parsed to before. */
type Parse = (text: string, file: string) => Template[];

/**
 * Registers `include`, `render` and `layout` for templates of the file roots. A path that begins
 * with `./` or `../` is relative to the template, or else to the roots. A host cannot choose the
 * file, the recorder is notified of it, and nesting is limited, so that endless nesting is an error
 * and does not exhaust memory.
 */
export const registerPartials = (liquid: Liquid, parse: Parse): void => {
  liquid.registerTag('include', partialTag(IncludeTag, parse));
  liquid.registerTag('render', partialTag(RenderTag as never, parse));
  liquid.registerTag('layout', partialTag(LayoutTag as never, parse));
};

/** What liquidjs's three tags keep of `{% include FILE … %}`; undefined stands for `none`. */
type Parsed = {
  readonly file: string | Template[] | Token | undefined;
  readonly currentFile: string | undefined;
  readonly liquid: Liquid;
};

const partialTag = (Tag: typeof IncludeTag, parse: Parse): typeof IncludeTag =>
  class extends Tag {
    override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      enter(ctx);
      const { file, currentFile, liquid } = this as unknown as Parsed;
      let tag: IncludeTag = this;
      if (file !== undefined) {
        const path = unwrap(yield pathOf(file, ctx, liquid));
        if (typeof path !== 'string' || path === '')
          throw new Error('the path of a template must be a string that is not empty');
        tag = withTemplates(this, path, openPartial(path, currentFile, ctx, parse));
      }
      yield super.render.call(tag, ctx, emitter);
      leave(ctx);
    }
  };

const pathOf = (file: string | Template[] | Token, ctx: Context, liquid: Liquid): unknown => {
  if (typeof file === 'string') return file;
  return Array.isArray(file)
    ? liquid.renderer.renderTemplates(file, ctx)
    : evalToken(file, ctx, false);
};

/** Returns the tag with a path and templates that are known, where liquidjs would look for them. */
const withTemplates = (tag: IncludeTag, file: string, templates: Template[]): IncludeTag => {
  const find = (): Template[] => templates;
  const liquid = Object.create(tag.liquid, {
    _parsePartialFile: { value: find },
    _parseLayoutFile: { value: find },
  });
  return Object.create(tag, { file: { value: file }, liquid: { value: liquid } });
};

const openPartial = (
  path: string,
  from: string | undefined,
  { globals }: Context,
  parse: Parse,
): Template[] => {
  refuseTaintedPath(globals, path);
  const { request, recorder } = stageOf(globals);
  const { files } = request.context;
  const name = path.replace(/^salt:\/\//, '');
  const isRelative = /^\.\.?\//.test(name) && from !== undefined;
  const candidates = [...(isRelative ? [posix.dirname(from)] : []), ''].map(folder =>
    posix.join('/', folder, name).slice(1),
  );
  const found = candidates.find(one => files.find(one, request.saltenv));
  // Whether a file is missing cannot be read again.
  if (found !== candidates[0]) recorder?.giveUp();
  if (found === undefined) throw new Error(`there is no template '${path}' in the file roots`);
  const text = files.read(found, request.saltenv);
  recorder?.file(found, request.saltenv);
  return parse(text, found);
};

const maxDepth = 50;
const depths = new WeakMap<object, number>();

const enter = ({ globals }: Context): void => {
  const depth = (depths.get(globals) ?? 0) + 1;
  if (depth > maxDepth)
    throw new Error(`templates include each other more than ${maxDepth} levels deep`);
  depths.set(globals, depth);
};

/** Not called after an error, which ends the whole rendering with its globals. */
const leave = ({ globals }: Context): void => {
  depths.set(globals, (depths.get(globals) ?? 1) - 1);
};
