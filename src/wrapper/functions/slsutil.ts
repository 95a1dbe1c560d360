import { cloneData } from '../../data/values/clone.ts';
import {
  type MergeOptions,
  mergeAllByStrategy,
  mergeByStrategy,
  strategyOf,
  updateDict,
} from '../../data/values/merge.ts';
import { type Data, type Dict, isDict } from '../../data/values/value.ts';
import { withoutEnd } from '../../data/values/without-end.ts';
import { TsaltError } from '../../protocol/error.ts';
import { wordWrap } from '../../render/jinja/filters/prose.ts';
import type { WrapperContext } from '../context.ts';
import { isTrueArgument, type WrapperCall, type WrapperModule } from '../define.ts';
import { deserialize, serialize } from './serializers.ts';

const asDict = (value: Data): Dict => {
  if (isDict(value)) return value;
  throw new TsaltError('arguments', 'slsutil.merge needs dictionaries.');
};

const mergeParams = [
  ['strategy', 'smart'],
  ['renderer', 'yaml'],
  ['merge_lists', false],
] as const;

/**
 * Merges into a copy, so that the template's changes to the result do not affect the first value.
 */
const mergeTwo = (below: Data, above: Data, options: MergeOptions): Data => {
  const check = strategyOf(options) === 'aggregate' ? (value: Data) => value : asDict;
  return mergeByStrategy(cloneData(check(below)), check(above), options);
};

const mergeOptions = ({ text, flag }: WrapperCall): MergeOptions => ({
  strategy: text('strategy'),
  renderer: text('renderer'),
  mergeLists: flag('merge_lists'),
});

const dirName = (path: string): string => path.split('/').slice(0, -1).join('/');

/** `slsutil.*`: helpers for SLS and templates. */
export const slsutil: WrapperModule = {
  doc: 'Helpers for SLS files: merging, rendering, (de)serialising, finding files.',
  functions: {
    update: {
      doc: 'Merges `upd` into `dest` itself; lists are replaced unless merge_lists.',
      params: ['dest', 'upd', ['recursive_update', true], ['merge_lists', false]],
      work: ({ get, flag }) => {
        const dest = asDict(get('dest'));
        const upd = asDict(get('upd'));
        if (flag('recursive_update')) return updateDict(dest, upd, flag('merge_lists'));
        for (const [key, value] of upd) dest.set(key, value);
        return dest;
      },
    },
    merge: {
      doc: 'Merges two values by a strategy: smart, aggregate, list, recurse, overwrite.',
      params: ['obj_a', 'obj_b', ...mergeParams],
      work: given => mergeTwo(given.get('obj_a'), given.get('obj_b'), mergeOptions(given)),
    },
    merge_all: {
      doc: 'Merges a list of values, left to right.',
      params: ['lst', ...mergeParams],
      work: given => {
        const list = given.get('lst');
        if (!Array.isArray(list))
          throw new TsaltError('arguments', 'slsutil.merge_all needs a list.');
        const options = mergeOptions(given);
        if (strategyOf(options) !== 'aggregate') list.forEach(asDict);
        return mergeAllByStrategy(list, options);
      },
    },
    renderer: {
      doc: 'Renders a file (`path`: salt://, relative to the roots, or an absolute one on the host) or a `string` through a pipe; one that ends with a template engine returns text.',
      params: [
        ['path', null],
        ['string', null],
        ['default_renderer', 'jinja|yaml'],
      ],
      anyKeyword: true,
      work: async ({ ctx, get, text, extra }) => {
        const path = get('path') === null ? undefined : text('path');
        const given = get('string') === null ? undefined : text('string');
        if ((path === undefined) === (given === undefined))
          throw new TsaltError('arguments', 'slsutil.renderer takes either a path or a string.');
        if (path !== undefined && !(await isFileOf(ctx, path))) {
          ctx.log('error', 'slsutil', `slsutil.renderer: there is no file ${path}`);
          return new Map();
        }
        return ctx.renderAny({
          path,
          text: path?.startsWith('/') ? await readOnHost(ctx, path) : given,
          pipe: text('default_renderer'),
          extra,
        });
      },
    },
    serialize: {
      doc: 'A value as text: json, yaml, toml, configparser, plist, python or keyvalue.',
      params: ['serializer', 'obj'],
      anyKeyword: true,
      work: ({ get, text, extra }) => serialize(text('serializer'), get('obj'), extra),
    },
    deserialize: {
      doc: 'Text in json, yaml, toml, configparser, plist or keyvalue as a value.',
      params: ['serializer', 'stream_or_string'],
      anyKeyword: true,
      work: ({ text, extra }) => deserialize(text('serializer'), text('stream_or_string'), extra),
    },
    boolstr: {
      doc: "One of two texts by a value's truth.",
      params: ['value', ['true', 'true'], ['false', 'false']],
      work: ({ get }) => (isFalsy(get('value')) ? get('false') : get('true')),
    },
    banner: {
      doc: 'A comment block that says the file is managed.',
      params: [
        ['width', 72],
        ['commentchar', '#'],
        ['borderchar', '#'],
        ['blockstart', null],
        ['blockend', null],
        ['title', null],
        ['text', null],
        ['newline', false],
      ],
      work: ({ get, text, flag }) => banner(Number(get('width')), text, get, flag('newline')),
    },
    file_exists: {
      doc: 'Whether a file exists in the roots.',
      params: ['path', ['saltenv', 'base']],
      work: ({ ctx, text }) => ctx.files.exists(text('path'), text('saltenv'), 'file'),
    },
    dir_exists: {
      doc: 'Whether a folder exists in the roots.',
      params: ['path', ['saltenv', 'base']],
      work: ({ ctx, text }) => ctx.files.exists(text('path'), text('saltenv'), 'dir'),
    },
    path_exists: {
      doc: 'Whether a file or folder exists in the roots.',
      params: ['path', ['saltenv', 'base']],
      work: ({ ctx, text }) => isThere(ctx, text('path'), text('saltenv')),
    },
    findup: {
      doc: 'The nearest file or folder of these names, from a folder upwards to the root.',
      params: ['startpath', 'filenames', ['saltenv', 'base']],
      work: async ({ ctx, get, text }) => {
        const wanted = get('filenames');
        const names = (Array.isArray(wanted) ? wanted : [wanted]).map(String);
        if (text('startpath').length > longestPath)
          throw new TsaltError(
            'arguments',
            `slsutil.findup: the path is longer than ${longestPath} characters.`,
          );
        let folder = withoutEnd(text('startpath').replace(/^\/+/, ''), '/');
        for (;;) {
          for (const name of names) {
            const path = folder === '' ? name : `${folder}/${name}`;
            if (await isThere(ctx, path, text('saltenv'))) return path;
          }
          if (folder === '') break;
          folder = dirName(folder);
        }
        throw new TsaltError(
          'not-found',
          `File pattern(s) not found in path ancestry: ${names.join(', ')}.`,
          { kind: 'render' },
        );
      },
    },
  },
};

/** Limit of a path's length, as Linux's PATH_MAX: each of its folders is searched. */
const longestPath = 4096;

const isThere = async (ctx: WrapperContext, path: string, saltenv: string): Promise<boolean> =>
  (await ctx.files.exists(path, saltenv, 'file')) || (await ctx.files.exists(path, saltenv, 'dir'));

/** As in Salt, a missing file renders to nothing: many trees rely on this for optional files. */
const isFileOf = async (ctx: WrapperContext, path: string): Promise<boolean> =>
  path.startsWith('/')
    ? isTrueArgument(await ctx.call('file.file_exists', [path], new Map()))
    : ctx.files.exists(path.replace(/^salt:\/\//, ''), 'base', 'file');

const readOnHost = async (ctx: WrapperContext, path: string): Promise<string> =>
  String(await ctx.call('file.read', [path], new Map()));

/** Python's falsiness: any non-empty string is true. */
const isFalsy = (value: Data): boolean =>
  typeof value === 'string' ? value === '' : !isTrueArgument(value);

const banner = (
  width: number,
  text: (name: string) => string,
  get: (name: string) => Data,
  newline: boolean,
): string => {
  const mark = text('commentchar');
  const left = mark.trimEnd();
  const right = mark.trim();
  const room = width - left.length - right.length - 2;
  if (room <= 0) throw new TsaltError('arguments', 'Width is too small to render banner.');
  const title =
    get('title') === null ? 'THIS FILE IS MANAGED BY SALT - DO NOT EDIT' : text('title');
  const body =
    get('text') === null
      ? 'The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and without warning.'
      : text('text');
  const border = `${mark}${text('borderchar')
    .slice(0, 1)
    .repeat(Math.max(0, width - left.length - right.length))}${right}`;
  const spacer = `${mark}${' '.repeat(Math.max(0, width - mark.length * 2))}${mark}`;
  const row = (line: string): string => `${left} ${line} ${right}`;
  const rows = [
    ...(get('blockstart') === null ? [] : [text('blockstart')]),
    border,
    spacer,
    ...wrap(title, room).map(line => row(center(line, room))),
    spacer,
    ...wrap(body, room).map(line => row(line.padEnd(room))),
    border,
    ...(get('blockend') === null ? [] : [text('blockend')]),
  ];
  return rows.join('\n') + (newline ? '\n' : '');
};

/**
 * Centres as Python does: an odd space goes to the left if the width is odd, otherwise to the
 * right.
 */
const center = (line: string, width: number): string => {
  const free = Math.max(0, width - line.length);
  const before = Math.floor(free / 2) + (free & width & 1);
  return line.padStart(line.length + before).padEnd(width);
};

const wrap = (text: string, width: number): string[] =>
  text.trim() === ''
    ? []
    : wordWrap(text.replace(/\s/g, ' '), width, {
        breaksLongWords: true,
        breaksOnHyphens: true,
        lineEnd: '\n',
      }).split('\n');
