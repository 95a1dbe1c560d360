/** A promise of docs/security.md: one list item that names the tests which hold it. */
export type SecurityPromise = {
  readonly text: string;
  readonly line: number;
  readonly tests: readonly NamedTest[];
};

/** A test as the document names it. The title may have the placeholders of `test.each`. */
export type NamedTest = { readonly file: string; readonly title: string };

/**
 * Reads the promises of docs/security.md. A promise is one line: `- text: ` followed by one or more
 * of `` `test/file.ts` "title", "another title" ``.
 *
 * @param text the document
 * @returns the promises in their order
 */
export const readPromises = (text: string): SecurityPromise[] =>
  text.split('\n').flatMap((line, index) => {
    if (!line.startsWith('- ') || !line.includes('`test/')) return [];
    const start = line.indexOf('`test/');
    return [
      {
        text: line.slice(2, start).replace(/:?\s*$/, ''),
        line: index + 1,
        tests: namedTests(line.slice(start)),
      },
    ];
  });

const namedTests = (words: string): NamedTest[] =>
  [...words.matchAll(/`(test\/[^`]+)`((?:,? "[^"]+")*)/g)].flatMap(([, file = '', titles = '']) => {
    const found = [...titles.matchAll(/"([^"]+)"/g)].map(([, title = '']) => ({ file, title }));
    return found.length > 0 ? found : [{ file, title: '' }];
  });

const placeholder = /%[sdifjoOc#$%]|\$\{[^}]*\}|\$[\w.]+/;

/**
 * Makes the expression that matches the title of every case of a `test.each`.
 *
 * @param title the title as it is written: `%s` and its like, `$name`, and `${…}` match any text
 * @returns an expression for whole titles
 */
export const titlePattern = (title: string): RegExp =>
  new RegExp(
    `^${title
      .split(placeholder)
      .map(piece => piece.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[^]*')}$`,
  );

/**
 * Returns whether the document names a title of the source: placeholders are equal to each other.
 *
 * @param one a title
 * @param other another title
 */
export const sameTitle = (one: string, other: string): boolean =>
  one.split(placeholder).join('\0') === other.split(placeholder).join('\0');
