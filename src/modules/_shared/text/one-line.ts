import { isPlainDict, type PlainDict } from '../../../protocol/plain.ts';
import { SaltInvocationError } from '../../api.ts';
import { plainStr } from './python-text.ts';

/**
 * Refuses arguments that would write more than one line of a configuration file, where the rest
 * would be settings of its own.
 *
 * @param named the arguments by their names; keys of a mapping as `its key` and values as text
 * @throws SaltInvocationError that names the argument
 */
export const refuseNewlines = (named: Readonly<Record<string, unknown>>): void => {
  for (const [argument, value] of Object.entries(named))
    for (const one of [value].flat())
      if (typeof one === 'string' && /[\n\r\0]/.test(one))
        throw new SaltInvocationError(
          `The argument "${argument}" must be one line, without newline and NUL: ${JSON.stringify(one)}`,
        );
};

/** Refuses newlines in the `sections` of an ini file: their names, keys and values. */
export const refuseNewlinesOfIni = (sections: PlainDict, separator: string): void => {
  refuseNewlines({ separator, sections: Object.keys(sections) });
  for (const [name, value] of Object.entries(sections)) {
    const options = isPlainDict(value) ? value : { [name]: value };
    for (const [key, each] of Object.entries(options))
      refuseNewlines({ 'a key of sections': key, [`sections: ${key}`]: plainStr(each) });
  }
};
