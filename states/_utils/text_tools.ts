/** Helpers for modules: `__utils__['text_tools.words'](…)`. */

/**
 * Splits a text at white space and commas.
 *
 * @param text what to split
 */
export const words = (text: string): string[] => text.split(/[\s,]+/).filter(word => word !== '');
