import { isPlainDict } from '../../protocol/plain.ts';
import { replaceFile } from '../_shared/files/write-file.ts';
import { readFileSync } from '../_shared/safe-fs/fs.ts';
import { formatSimpleYaml, parseSimpleYaml } from '../_shared/text/simple-yaml.ts';
import { __opts__, CommandExecutionError, type PlainDict } from '../api.ts';
import { grainsFileOf } from './grains-file-path.ts';

/** Returns the path of the host's grains file. */
export const grainsFile = (): string => {
  try {
    return grainsFileOf(__opts__);
  } catch {
    // no run yet: the default
    return grainsFileOf({});
  }
};

/**
 * Returns the static grains of this host; an empty dict without a grains file.
 *
 * @throws SaltInvocationError if the file is not a readable YAML mapping
 */
export const readGrainsFile = async (file = grainsFile()): Promise<PlainDict> => {
  let text: string;
  try {
    // Reading asynchronously would start Node's threads in every run, for a small file.
    text = readFileSync(file, 'utf8');
  } catch {
    return {};
  }
  const value = parseSimpleYaml(text, file);
  if (value === null) return {};
  if (!isPlainDict(value)) throw new CommandExecutionError(`${file} is not a mapping of grains.`);
  return value;
};

/** Replaces the static grains of this host, atomically. */
export const writeGrainsFile = async (grains: PlainDict, file = grainsFile()): Promise<void> => {
  const text = Object.keys(grains).length === 0 ? '{}' : formatSimpleYaml(grains);
  try {
    await replaceFile(file, `${text}\n`, 0o640);
  } catch (error) {
    throw new CommandExecutionError(
      `Unable to write to grains file ${file}: ${error instanceof Error ? error.message : error}`,
    );
  }
};
