/** Values and attributes in XML files. */

import { messageOf } from '../../../protocol/error.ts';
import { replaceFile } from '../../_shared/files/write-file.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { CommandExecutionError, log } from '../../api.ts';
import { readXml, withAttribute, withElementText, type XmlElement } from '../xml-document.ts';
import { findElement } from '../xml-path.ts';

const readText = (file: string): string => {
  try {
    const bytes = readFileSync(file);
    const [, encoding = 'utf-8'] =
      /^<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)/.exec(bytes.toString('latin1')) ?? [];
    if (!['utf-8', 'us-ascii'].includes(encoding.toLowerCase()))
      throw new Error(`it is written in ${encoding}, and only UTF-8 is read here`);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new CommandExecutionError(`The file ${file} cannot be read: ${messageOf(error)}`);
  }
};

/** Returns the result of `use` for the first element at the path; false when there is none. */
const withElement = async <T>(
  file: string,
  path: string,
  use: (element: XmlElement, source: string) => T | Promise<T>,
): Promise<T | false> => {
  const source = readText(file);
  try {
    const element = findElement(readXml(source), path);
    if (element) return await use(element, source);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new CommandExecutionError(`${file}: ${error.message}`);
  }
  log.error(`${file} has no element ${path}`);
  return false;
};

/**
 * Returns the text of the first element for a path, up to its first child; null when it has none,
 * false when the element does not exist.
 *
 * @param file path of the file
 * @param element the path, as in XPath: `.//server[@id='3']/port`
 * @example tsalt-ssh '*' xml.get_value /tmp/test.xml ".//element"
 */
export const get_value = (file: string, element: string): Promise<string | null | false> =>
  withElement(file, element, ({ text = null }) => text);

/**
 * Sets the text of the first element for a path. Returns false when the element does not exist. The
 * rest of the file is not changed, including comments.
 *
 * @param file path of the file
 * @param element the path, as in XPath
 * @param value the text
 * @example tsalt-ssh '*' xml.set_value /tmp/test.xml ".//element" "new value"
 */
export const set_value = (file: string, element: string, value: string): Promise<boolean> =>
  withElement(file, element, async (found, source) => {
    await replaceFile(file, withElementText(source, found, value));
    return true;
  });

/**
 * Returns the attributes of the first element for a path; false when it does not exist.
 *
 * @param file path of the file
 * @param element the path, as in XPath
 * @example tsalt-ssh '*' xml.get_attribute /tmp/test.xml ".//element[@id='3']"
 */
export const get_attribute = (
  file: string,
  element: string,
): Promise<Record<string, string> | false> =>
  withElement(file, element, ({ attributes }) => attributes);

/**
 * Sets an attribute of the first element for a path. Returns false when the element does not exist.
 *
 * @param file path of the file
 * @param element the path, as in XPath
 * @param key name of the attribute
 * @param value its value
 * @example tsalt-ssh '*' xml.set_attribute /tmp/test.xml ".//element[@id='3']" editedby "gal"
 */
export const set_attribute = (
  file: string,
  element: string,
  key: string,
  value: string,
): Promise<boolean> =>
  withElement(file, element, async (found, source) => {
    await replaceFile(file, withAttribute(source, found, key, value));
    return true;
  });
