/**
 * Splits `module.function`. A module may be nested (`my_cloud.my_resource.present`,
 * spec/idem-contracts), so the last dot counts. Without a dot, the function is undefined.
 */
export const splitFunctionName = (name: string): [module: string, fun: string | undefined] => {
  const dot = name.lastIndexOf('.');
  return dot < 1 ? [name, undefined] : [name.slice(0, dot), name.slice(dot + 1)];
};
