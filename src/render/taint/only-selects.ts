/**
 * Modules of the control node whose results are selected by their arguments, or are the arguments
 * themselves. If the host has a module of this name, its results are tainted anyway.
 */
const selecting = new Set([
  'config',
  'cp',
  'defaults',
  'grains',
  'log',
  'match',
  'mine',
  'pillar',
  'saltutil',
  'sdb',
  'state',
  'sys',
  'vault',
]);

/** Whether a function makes no new strings from its arguments: it only selects by them. */
export const onlySelects = (fun: string): boolean => selecting.has(fun.slice(0, fun.indexOf('.')));
