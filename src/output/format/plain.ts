import type { Plain } from '../../protocol/plain.ts';
import { palette } from '../color.ts';
import type { Format } from '../format.ts';
import { dataByHost } from '../result.ts';
import { harmless, outputLinesOf, repr, showValue } from '../text.ts';

/** `host: line` for each line of each host (spec: salt.output.txt). */
export const txtFormat: Format = {
  format: results =>
    Object.entries(dataByHost(results))
      .flatMap(([host, value]) =>
        (typeof value === 'string' ? outputLinesOf(value) : [showValue(value)]).map(
          line => `${harmless(host)}: ${harmless(line)}`,
        ),
      )
      .join('\n'),
};

/** All of it as one Python literal (spec: salt.output.raw). */
export const rawFormat: Format = { format: results => repr(dataByHost(results)) };

/** Values alone, a list's items each on a line (spec: salt.output.newline_values_only). */
export const valuesFormat: Format = {
  format: results =>
    Object.values(dataByHost(results))
      .flatMap<Plain>(value => (Array.isArray(value) ? value : [value]))
      .map(value => harmless(showValue(value)))
      .join('\n'),
};

/** Lists only the hosts that did not respond (spec: salt.output.no_return). */
export const noReturnFormat: Format = {
  format: (results, { color }) => {
    const { RED, CYAN, ENDC } = palette(color);
    return results
      .filter(({ failure }) => failure !== undefined)
      .map(({ id }) => `${CYAN}${harmless(id)}:${ENDC}\n${RED}    Minion did not return${ENDC}`)
      .join('\n');
  },
};
