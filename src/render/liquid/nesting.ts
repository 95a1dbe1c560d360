import {
  type Context,
  type Emitter,
  IncludeTag,
  LayoutTag,
  type Liquid,
  RenderTag,
} from 'liquidjs';

const maxDepth = 50;
const depths = new WeakMap<object, number>();

/** Limits the nesting of includes, so that endless ones are an error and do not exhaust memory. */
export const limitNesting = (liquid: Liquid): void => {
  liquid.registerTag('include', LimitedInclude);
  liquid.registerTag('render', LimitedRender);
  liquid.registerTag('layout', LimitedLayout);
};

class LimitedInclude extends IncludeTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    enter(ctx);
    yield super.render(ctx, emitter);
    leave(ctx);
  }
}

class LimitedRender extends RenderTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, void, unknown> {
    enter(ctx);
    yield super.render(ctx, emitter);
    leave(ctx);
  }
}

class LimitedLayout extends LayoutTag {
  override *render(ctx: Context, emitter: Emitter): Generator<unknown, unknown, unknown> {
    enter(ctx);
    const result = yield super.render(ctx, emitter);
    leave(ctx);
    return result;
  }
}

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
