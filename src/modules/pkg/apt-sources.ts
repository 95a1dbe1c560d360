import { getOwn } from '../../protocol/plain.ts';
import { SaltInvocationError } from '../api.ts';

/** One source of packages, in either file format. */
export type AptSource = {
  readonly type: string;
  readonly uri: string;
  readonly dist: string;
  readonly comps: readonly string[];
  readonly disabled: boolean;
  /** `signed-by`, `arch`, `trusted` … with lower-case names. */
  readonly options: Readonly<Record<string, string>>;
  readonly comment: string;
};

/**
 * A part of a file of sources, one line or stanza. Parts that are not sources are kept unchanged.
 */
export type AptPiece = { readonly text: string; readonly sources: readonly AptSource[] };

/**
 * Reads `deb [signed-by=/a/b arch=amd64] http://host/path suite main # comment`.
 *
 * @throws SaltInvocationError if the line is not a source
 */
export const parseAptLine = (line: string): AptSource => {
  const source = readAptLine(line);
  if (!source)
    throw new SaltInvocationError(
      `Not a line of sources.list: "${line}". Write: deb [options] URI suite [component …].`,
    );
  return source;
};

const readAptLine = (line: string): AptSource | undefined => {
  const match =
    /^\s*(#?)[\s#]*(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+([^\s#]+)\s*([^#]*?)\s*(?:#\s*(.*))?$/.exec(
      line,
    );
  if (!match) return undefined;
  const [, off = '', type = '', options = '', uri = '', dist = '', comps = '', comment = ''] =
    match;
  if (!/^[a-z][a-z0-9+.-]*:/i.test(uri)) return undefined;
  return {
    type,
    uri,
    dist,
    comps: comps.split(/\s+/).filter(part => part !== ''),
    disabled: off !== '',
    options: Object.fromEntries(
      options
        .split(/\s+/)
        .filter(part => part.includes('='))
        .map(part => {
          const at = part.indexOf('=');
          return [part.slice(0, at).toLowerCase(), part.slice(at + 1)];
        }),
    ),
    comment: comment.trim(),
  };
};

/** Formats a source as `parseAptLine` reads it. */
export const formatAptLine = ({
  type,
  uri,
  dist,
  comps,
  disabled,
  options,
  comment,
}: AptSource): string => {
  const set = Object.entries(options).map(([name, value]) => `${name}=${value}`);
  return [
    ...(disabled ? ['#'] : []),
    type,
    ...(set.length > 0 ? [`[${set.join(' ')}]`] : []),
    uri,
    dist,
    ...comps,
    ...(comment === '' ? [] : [`# ${comment}`]),
  ].join(' ');
};

/** Reads the lines of a `.list` file. */
export const readListFile = (text: string): AptPiece[] =>
  text.split('\n').map(line => {
    const source = readAptLine(line);
    return { text: line, sources: source ? [source] : [] };
  });

/** Reads the stanzas of a `.sources` file (deb822): each one describes types x URIs x suites. */
export const readSourcesFile = (text: string): AptPiece[] =>
  text.split(/\n(?:[ \t]*\n)+/).map(stanza => ({ text: stanza, sources: readStanza(stanza) }));

const listField = (fields: Record<string, string>, name: string): string[] =>
  (fields[name] ?? '').split(/\s+/).filter(part => part !== '');

const readStanza = (stanza: string): AptSource[] => {
  const fields: Record<string, string> = {};
  let last = '';
  for (const line of stanza.split('\n')) {
    if (line.startsWith('#')) continue;
    const match = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
    if (match) {
      last = (match[1] ?? '').toLowerCase();
      fields[last] = match[2] ?? '';
    } else if (/^\s/.test(line) && last) fields[last] = `${fields[last]}\n${line.trim()}`;
  }
  const { enabled = 'yes' } = fields;
  const known = ['types', 'uris', 'suites', 'components', 'enabled'];
  const names: Record<string, string> = {
    architectures: 'arch',
    languages: 'lang',
    targets: 'target',
  };
  const options = Object.fromEntries(
    Object.entries(fields)
      .filter(([name]) => !known.includes(name) && !name.startsWith('x-'))
      .map(([name, value]) => [
        getOwn(names, name) ?? name,
        name === 'signed-by' ? value.trim() : value.trim().split(/\s+/).join(','),
      ]),
  );
  return listField(fields, 'types').flatMap(type =>
    listField(fields, 'uris').flatMap(uri =>
      listField(fields, 'suites').map(dist => ({
        type,
        uri,
        dist,
        comps: listField(fields, 'components'),
        disabled: /^(?:no|false|without|off|disable)$/i.test(enabled.trim()),
        options,
        comment: '',
      })),
    ),
  );
};

/** Formats a source as a stanza of a `.sources` file. */
export const formatStanza = ({
  type,
  uri,
  dist,
  comps,
  disabled,
  options,
  comment,
}: AptSource): string => {
  const names: Record<string, string> = {
    arch: 'Architectures',
    lang: 'Languages',
    target: 'Targets',
    'signed-by': 'Signed-By',
  };
  const title = (name: string): string =>
    getOwn(names, name) ??
    name.replace(/(^|-)([a-z])/g, (_, dash, letter) => dash + letter.toUpperCase());
  return [
    ...(comment === '' ? [] : [`# ${comment}`]),
    ...(disabled ? ['Enabled: no'] : []),
    `Types: ${type}`,
    `URIs: ${uri}`,
    `Suites: ${dist}`,
    ...(comps.length > 0 ? [`Components: ${comps.join(' ')}`] : []),
    ...Object.entries(options).map(
      ([name, value]) =>
        `${title(name)}: ${name === 'signed-by' ? value : value.replaceAll(',', ' ')}`,
    ),
  ].join('\n');
};

/** Whether two entries have the same kind, address and suite. */
export const sameSuite = (left: AptSource, right: AptSource): boolean =>
  left.type === right.type &&
  left.uri.replace(/\/+$/, '') === right.uri.replace(/\/+$/, '') &&
  left.dist === right.dist;

/**
 * Whether an entry is the requested one: the same kind, address and suite, and a component in
 * common. Entries without a common component are separate; a request without components matches any
 * of them.
 */
export const isMeant = (entry: AptSource, wanted: AptSource): boolean =>
  sameSuite(entry, wanted) &&
  (wanted.comps.length === 0 ||
    entry.comps.length === 0 ||
    wanted.comps.some(comp => entry.comps.includes(comp)));

/** Whether two entries have the same architectures, in any order. */
export const sameArchitectures = (left: AptSource, right: AptSource): boolean => {
  const [one, two] = [left, right].map(({ options }) =>
    (options.arch ?? '').split(',').sort().join(','),
  );
  return one === two;
};
