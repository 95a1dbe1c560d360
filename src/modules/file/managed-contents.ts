import { renderRequest } from '../../protocol/prefetch.ts';
import { contentText } from '../_shared/files/file-content.ts';
import { controlTemplate } from '../_shared/sources/control-files.ts';
import { splitLines, textList } from '../_shared/text/python-text.ts';
import { __salt__, type Plain, type PlainDict } from '../api.ts';

export type ContentsOptions = {
  readonly contents?: Plain | undefined;
  readonly contents_pillar?: string | string[] | null | undefined;
  readonly contents_grains?: string | string[] | null | undefined;
  readonly contents_delimiter?: string;
  readonly contents_newline?: boolean;
  readonly allow_empty?: boolean;
};

/** Returns the text of `contents`, `contents_pillar` or `contents_grains`, or an error message. */
export const givenContents = (options: ContentsOptions): GivenContents | Promise<GivenContents> => {
  const looked = lookUp(options);
  return looked instanceof Promise
    ? looked.then(found => textOf(found, options))
    : textOf(looked, options);
};

export type GivenContents = { readonly text?: string; readonly error?: string };

const textOf = (looked: Looked, options: ContentsOptions): GivenContents => {
  const { contents_pillar, contents_grains, allow_empty = true, contents_newline = true } = options;
  if ('error' in looked) return looked;
  const { value } = looked;
  if (value === null || value === undefined) return {};
  if (!allow_empty && (!value || (Array.isArray(value) && value.length === 0))) {
    const id = contents_pillar
      ? `contents_pillar ${String(contents_pillar)}`
      : contents_grains
        ? `contents_grains ${String(contents_grains)}`
        : "'contents'";
    return {
      error: `${id} value would result in empty contents. Set allow_empty to True to allow the managed file to be empty.`,
    };
  }
  if (Array.isArray(value) && value.length === 0)
    return {
      error:
        'Contents specified by contents/contents_pillar/contents_grains is not a string or list of strings, and is not binary data. SLS is likely malformed.',
    };
  const text = textList(value)
    .flatMap(splitLines)
    .map(line => `${line}\n`)
    .join('');
  return { text: contents_newline ? text : text.replace(/\n+$/, '').replace(/\r+$/, '') };
};

type Looked = { value: Plain | undefined } | { error: string };

const lookUp = (options: ContentsOptions): Looked | Promise<Looked> => {
  const { contents, contents_pillar, contents_grains, contents_delimiter = ':' } = options;
  if (contents_pillar !== null && contents_pillar !== undefined)
    return lookUpAll('pillar.get', 'Pillar', contents_pillar, contents_delimiter);
  if (contents_grains !== null && contents_grains !== undefined)
    return lookUpAll('grains.get', 'Grain', contents_grains, contents_delimiter);
  return { value: contents };
};

const nothing = '\0nothing under this key\0';

const lookUpAll = async (
  fun: 'pillar.get' | 'grains.get',
  what: string,
  keys: string | string[],
  delimiter: string,
): Promise<Looked> => {
  const values: Plain[] = [];
  for (const key of [keys].flat()) {
    const value = (await __salt__[fun]?.(key, nothing, { delimiter })) as Plain;
    if (value === nothing) return { error: `${what} ${key} does not exist` };
    values.push(value);
  }
  return { value: Array.isArray(keys) ? values.flatMap(textList).join('\n') : values[0] };
};

/** Renders contents that are a template on the control node. */
export const renderContents = async (
  text: string,
  options: {
    name: string;
    template: string;
    context?: PlainDict | null | undefined;
    defaults?: PlainDict | null | undefined;
    saltenv: string;
  },
): Promise<string> => {
  const file = await controlTemplate(renderRequest({ ...options, text }, options.saltenv));
  return file ? contentText(await file.content()) : '';
};
