import { dumpJson } from '../../data/json-dump.ts';
import { mergeByStrategy, mergeRecursive } from '../../data/merge.ts';
import { type Data, type Dict, isDict } from '../../data/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import { loadYaml } from '../../yaml/load.ts';
import { isTrue, type WrapperModule } from '../define.ts';

const asDict = (value: Data): Dict => {
  if (isDict(value)) return value;
  throw new TsaltError('arguments', 'slsutil.merge needs dictionaries.');
};

const mergeParams = [
  ['strategy', 'smart'],
  ['renderer', 'yaml'],
  ['merge_lists', false],
] as const;

const dirName = (path: string): string => path.split('/').slice(0, -1).join('/');

/** `slsutil.*`: helpers for SLS and templates. */
export const slsutil: WrapperModule = {
  doc: 'Helpers for SLS files: merging, rendering, (de)serialising, finding files.',
  functions: {
    update: {
      doc: 'Merges `upd` into `dest`; lists are replaced unless merge_lists.',
      params: ['dest', 'upd', ['recursive_update', true], ['merge_lists', false]],
      work: ({ get, flag }) =>
        flag('recursive_update')
          ? mergeRecursive(asDict(get('dest')), asDict(get('upd')), flag('merge_lists'))
          : new Map([...asDict(get('dest')), ...asDict(get('upd'))]),
    },
    merge: {
      doc: 'Merges two values by a strategy: smart, aggregate, list, recurse, overwrite.',
      params: ['obj_a', 'obj_b', ...mergeParams],
      work: ({ get, text, flag }) =>
        mergeByStrategy(get('obj_a'), get('obj_b'), text('strategy'), flag('merge_lists')),
    },
    merge_all: {
      doc: 'Merges a list of values, left to right.',
      params: ['lst', ...mergeParams],
      work: ({ get, text, flag }) => {
        const list = get('lst');
        if (!Array.isArray(list))
          throw new TsaltError('arguments', 'slsutil.merge_all needs a list.');
        return list.reduce<Data>(
          (below, above) => mergeByStrategy(below, above, text('strategy'), flag('merge_lists')),
          new Map(),
        );
      },
    },
    renderer: {
      doc: 'Renders a file (`path`, salt:// or relative to the roots) or a `string` through a pipe.',
      params: [
        ['path', null],
        ['string', null],
        ['default_renderer', 'jinja|yaml'],
      ],
      anyKeyword: true,
      work: ({ ctx, get, text, extra }) =>
        ctx.renderAny({
          path: get('path') === null ? undefined : text('path'),
          text: get('string') === null ? undefined : text('string'),
          pipe: text('default_renderer'),
          extra,
        }),
    },
    serialize: {
      doc: 'A value as text: yaml, json, python-like formats by name.',
      params: ['serializer', 'obj'],
      anyKeyword: true,
      work: ({ get, text }) => {
        const format = text('serializer').toLowerCase();
        if (format === 'json' || format.startsWith('yaml')) return dumpJson(get('obj'));
        throw new TsaltError(
          'arguments',
          `slsutil.serialize knows yaml and json, not "${format}".`,
        );
      },
    },
    deserialize: {
      doc: 'Text in yaml or json as a value.',
      params: ['serializer', 'stream_or_string'],
      anyKeyword: true,
      work: ({ text }) => loadYaml(text('stream_or_string'), { file: 'slsutil.deserialize' }),
    },
    boolstr: {
      doc: "One of two texts by a value's truth.",
      params: ['value', ['true', 'true'], ['false', 'false']],
      work: ({ get }) => (isTrue(get('value')) ? get('true') : get('false')),
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
      doc: 'Whether a file is there in the roots.',
      params: ['path', ['saltenv', 'base']],
      work: ({ ctx, text }) => ctx.files.exists(text('path'), text('saltenv'), 'file'),
    },
    dir_exists: {
      doc: 'Whether a folder is there in the roots.',
      params: ['path', ['saltenv', 'base']],
      work: ({ ctx, text }) => ctx.files.exists(text('path'), text('saltenv'), 'dir'),
    },
    path_exists: {
      doc: 'Whether a file or folder is there in the roots.',
      params: ['path', ['saltenv', 'base']],
      work: async ({ ctx, text }) =>
        (await ctx.files.exists(text('path'), text('saltenv'), 'file')) ||
        (await ctx.files.exists(text('path'), text('saltenv'), 'dir')),
    },
    findup: {
      doc: 'The nearest file of these names, from a folder upwards to the root.',
      params: ['startpath', 'filenames', ['saltenv', 'base']],
      work: async ({ ctx, get, text }) => {
        const wanted = get('filenames');
        const names = (Array.isArray(wanted) ? wanted : [wanted]).map(String);
        let folder = text('startpath').replace(/^\/+|\/+$/g, '');
        for (;;) {
          for (const name of names) {
            const path = folder === '' ? name : `${folder}/${name}`;
            if (await ctx.files.exists(path, text('saltenv'), 'file')) return path;
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

const banner = (
  width: number,
  text: (name: string) => string,
  get: (name: string) => Data,
  newline: boolean,
): string => {
  const mark = text('commentchar');
  const border = text('borderchar');
  const start = get('blockstart');
  const end = get('blockend');
  const title =
    get('title') === null ? 'THIS FILE IS MANAGED BY SALT - DO NOT EDIT' : text('title');
  const body =
    get('text') === null
      ? 'The contents of this file are managed by Salt. Any changes to this file may be overwritten automatically and without warning.'
      : text('text');
  const line =
    `${mark}${border.repeat(Math.max(1, Math.floor((width - mark.length) / border.length)))}`.slice(
      0,
      width,
    );
  const inner = width - mark.length - 1;
  const rows = [
    ...(start === null ? [] : [String(start)]),
    line,
    `${mark}${' '.repeat(Math.max(1, Math.floor((width - mark.length - title.length) / 2)))}${title}`,
    line,
    mark,
    ...wrap(body, inner).map(row => `${mark} ${row}`),
    mark,
    line,
    ...(end === null ? [] : [String(end)]),
  ];
  return rows.join('\n') + (newline ? '\n' : '');
};

const wrap = (text: string, width: number): string[] => {
  const rows: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = rows.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      rows[rows.length - 1] = `${last} ${word}`;
    else rows.push(word);
  }
  return rows;
};
