import type { Template } from 'liquidjs';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import { shownPath } from '../../fileserver/shown-path.ts';
import { SourceMap, type TemplateOrigin } from '../source-map.ts';
import { type TextMaps, writtenBy } from './emitter.ts';
import { stageOf } from './stage.ts';

const maps = new WeakMap<object, TextMaps>();

/** The maps of one rendering's texts, by the globals of its templates. */
export const mapsOf = (globals: object): TextMaps => {
  const known = maps.get(globals);
  if (known) return known;
  const { request, variables } = stageOf(globals);
  const { file, saltenv, context } = request;
  // Maps are kept for other hosts, so they must not refer to data of this one.
  const page = {
    file,
    saltenv,
    files: context.files,
    tplfile: String(variables().get('tplfile') ?? file),
  };
  const originOf = (template: Template) => originIn(page, template);
  const made: TextMaps = {
    mapOf: (pieces, templates) => new SourceMap(pieces, templates, originOf),
    known: new Map(),
  };
  maps.set(globals, made);
  return made;
};

type Page = {
  readonly file: string;
  readonly saltenv: string;
  readonly files: FileRoots;
  readonly tplfile: string;
};

const originIn = ({ file, saltenv, files, tplfile }: Page, template: Template): TemplateOrigin => {
  const { input, begin, trimLeft, file: path = tplfile } = writtenBy(template);
  // Only text nodes know how much of them is removed; tags know whether they strip.
  const isCopy = typeof trimLeft === 'number';
  const start = begin + (isCopy ? trimLeft : 0);
  const before = input.slice(0, start).split(/\r\n|[\r\n]/);
  return {
    file: path === tplfile ? file : fileIn(files, path, saltenv),
    text: input,
    line: before.length,
    column: Array.from(before.at(-1) ?? '').length + 1,
    isCopy,
  };
};

/** Returns the file on the control node of a template. */
export const fileIn = (files: FileRoots, path: string, saltenv: string): string => {
  const found = files.find(path, saltenv);
  return found ? shownPath(found.path) : path;
};
