import { posix } from 'node:path';
import type { FileRoots } from '../../../fileserver/file-roots.ts';
import { shownPath } from '../../../fileserver/shown-path.ts';
import type { Recorder } from '../../share/recorder.ts';
import { JinjaError } from '../jinja-error.ts';
import type { SyntaxOptions } from '../syntax/options.ts';
import { quoted } from '../values/text.ts';
import { compileSource } from './compile.ts';
import { Deferred, type Names } from './deferred.ts';
import type { JinjaTemplate } from './program.ts';

type Templates = {
  readonly files: FileRoots;
  readonly saltenv: string;
  readonly syntax: SyntaxOptions;
  /** Names for later imports without context. */
  readonly globals: () => Names;
  readonly recorder: Recorder | undefined;
};

/**
 * Finds templates in the file roots. Paths that begin with `./` or `../` are relative to `tpldir`.
 * As in Salt's loader (salt.utils.jinja), loading a template sets `tplfile`, `tpldir` and `tpldot`
 * for later imports without context, and for relative paths.
 */
export const templateLoader = ({
  files,
  saltenv,
  syntax,
  globals,
  recorder,
}: Templates): ((name: string) => JinjaTemplate) => {
  const loaded = new Map<string, JinjaTemplate>();
  return name => {
    const known = loaded.get(name);
    if (known) return known;
    const names = globals();
    const isRelative = /^\.\.?(?:\/|$)/.test(name);
    const tpldir = names.get('tpldir');
    const here = tpldir instanceof Deferred ? tpldir.value : tpldir;
    const path = isRelative ? posix.normalize(`${String(here)}/${name}`) : name;
    const found = path.startsWith('..') ? undefined : files.find(path, saltenv);
    if (!found) {
      recorder?.giveUp();
      throw missing(name, saltenv);
    }
    announce(names, name, path, isRelative);
    const text = files.read(path, saltenv);
    recorder?.file(path, saltenv);
    const template = compileSource({ name: path, file: shownPath(found.path), text }, syntax);
    loaded.set(name, template);
    return template;
  };
};

const announce = (globals: Names, name: string, path: string, isRelative: boolean): void => {
  const folder = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
  const tpldir = isRelative ? String(globals.get('tpldir') ?? folder) : folder;
  globals.set('tplfile', isRelative ? name : path);
  globals.set('tpldir', tpldir === '' ? '.' : tpldir);
  globals.set('tpldot', tpldir.replaceAll('/', '.'));
};

const missing = (name: string, saltenv: string): JinjaError =>
  new JinjaError('missing', `there is no template ${quoted(name)} in saltenv ${quoted(saltenv)}`, {
    hint: 'Paths start at the file roots, or with ./ and ../ at the folder of the template.',
  });
