import { dirname } from 'node:path';
import { renderRequest, type TemplateArguments } from '../../../protocol/prefetch.ts';
import { CommandExecutionError } from '../../api.ts';
import { contentOfFile, contentText, type FileContent } from '../files/file-content.ts';
import { hashOf } from '../files/file-hash.ts';
import { modeText } from '../files/file-mode.ts';
import { exists, isDir, statOf } from '../files/file-paths.ts';
import { type ControlFile, controlFile, controlTemplate } from './control-files.ts';
import { isReachable } from './download.ts';
import { type SourceSum, sourceSum } from './source-hash.ts';
import { parseSource, redactUrl, type SourceUrl } from './source-url.ts';
import { fetchWeb } from './web-source.ts';

/** A source that cannot be used; the message is the state's whole comment. */
export class SourceError extends CommandExecutionError {}

/** A source that was found: its hash, its mode, and its content once somebody needs it. */
export type FoundSource = {
  readonly sum: SourceSum;
  /** Where it is known before the content comes. */
  readonly size?: number | undefined;
  readonly mode?: string | undefined;
  /** The content, where it came with the run. */
  readonly text?: string | undefined;
  readonly content: () => FileContent | Promise<FileContent>;
};

export type SourceOptions = Omit<TemplateArguments, 'template' | 'source' | 'text'> & {
  readonly template?: string | null | undefined;
  readonly source_hash?: string | null | undefined;
  readonly source_hash_name?: string | null | undefined;
  readonly skip_verify?: boolean;
  /** false: take any certificate of a web server. */
  readonly verify_ssl?: boolean;
  /** Keep a copy of a source from the web, and ask the server whether it still holds. */
  readonly use_etag?: boolean;
  readonly saltenv: string;
  /** The file that is there now, to compare with. */
  readonly dest?: { readonly path: string; readonly sha256: () => Promise<string> } | undefined;
  /** Where large content may wait; left out in test mode. */
  readonly near?: string | undefined;
};

/**
 * Finds a file state's source. Throws `CommandExecutionError` with Salt's sentence.
 *
 * @returns at once where nothing has to be waited for: templates that were rendered ahead of time
 */
export const findSource = (
  source: string,
  options: SourceOptions,
): FoundSource | Promise<FoundSource> => {
  const url = parseSource(source);
  return options.template && url.scheme === 'salt'
    ? templateSource(source, url, options)
    : findElsewhere(source, url, options);
};

const findElsewhere = async (
  source: string,
  url: SourceUrl,
  options: SourceOptions,
): Promise<FoundSource> => {
  const raw =
    url.scheme === 'salt'
      ? await saltSource(source, options)
      : url.scheme === 'file'
        ? await localSource(url.path, source, options)
        : url.scheme === 'other'
          ? unsupported(source)
          : await webSource(source, options);
  if (!options.template) return raw;
  const text = contentText(await raw.content());
  return templateSource(source, url, options, text, raw.mode);
};

/** The first source of a list that can be found, with its own hash when it has one. */
export const chooseSource = async (
  sources: readonly (string | { readonly [source: string]: unknown })[],
  sourceHash: string | null | undefined,
  saltenv: string,
  { verify }: { verify?: boolean | undefined } = {},
): Promise<{ source: string; source_hash: string | null | undefined }> => {
  for (const item of sources) {
    const [source, own] =
      typeof item === 'string' ? [item, undefined] : (Object.entries(item)[0] ?? []);
    if (source === undefined || !(await isThere(source, saltenv, verify))) continue;
    return { source, source_hash: typeof own === 'string' && own ? own : sourceHash };
  }
  throw new CommandExecutionError('none of the specified sources were found');
};

const isThere = async (
  source: string,
  saltenv: string,
  verify: boolean | undefined,
): Promise<boolean> => {
  const url = parseSource(source);
  if (url.scheme === 'salt')
    return (await controlFile(url.path, url.saltenv ?? saltenv, { peek: true })) !== undefined;
  if (url.scheme === 'file') return url.path.startsWith('/') && exists(url.path);
  return url.scheme !== 'other' && isReachable(source, { verify });
};

const unsupported = (source: string): never => {
  throw new SourceError(
    `The source ${redactUrl(source)} has a protocol that is not supported; use salt://, http://, https://, file:// or a path`,
  );
};

const saltSource = async (source: string, options: SourceOptions): Promise<FoundSource> => {
  const { path, saltenv = options.saltenv } = parseSource(source);
  const file = await controlFile(path, saltenv, {
    have: options.dest?.sha256,
    near: options.near,
    // Its folder may be made before the content comes; and a test may need no content.
    peek: options.near === undefined || !isDir(dirname(options.near)),
  });
  if (!file) throw new SourceError(`Source file ${source} not found in saltenv '${saltenv}'`);
  return {
    sum: { hash_type: 'sha256', hsum: file.sha256 },
    size: file.size,
    mode: modeOf(file),
    content: file.content,
  };
};

const templateSource = (
  source: string,
  url: SourceUrl,
  options: SourceOptions,
  text?: string,
  mode?: string,
): FoundSource | Promise<FoundSource> => {
  const { name, context, defaults, user, group, attrs } = options;
  const saltenv = url.saltenv ?? options.saltenv;
  const template = options.template ?? '';
  const request = renderRequest(
    { name, source, template, context, defaults, user, group, mode: options.mode, attrs, text },
    saltenv,
  );
  const rendered = (file: ControlFile | undefined): FoundSource | Promise<FoundSource> => {
    if (!file) throw new SourceError(`Source file ${source} not found in saltenv '${saltenv}'`);
    const known = mode ?? modeOf(file);
    const isMissing = known === undefined && options.mode === 'keep' && url.scheme === 'salt';
    const found: FoundSource = {
      sum: { hash_type: 'sha256', hsum: file.sha256 },
      mode: known,
      text: file.text,
      content: file.content,
    };
    return isMissing ? withModeOf(found, url.path, saltenv) : found;
  };
  const file = controlTemplate(request, { have: options.dest?.sha256, near: options.near });
  return file instanceof Promise ? file.then(rendered) : rendered(file);
};

const modeOf = ({ mode }: { mode?: number | undefined }): string | undefined =>
  mode === undefined ? undefined : modeText(mode);

/** A template that was rendered ahead of time comes without its mode; `mode: keep` needs it. */
const withModeOf = async (
  found: FoundSource,
  path: string,
  saltenv: string,
): Promise<FoundSource> => {
  const file = await controlFile(path, saltenv, { peek: true });
  return { ...found, mode: file && modeOf(file) };
};

const localSource = async (
  path: string,
  source: string,
  options: SourceOptions,
): Promise<FoundSource> => {
  const found = statOf(path);
  if (!found) throw new SourceError(`Local file source ${path} does not exist`);
  if (isDir(path)) throw new SourceError(`Source ${path} is a directory`);
  const wanted = await wantedSum(source, options);
  const sum = wanted ?? { hash_type: 'sha256', hsum: await hashOf(path) };
  if (wanted) verify(source, wanted, await hashOf(path, wanted.hash_type));
  return {
    sum,
    mode: modeText(found.mode),
    content: () => contentOfFile(path, options.near),
  };
};

const webSource = async (source: string, options: SourceOptions): Promise<FoundSource> => {
  const wanted = await wantedSum(source, options);
  if (!wanted && !options.skip_verify && !options.use_etag)
    throw new SourceError(
      `Unable to verify upstream hash of source file ${redactUrl(source)}, please set source_hash or set skip_verify to True`,
    );
  const fetch = async (): Promise<FileContent> => {
    const { content, sum } = await fetchWeb(source, {
      near: options.near,
      hashType: wanted?.hash_type,
      verify: options.verify_ssl,
      useEtag: options.use_etag,
      saltenv: options.saltenv,
    });
    if (wanted && sum !== wanted.hsum) content.discard();
    if (wanted) verify(source, wanted, sum);
    return content;
  };
  if (wanted) return { sum: wanted, content: fetch };
  const content = await fetch();
  return { sum: { hash_type: 'sha256', hsum: content.sha256 }, content: () => content };
};

const wantedSum = async (
  source: string,
  { name, source_hash, source_hash_name, saltenv, skip_verify, verify_ssl }: SourceOptions,
): Promise<SourceSum | undefined> => {
  if (skip_verify || !source_hash) return undefined;
  return sourceSum(source_hash, saltenv, {
    name,
    source,
    sourceHashName: source_hash_name,
    verify: verify_ssl,
  });
};

const verify = (source: string, { hash_type, hsum }: SourceSum, actual: string): void => {
  if (hsum === actual) return;
  throw new SourceError(
    `Specified ${hash_type} checksum for ${redactUrl(source)} (${hsum}) does not match actual checksum (${actual}). If the 'source_hash' value refers to a remote file with multiple possible matches, then it may be necessary to set 'source_hash_name'.`,
  );
};
