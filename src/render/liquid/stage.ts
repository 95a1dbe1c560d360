import type { Stage } from '../types.ts';

const stages = new WeakMap<object, Stage>();

/** Records the stage of a template's globals; partials share the globals of their page. */
export const setStage = (globals: object, stage: Stage): void => {
  stages.set(globals, stage);
};

/** Returns the stage in which a tag or filter runs. */
export const stageOf = (globals: object): Stage => {
  const stage = stages.get(globals);
  if (!stage) throw new Error('a Liquid tag ran outside of a template');
  return stage;
};
