/**
 * Manages the configuration of logrotate, including the files that it includes.
 */

import { replaceFile } from '../../_shared/files/write-file.ts';
import { type PlainDict, SaltInvocationError } from '../../api.ts';
import {
  type LogrotateBlock,
  type LogrotateFile,
  readAll,
  type Setting,
} from '../logrotate-file.ts';

export const __func_alias__ = { set_: 'set' };

const mainFile = '/etc/logrotate.conf';

const settingsOf = ({ lines }: { readonly lines: LogrotateBlock['lines'] }): PlainDict =>
  Object.fromEntries(lines.map(({ key, value }) => [key, value]));

/**
 * Returns the configuration as data: settings, and blocks by the file that they apply to.
 *
 * @param conf_file the main file
 * @example tsalt-ssh web1 logrotate.show_conf
 */
export const show_conf = async (conf_file = mainFile): Promise<PlainDict> => {
  const [main, ...included] = readAll(conf_file);
  const blocks = (file: LogrotateFile): PlainDict =>
    Object.fromEntries(
      file.blocks.flatMap(block => block.names.map(name => [name, settingsOf(block)])),
    );
  if (!main) return {};
  return {
    ...settingsOf(main),
    ...(included.length > 0
      ? {
          'include files': Object.fromEntries(
            included.map(file => [
              file.path.split('/').at(-1),
              file.blocks.flatMap(({ names }) => names),
            ]),
          ),
        }
      : {}),
    ...Object.assign({}, ...included.map(blocks)),
    ...blocks(main),
  };
};

/**
 * Returns a setting, a block, or a setting of a block; false if it does not exist.
 *
 * @param key a setting such as `rotate`, or the file of a block
 * @param value a setting of that block
 * @param conf_file the main file
 * @example tsalt-ssh web1 logrotate.get /var/log/wtmp rotate
 */
export const get = async (
  key: string,
  value: string | null = null,
  { conf_file = mainFile }: { conf_file?: string } = {},
): Promise<Setting | PlainDict> => {
  const files = readAll(conf_file);
  const block = findBlock(files, key)?.block;
  if (value !== null) return block ? ((settingsOf(block)[value] as Setting) ?? false) : false;
  if (block) return settingsOf(block);
  return (files[0] && (settingsOf(files[0])[key] as Setting)) ?? false;
};

const findBlock = (
  files: readonly LogrotateFile[],
  name: string,
): { file: LogrotateFile; block: LogrotateBlock } | undefined => {
  for (const file of files)
    for (const block of file.blocks) if (block.names.includes(name)) return { file, block };
  return undefined;
};

const lineOf = (key: string, value: Setting): string => (value === true ? key : `${key} ${value}`);

/**
 * Sets one line of the configuration, in the file that has it; other lines stay as they are.
 *
 * @param key a setting such as `rotate`, or the file of a block
 * @param value its value, or a setting of that block; false removes the line
 * @param setting the value of that block's setting; false removes the line
 * @param conf_file the main file
 * @example tsalt-ssh web1 logrotate.set /var/log/wtmp rotate 2
 */
export const set_ = async (
  key: string,
  value: Setting,
  setting: Setting | null = null,
  { conf_file = mainFile }: { conf_file?: string } = {},
): Promise<boolean> => {
  const files = readAll(conf_file);
  const [main] = files;
  if (!main) return false;
  const found = findBlock(files, key);
  if (setting === null) {
    if (found)
      throw new SaltInvocationError(
        `Error: ${key} includes a dict, and a specific setting inside the dict was not declared`,
      );
    await write(
      main,
      main.lines.filter(line => line.key === key).map(({ at }) => at),
      value === false ? [] : [lineOf(key, value)],
      afterSettings(main),
    );
    return true;
  }
  const name = String(value);
  const line = setting === false ? [] : [`    ${lineOf(name, setting)}`];
  if (found) {
    const at = found.block.lines.filter(one => one.key === name).map(one => one.at);
    await write(found.file, at, line, found.block.to);
  } else if (line.length > 0)
    await write(
      main,
      [],
      [`${key} {`, ...line, '}'],
      main.text.at(-1) === '' ? main.text.length - 1 : main.text.length,
    );
  return true;
};

/**
 * Returns the position after the last global setting before the blocks: later settings would not
 * apply to them.
 */
const afterSettings = ({ lines, blocks }: LogrotateFile): number => {
  const end = Math.min(
    ...blocks.map(({ from }) => from),
    ...lines.filter(({ key }) => key === 'include').map(({ at }) => at),
  );
  const before = lines.map(({ at }) => at).filter(at => at < end);
  return before.length > 0 ? Math.max(...before) + 1 : 0;
};

/**
 * Replaces the old lines with the new ones, at the position of the first old one, or else at
 * `otherwise`.
 */
const write = async (
  { path, text }: LogrotateFile,
  old: readonly number[],
  lines: readonly string[],
  otherwise: number,
): Promise<void> => {
  const place = old[0] ?? otherwise;
  const kept = text.map((line, at) => (old.includes(at) ? undefined : line));
  const all = [...kept.slice(0, place), ...lines, ...kept.slice(place)];
  await replaceFile(path, all.filter(line => line !== undefined).join('\n'));
};
