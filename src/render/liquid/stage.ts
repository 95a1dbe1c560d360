import type { Stage } from '../types.ts';

const stages = new WeakMap<object, Stage>();

/** Remembers which stage a template's globals belong to; partials share the globals of their page. */
export const setStage = (globals: object, stage: Stage): void => {
  stages.set(globals, stage);
};

/** The stage a tag or filter works for. */
export const stageOf = (globals: object): Stage => {
  const stage = stages.get(globals);
  if (!stage) throw new Error('a Liquid tag ran outside of a template');
  return stage;
};
