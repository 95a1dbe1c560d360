import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../../protocol/error.ts';
import { dictOf } from '../../../../protocol/key-order.ts';
import { isPlainDict } from '../../../../protocol/plain.ts';
import type { AccountName } from '../../../_shared/files/check-perms.ts';
import { missingAccounts, warn } from '../../../_shared/files/file-checks.ts';
import { normalizeMode } from '../../../_shared/files/file-mode.ts';
import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { repackDictList } from '../../../_shared/states/values.ts';
import { __opts__, __salt__, type Plain, type PlainDict, type StateReturn } from '../../../api.ts';
import { encodeText } from '../../encode-text.ts';
import { wrongPath } from '../../managed-arguments.ts';
import { type DesiredFile, installFile, plannedChanges } from '../../managed-file.ts';
import { serializerFor } from '../../serialize-data.ts';

type SerializeOptions = {
  dataset?: Plain;
  dataset_pillar?: string | null;
  user?: AccountName;
  group?: AccountName;
  mode?: string | number | null;
  backup?: string | null;
  makedirs?: boolean;
  show_changes?: boolean;
  create?: boolean;
  merge_if_exists?: boolean;
  encoding?: string | null;
  encoding_errors?: string;
  serializer?: string | null;
  serializer_opts?: Plain;
  deserializer_opts?: Plain;
  formatter?: string | null;
};

/**
 * Manages a file with serialized data: YAML, JSON, TOML, an ini file, a property list, keys and
 * values, MessagePack or Python.
 *
 * @param name the file
 * @param dataset the data
 * @param dataset_pillar pillar key of the data
 * @param user owner
 * @param group group
 * @param mode mode in octal digits
 * @param backup `minion`: back up the replaced file
 * @param makedirs make missing directories above
 * @param show_changes false: the diff is not shown
 * @param create false: do nothing if the file does not exist
 * @param merge_if_exists merge the data into the file's data (not for msgpack and python)
 * @param encoding encoding of the file
 * @param encoding_errors `strict`, `ignore` or `replace`
 * @param serializer `yaml`, `yamlex`, `json`, `toml`, `configparser`, `plist`, `keyvalue`, `msgpack`, `python`
 * @param serializer_opts for json: `indent`, `sort_keys`, `ensure_ascii`, `separators`; for yaml and yamlex: `indent`, `width`, `default_flow_style`, `explicit_start`, `allow_unicode`, for yaml `sort_keys`, too; for keyvalue: `separator`, `quoting`, `line_ending`
 * @param deserializer_opts for keyvalue with merge_if_exists: `separator`, `quoting`
 * @param formatter another word for serializer
 * @unknown ignored
 *
 * @example
 * /etc/app.json:
 *   file.serialize:
 *     - dataset:
 *         port: 80
 *     - serializer: json
 */
export const serialize = async (
  name: string,
  {
    dataset = null,
    dataset_pillar = null,
    user = null,
    group = null,
    mode = null,
    backup = '',
    makedirs = false,
    show_changes = true,
    create = true,
    merge_if_exists = false,
    encoding = null,
    encoding_errors = 'strict',
    serializer = null,
    serializer_opts = null,
    deserializer_opts = null,
    formatter = null,
  }: SerializeOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.serialize');
  if (!create && !isFile(path))
    return { ...ret, comment: `File ${path} is not present and is not set for creation` };
  if (serializer && formatter)
    return failed(ret, 'Only one of serializer and formatter are allowed');
  if (dataset && dataset_pillar)
    return failed(ret, "Only one of 'dataset' and 'dataset_pillar' is permitted");
  const data = dataset_pillar
    ? ((await __salt__['pillar.get']?.(dataset_pillar)) as Plain)
    : dataset;
  if (data === null || data === undefined)
    return failed(ret, "Neither 'dataset' nor 'dataset_pillar' was defined");
  const problem = missingAccounts(user, group) || wrongPath(path, null, null);
  if (problem) return failed(ret, problem);
  const kind = String(serializer || formatter || 'yaml').toLowerCase();
  const format = serializerFor(kind);
  if (!format)
    return failed(
      ret,
      `The ${kind} serializer could not be found. It either does not exist or its prerequisites are not installed.`,
    );
  if (merge_if_exists && !format.read)
    return failed(ret, `merge_if_exists is not supported for the ${kind} serializer`);
  if (deserializer_opts && !merge_if_exists)
    warn(ret, "The 'deserializer_opts' option is ignored unless merge_if_exists is set to True.");

  const readOptions = repackDictList(deserializer_opts);
  const unread = merge_if_exists ? lacking(readOptions, format.readOptions) : [];
  if (unread.length > 0)
    return failed(ret, unsupported('deserializer_opts', unread, kind, format.readOptions));

  let existing: Plain | undefined;
  try {
    existing =
      merge_if_exists && isFile(path)
        ? await format.read?.(readFileSync(path, 'utf8'), readOptions)
        : undefined;
  } catch (error) {
    return failed(ret, `Failed to deserialize existing data: ${messageOf(error)}`);
  }
  const merged = existing === undefined || existing === null ? data : merge(existing, data);
  if (existing !== undefined && isDeepStrictEqual(existing, merged))
    return { ...ret, comment: `The file ${path} is in the correct state` };
  const options = {
    ...(encoding && kind === 'yaml' && { allow_unicode: true }),
    ...repackDictList(serializer_opts),
  };
  const unknown = lacking(options, format.options);
  if (unknown.length > 0)
    return failed(ret, unsupported('serializer_opts', unknown, kind, format.options));
  let contents: Buffer;
  try {
    const written = await format.write(merged, options);
    contents =
      typeof written === 'string'
        ? encodeText(`${written}\n`, encoding ?? undefined, encoding_errors)
        : Buffer.from(written);
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  const file: DesiredFile = {
    name: path,
    contents,
    perms: { user, group, mode: normalizeMode(mode), follow: true },
    backup,
    makedirs,
    showChanges: show_changes,
  };
  const result = __opts__.test ? await testAnswer(ret, file) : await installFile(ret, file);
  if (isPlainDict(existing) && isPlainDict(merged) && result.changes.diff)
    result.changes.diff = differences(existing, merged);
  return result;
};

const lacking = (given: PlainDict, there: readonly string[] = []): string[] =>
  Object.keys(given).filter(key => !there.includes(key));

const unsupported = (
  argument: string,
  options: string[],
  kind: string,
  there: readonly string[] = [],
): string =>
  `${argument} ${options.join(', ')} not supported for ${kind}; there are: ${there.join(', ') || 'none'}`;

const testAnswer = async (ret: StateReturn, file: DesiredFile): Promise<StateReturn> => {
  const changes = await plannedChanges(file);
  if (Object.keys(changes).length === 0)
    return { ...ret, comment: `The file ${file.name} is in the correct state` };
  if (!file.showChanges) changes.diff = '<show_changes=False>';
  const comment = `Dataset will be serialized and stored into ${file.name}`;
  return { ...ret, changes, result: null, comment };
};

const merge = (base: Plain, update: Plain): Plain => {
  if (!isPlainDict(base) || !isPlainDict(update)) return update;
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(update))
    merged.set(key, merged.has(key) ? merge(merged.get(key) ?? null, value) : value);
  return dictOf([...merged]);
};

const differences = (before: PlainDict, after: PlainDict): PlainDict => {
  const found: PlainDict = {};
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[key], after[key]];
    if (isDeepStrictEqual(old, now)) continue;
    found[key] =
      isPlainDict(old) && isPlainDict(now)
        ? differences(old, now)
        : { old: old ?? null, new: now ?? null };
  }
  return found;
};
