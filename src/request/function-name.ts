/** Whether a word has the form of a function: `test.ping`. */
export const isFunctionName = (word: string): boolean => /^[\w-]+(\.[\w-]+)+$/.test(word);
