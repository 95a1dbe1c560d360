import { SaltInvocationError, type StateReturn } from '../../../api.ts';
import { pemEntries } from '../../pem.ts';
import { failOrForesee } from '../../x509-compare.ts';
import { keepPem, presentText, splitFileArguments } from '../../x509-file.ts';
import { pemOrFile } from '../../x509-keys.ts';

/**
 * A file holds this PEM.
 *
 * @param name the file
 * @param text the PEM, or the file that contains it
 * @param keywords `user`, `group`, `mode`, `makedirs`, `dir_mode`, `backup` of the file
 * @example
 * /etc/ssl/ca.crt:
 *   x509.pem_managed:
 *     - text: |
 *         -----BEGIN CERTIFICATE-----
 *         …
 */
export const pem_managed = async (
  name: string,
  { text, ...keywords }: { text: string; [keyword: string]: unknown },
): Promise<StateReturn> =>
  failOrForesee(name, async () => {
    const { file, rest } = splitFileArguments(keywords);
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined)
      throw new SaltInvocationError(`'${unknown}' is no argument of a PEM file`);
    const wanted = pemEntries(pemOrFile(text).toString())
      .map(entry => entry.text)
      .join('');
    if (wanted === '') throw new SaltInvocationError('The text holds no PEM');
    const present = presentText(name);
    const wrong =
      present === undefined
        ? { created: name }
        : present === wanted
          ? undefined
          : { replaced: name };
    return keepPem(name, { what: 'The PEM file', wrong, make: async () => wanted, file });
  });
