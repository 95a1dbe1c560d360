import { isDir } from '../_shared/files/file-paths.ts';
import { CommandExecutionError } from '../api.ts';
import { type GpgWhere, gpgHome, runGpg } from './gpg-run.ts';

/** A key in the format of `gpg.list_keys`. */
export type GpgKey = {
  keyid: string;
  fingerprint: string;
  uids: string[];
  expires?: string;
  created?: string;
  keyLength?: string;
  ownerTrust?: string;
  trust?: string;
};

const trusts: Readonly<Record<string, string>> = {
  e: 'Expired',
  n: 'Not Trusted',
  f: 'Fully Trusted',
  m: 'Marginally Trusted',
  u: 'Ultimately Trusted',
  r: 'Revoked',
};
const trustOf = (letter: string): string => trusts[letter] ?? 'Unknown';

/** Returns the keys of a folder; none if the folder does not exist yet. */
export const readGpgKeys = async (where: GpgWhere, isSecret = false): Promise<GpgKey[]> => {
  if (!isDir(gpgHome(where))) return [];
  const kind = isSecret ? '--list-secret-keys' : '--list-keys';
  const { code, stdout, words } = await runGpg([kind, '--fingerprint'], where);
  if (code !== 0)
    throw new CommandExecutionError(`gpg cannot list the keys of ${gpgHome(where)}: ${words}`);
  return parseKeys(stdout);
};

/**
 * Parses the output of `--with-colons` (GnuPG's doc/DETAILS): lines after `pub` or `sec` belong to
 * that key.
 */
const parseKeys = (text: string): GpgKey[] => {
  const keys: GpgKey[] = [];
  for (const line of text.split('\n')) {
    const fields = line.split(':');
    const [kind, trust = '', length = '', , keyid = '', date = '', expires = ''] = fields;
    const key = keys.at(-1);
    if (kind === 'pub' || kind === 'sec')
      keys.push({
        keyid,
        fingerprint: '',
        uids: [],
        ...(expires ? { expires: dayOf(expires) } : {}),
        ...(date ? { created: dayOf(date) } : {}),
        ...(length ? { keyLength: length } : {}),
        ...(fields[8] ? { ownerTrust: trustOf(fields[8]) } : {}),
        ...(trust ? { trust: trustOf(trust) } : {}),
      });
    else if (key && kind === 'fpr' && key.fingerprint === '') key.fingerprint = fields[9] ?? '';
    else if (key && kind === 'uid') key.uids.push(unescapeUid(fields[9] ?? ''));
  }
  return keys;
};

/** Decodes escapes like `\x3a`, which encode bytes of UTF-8. */
export const unescapeUid = (text: string): string =>
  text.includes('\\')
    ? Buffer.from(
        Buffer.from(text)
          .toString('latin1')
          .replace(/\\x([0-9a-f]{2})/gi, (_, hex: string) =>
            String.fromCharCode(Number.parseInt(hex, 16)),
          )
          .replace(/\\([nrfvb0])/g, (_, letter: string) => controls[letter] ?? letter),
        'latin1',
      ).toString('utf8')
    : text;

const controls: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  f: '\f',
  v: '\v',
  b: '\b',
  '0': '\0',
};

/** Returns the day of a time in seconds, in this host's time zone. */
export const dayOf = (seconds: string): string => {
  const date = new Date(Number(seconds) * 1000);
  const two = (number: number): string => String(number).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};

/** Returns the last key with this fingerprint, id, or short id. */
export const pickKey = (
  keys: readonly GpgKey[],
  keyid: string | null,
  fingerprint: string | null,
): GpgKey | undefined =>
  keys.findLast(
    key => key.fingerprint === fingerprint || key.keyid === keyid || key.keyid.slice(8) === keyid,
  );
