import { pythonRegex } from '../../filters/python-regex.ts';

/** Does the text match from its start? */
export const regexMatches = (
  text: string,
  pattern: string,
  ignorecase: boolean,
  multiline: boolean,
): boolean => pythonRegex(pattern, { ignorecase, multiline, sticky: true }).test(text);
