import { messageOf } from '../../../../protocol/error.ts';
import { expandUser, isFile } from '../../../_shared/files/file-paths.ts';
import { followLinks } from '../../../_shared/safe-fs/open-parent.ts';
import { failed, newReturn } from '../../../_shared/states/returns.ts';
import { refuseNewlines } from '../../../_shared/text/one-line.ts';
import { plainStr } from '../../../_shared/text/python-text.ts';
import { splitAtNewlines } from '../../../_shared/text/text-diff.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../../api.ts';
import { readText, writeText } from '../../edit-file.ts';
import { setKeyValues } from '../../key-values.ts';

type KeyValueOptions = {
  key?: string | number | null;
  value?: string | number | boolean | null;
  key_values?: PlainDict | null;
  separator?: string;
  append_if_not_found?: boolean;
  prepend_if_not_found?: boolean;
  search_only?: boolean;
  show_changes?: boolean;
  ignore_if_missing?: boolean;
  count?: number;
  uncomment?: string | null;
  key_ignore_case?: boolean;
  value_ignore_case?: boolean;
};

/**
 * Manages `key=value` lines of a file.
 *
 * @param name the file
 * @param key a key
 * @param value its value
 * @param key_values several keys with their values
 * @param separator the separator between key and value
 * @param append_if_not_found add a missing key at the end
 * @param prepend_if_not_found add a missing key at the start
 * @param search_only only report the changes that would be made
 * @param show_changes false: the diff is not shown
 * @param ignore_if_missing a missing file is not an error
 * @param count keep at most this many lines of a key
 * @param uncomment characters that comment lines out: such a line of the key comes back in
 * @param key_ignore_case `Port` and `port` are the same key
 * @param value_ignore_case `Yes` and `yes` are the same value
 *
 * @example
 * /etc/ssh/sshd_config:
 *   file.keyvalue:
 *     - key_values:
 *         PermitRootLogin: 'no'
 *     - separator: ' '
 *     - uncomment: '# '
 *     - append_if_not_found: True
 */
export const keyvalue = async (
  name: string,
  {
    key = null,
    value = null,
    key_values = null,
    separator = '=',
    append_if_not_found = false,
    prepend_if_not_found = false,
    search_only = false,
    show_changes = true,
    ignore_if_missing = false,
    count = 1,
    uncomment = null,
    key_ignore_case = false,
    value_ignore_case = false,
  }: KeyValueOptions = {},
): Promise<StateReturn> => {
  const path = expandUser(name);
  const ret = newReturn(path);
  if (!path) return failed(ret, 'Must provide name to file.keyvalue');
  const single = key !== null && value !== null;
  if (single && key_values)
    return failed(ret, 'file.keyvalue can not combine key_values with key and value');
  const values: PlainDict = single ? { [String(key)]: value } : (key_values ?? {});
  if (Object.keys(values).length === 0)
    return failed(ret, 'file.keyvalue key and value not supplied and key_values is empty');
  try {
    refuseNewlines({
      [single ? 'key' : 'a key of key_values']: Object.keys(values),
      [single ? 'value' : 'a value of key_values']: Object.values(values).map(each =>
        plainStr(each),
      ),
      separator,
    });
  } catch (error) {
    return failed(ret, messageOf(error));
  }
  if (!isFile(path)) {
    const comment = `unable to open ${path}`;
    return ignore_if_missing ? { ...ret, comment } : failed(ret, comment);
  }
  const full = followLinks(path);
  const { text, encoding } = readText(full);
  const { lines, diff, changes } = setKeyValues(splitAtNewlines(text), {
    values,
    separator,
    count,
    append: append_if_not_found,
    prepend: prepend_if_not_found,
    uncomment,
    keyIgnoreCase: key_ignore_case,
    valueIgnoreCase: value_ignore_case,
  });
  if (changes === 0) return ret;
  const shown = show_changes ? { diff: diff.join('') } : { diff: '<show_changes=False>' };
  if (__opts__.test || search_only)
    return {
      ...ret,
      result: null,
      changes: shown,
      comment:
        `File ${path} is set to be changed (${changes} lines)` +
        (show_changes ? `\nPredicted diff:\n\r\t\t${diff.join('\r\t\t')}` : ''),
    };
  writeText(full, lines.join(''), { encoding });
  return { ...ret, changes: shown, comment: `Changed ${changes} lines` };
};
