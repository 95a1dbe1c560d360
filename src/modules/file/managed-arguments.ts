import { isAbs, isDir } from '../_shared/files/file-paths.ts';

/** Returns an error message if the arguments of `file.managed` contradict each other; else undefined. */
export const refuseArguments = (
  {
    contents,
    contents_pillar,
    contents_grains,
  }: { contents?: unknown; contents_pillar?: unknown; contents_grains?: unknown },
  hasSource: boolean,
  keepMode: boolean,
): string | undefined => {
  const ways = [contents, contents_pillar, contents_grains].filter(
    way => way !== null && way !== undefined,
  );
  const three = "'contents', 'contents_pillar', or 'contents_grains'";
  if (hasSource && ways.length > 0) return `'source' cannot be used in combination with ${three}`;
  if (keepMode && ways.length > 0)
    return `Mode preservation cannot be used in combination with ${three}`;
  if (ways.length > 1)
    return "Only one of 'contents', 'contents_pillar', and 'contents_grains' is permitted";
  return undefined;
};

/** Returns an error message if the path or the template variables of a file are invalid. */
export const wrongPath = (
  path: string,
  context: unknown,
  defaults: unknown,
  isDirectory: boolean = isDir(path),
): string => {
  if (!isAbs(path)) return `Specified file ${path} is not an absolute path`;
  if (isDirectory) return `Specified target ${path} is a directory`;
  const isDict = (value: unknown): boolean =>
    value === null || (typeof value === 'object' && !Array.isArray(value));
  if (!isDict(context)) return 'Context must be formed as a dict';
  return isDict(defaults) ? '' : 'Defaults must be formed as a dict';
};
