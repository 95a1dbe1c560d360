import { readOr } from '../_shared/files/read-file.ts';
import { CommandExecutionError } from '../api.ts';
import { pemOrFile } from './x509-keys.ts';

/** Bytes as PEM, in lines of 64. */
export const toPem = (label: string, der: Buffer): string =>
  `-----BEGIN ${label}-----\n${der.toString('base64').replace(/(.{64})(?=.)/g, '$1\n')}\n-----END ${label}-----\n`;

/** The entries of a text, each as it stands, with its label. */
export const pemEntries = (text: string): { readonly label: string; readonly text: string }[] =>
  [...text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g)].map(
    ([entry, label = '']) => ({ label, text: `${entry.replaceAll('\r', '').trim()}\n` }),
  );

/** The private keys that are in a file, where there is one: what is to be kept of it. */
export const privateEntries = (path: string): string =>
  pemEntries(readOr(path) ?? '')
    .filter(({ label }) => label.endsWith('PRIVATE KEY'))
    .map(({ text }) => text)
    .join('');

/** The bytes of one entry, whatever headers it has. */
export const entryBytes = (entry: string): Buffer =>
  Buffer.from(entry.replace(/-----[^-]+-----/g, '').replace(headers, ''), 'base64');

const headers = /^[A-Za-z-]+: .*$/gm;

/**
 * The bytes of a PEM entry: a text, a file, or a file that is DER already.
 *
 * @throws CommandExecutionError where it has no entry of one of these labels
 */
export const derOf = (given: string, ...labels: string[]): Buffer => {
  const found = pemOrFile(given);
  if (Buffer.isBuffer(found)) return found;
  const entry = pemEntries(found).find(({ label }) => labels.includes(label));
  if (!entry) throw new CommandExecutionError(`There is no ${labels[0]?.toLowerCase()} in it`);
  return entryBytes(entry.text);
};
