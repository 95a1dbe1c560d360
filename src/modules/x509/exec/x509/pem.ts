import { writeAtomic } from '../../../_shared/files/atomic-write.ts';
import { globPaths } from '../../../_shared/files/glob-paths.ts';
import { readFileSync } from '../../../_shared/safe-fs/fs.ts';
import { SaltInvocationError } from '../../../api.ts';
import { pemEntries, privateEntries } from '../../pem.ts';
import { pemOrFile } from '../../x509-keys.ts';

/**
 * Returns one PEM entry of a text or file, reformatted.
 *
 * @param text a PEM or a file
 * @param pem_type its label, such as `CERTIFICATE`; the first entry when left out
 */
export const get_pem_entry = async (
  text: string,
  pem_type: string | null = null,
): Promise<string> => {
  const found = pemOrFile(text);
  const entry = pemEntries(found.toString()).find(
    ({ label }) => pem_type === null || label === pem_type,
  );
  if (entry) return entry.text;
  throw new SaltInvocationError(
    `PEM does not contain ${pem_type === null ? 'an entry' : `a single entry of type ${pem_type}`}`,
  );
};

/** The PEM entries of all files that match a pattern, by path. */
export const get_pem_entries = async (glob_path: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    globPaths(glob_path).flatMap(path => {
      const [entry] = pemEntries(readFileSync(path, 'latin1'));
      return entry ? [[path, entry.text]] : [];
    }),
  );

/**
 * Writes a PEM; a file with a private key is readable for its owner only.
 *
 * @param text the PEM
 * @param path where
 * @param overwrite false: a private key that is in the file already goes before it
 * @param pem_type only the entry of this label
 */
export const write_pem = async (
  text: string,
  path: string,
  { overwrite = true, pem_type = null }: { overwrite?: boolean; pem_type?: string | null } = {},
): Promise<string> => {
  const entry = await get_pem_entry(text, pem_type);
  const before = overwrite ? '' : privateEntries(path);
  const isPrivate = before !== '' || entry.includes('PRIVATE KEY-----');
  writeAtomic(path, before + entry, isPrivate ? { mode: 0o600 } : {});
  return `PEM written to ${path}`;
};
