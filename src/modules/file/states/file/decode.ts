import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { hashBytes, hashFile } from '../../../_shared/files/file-hash.ts';
import { isFile } from '../../../_shared/files/file-paths.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { newReturn } from '../../../_shared/states/returns.ts';
import { __opts__, __salt__, CommandExecutionError, type StateReturn } from '../../../api.ts';

/**
 * Manages a file whose content is given in base64.
 *
 * @param name the file
 * @param encoded_data the content in base64
 * @param contents_pillar pillar key of the data
 * @param encoding_type `base64`
 * @param checksum type of the hashes that changes show
 *
 * @example
 * /etc/app.key:
 *   file.decode:
 *     - contents_pillar: app:key
 */
export const decode = async (
  name: string,
  {
    encoded_data = null,
    contents_pillar = null,
    encoding_type = 'base64',
    checksum = 'md5',
  }: {
    encoded_data?: string | null;
    contents_pillar?: string | null;
    encoding_type?: string;
    checksum?: string;
  } = {},
): Promise<StateReturn> => {
  if (!encoded_data && !contents_pillar)
    throw new CommandExecutionError(
      "Specify either the 'encoded_data' or 'contents_pillar' argument.",
    );
  if (encoded_data && contents_pillar)
    throw new CommandExecutionError(
      "Specify only one 'encoded_data' or 'contents_pillar' argument.",
    );
  if (encoding_type !== 'base64')
    throw new CommandExecutionError(`encoding_type ${encoding_type} is not known; use base64`);
  const encoded = encoded_data ?? (await __salt__['pillar.get']?.(contents_pillar, false));
  if (typeof encoded !== 'string') throw new CommandExecutionError('Pillar data not found.');
  const ret = newReturn(name);
  const content = fromBase64(encoded);
  const wanted = hashBytes(content, checksum);
  const old = isFile(name) ? hashFile(name, checksum) : null;
  if (old !== null && readFileSync(name).equals(content))
    return { ...ret, comment: 'File is in the correct state.' };
  const changes = { old, new: wanted };
  if (__opts__.test)
    return { ...ret, changes, result: null, comment: 'File is set to be updated.' };
  writeAtomic(name, content);
  return { ...ret, changes, comment: 'File was updated.' };
};

/** Decodes base64 like Python: invalid characters are skipped, and truncated data is refused. */
const fromBase64 = (encoded: string): Buffer => {
  const text = encoded.replace(/[^A-Za-z0-9+/=]/g, '');
  const digits = text.replaceAll('=', '').length;
  const padded = digits % 4 === 0 || digits + (text.length - digits) >= Math.ceil(digits / 4) * 4;
  if (digits % 4 === 1 || !padded)
    throw new CommandExecutionError('The data is not valid base64: Incorrect padding');
  return Buffer.from(text, 'base64');
};
