import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { getOwn } from '../../protocol/plain.ts';
import { type CommandResult, runCommand } from '../_shared/commands/run-command.ts';
import { uidOf } from '../_shared/files/owner-names.ts';
import { makeTempFolder, removeTemp } from '../_shared/files/temporary.ts';
import { writeFileSync } from '../_shared/safe-fs/fs.ts';
import { CommandExecutionError, SaltInvocationError } from '../api.ts';
import { ntHash } from './nt-hash.ts';

/** An account of Samba as pdbedit shows it, by the lower-case names of its fields. */
export type SambaAccount = { readonly [field: string]: string };

const pdbedit = (words: readonly string[], stdin?: string): Promise<CommandResult> =>
  runCommand(['pdbedit', ...words], {
    plainLocale: true,
    ...(stdin === undefined ? {} : { stdin }),
  });

/** Runs pdbedit; throws when it fails. */
export const runPdbedit = async (words: readonly string[], stdin?: string): Promise<string> => {
  const { code, stdout, stderr } = await pdbedit(words, stdin);
  if (code === 0) return stdout;
  const why = stderr.trim() || stdout.trim() || `pdbedit ended with status ${code}`;
  throw new CommandExecutionError(why);
};

/** All accounts; with their hashes when they are asked for. */
export const listAccounts = async (hashes = false): Promise<{ [login: string]: SambaAccount }> => {
  const words = ['--list', '--verbose', ...(hashes ? ['--smbpasswd-style'] : [])];
  const accounts: { [login: string]: SambaAccount } = {};
  for (const part of (await runPdbedit(words)).split(/^-+$/m)) {
    const account = fieldsOf(part);
    const login = account['unix username'];
    if (login !== undefined) accounts[login] = account;
  }
  return accounts;
};

const fieldsOf = (text: string): SambaAccount => {
  const fields: { [field: string]: string } = {};
  let last = '';
  for (const line of text.split('\n').filter(each => each.trim() !== '')) {
    const at = line.indexOf(':');
    if (at < 0) fields[last] = (fields[last] ?? '') + line.trim();
    else {
      last = line.slice(0, at).trim().toLowerCase();
      fields[last] = line.slice(at + 1).trim();
    }
  }
  return fields;
};

/** Option of pdbedit for each field that can be set. */
export const accountOptions: Readonly<Record<string, string>> = {
  domain: '--domain=',
  'full name': '--fullname=',
  'account desc': '--account-desc=',
  'home directory': '--homedir=',
  'homedir drive': '--drive=',
  'profile path': '--profile=',
  'logon script': '--script=',
  'account flags': '--account-control=',
  'user sid': '-U',
};

/** Sets fields, each by its option. */
export const setFields = async (
  login: string,
  fields: { readonly [field: string]: string },
  further: readonly string[] = [],
): Promise<void> => {
  const words = Object.entries(fields).flatMap(([field, value]) => {
    const option = accountOptions[field] ?? '';
    const text = field === 'account flags' ? `[${value.replace(/[^NDHLX]/g, '')}]` : value;
    return option.endsWith('=') ? [`${option}${text}`] : [option, text];
  });
  await runPdbedit(['--modify', `--user=${login}`, ...words, ...further]);
};

/** The hash a password means, or the hash that was given itself. */
export const hashFor = (password: string, isHash: boolean): string => {
  if (!isHash) return ntHash(password);
  const hash = password.toUpperCase();
  if (/^[0-9A-F]{32}$/.test(hash)) return hash;
  throw new SaltInvocationError('An NT hash has 32 hexadecimal digits.');
};

/** Adds an account or changes its password, which goes through standard input. */
export const setPassword = async (
  login: string,
  password: string,
  before?: SambaAccount,
): Promise<void> => {
  if (/[\r\n]/.test(password))
    throw new SaltInvocationError('A password for Samba has no line ends.');
  await runPdbedit(['--create', `--user=${login}`, '-t'], `${password}\n${password}\n`);
  // It enables an account that was disabled.
  if (before) await putBack(login, before);
};

/** Restores the fields that have changed; returns the account as it was before that. */
const putBack = async (login: string, before: SambaAccount): Promise<SambaAccount> => {
  const after = getOwn(await listAccounts(true), login) ?? {};
  const changed = Object.keys(accountOptions).filter(field => after[field] !== before[field]);
  if (changed.length > 0)
    await setFields(login, Object.fromEntries(changed.map(field => [field, before[field] ?? ''])));
  return after;
};

/** Adds an account with a password that nobody knows. */
export const addLocked = (login: string): Promise<void> =>
  setPassword(login, randomBytes(24).toString('hex'));

/** Settings that come back by no option of pdbedit. */
const lasting: Readonly<Record<string, RegExp>> = {
  workstations: /^$/,
  'munged dial': /^$/,
  'logon hours': /^F*$/,
};

/**
 * Sets the password of an account by its hash. pdbedit takes a hash as an argument only, which every
 * user of the host can read; so it is imported from a file, and what an import changes is put back.
 */
export const setHash = async (login: string, hash: string, before: SambaAccount): Promise<void> => {
  const lost = Object.keys(lasting).filter(field => !lasting[field]?.test(before[field] ?? ''));
  if (lost.length > 0)
    throw new CommandExecutionError(
      `The hash of ${login} cannot be set without losing its ${lost.join(', ')}: give the password itself.`,
    );
  const folder = makeTempFolder('tsalt-pdbedit-');
  try {
    const file = join(folder, 'smbpasswd');
    const now = Math.floor(Date.now() / 1000)
      .toString(16)
      .toUpperCase()
      .padStart(8, '0');
    const flags = before['account flags'] ?? '[U          ]';
    const line = [login, uidOf(login), 'X'.repeat(32), hash, flags, `LCT-${now}`, ''].join(':');
    writeFileSync(file, `${line}\n`, { mode: 0o600 });
    await runPdbedit([`--import=smbpasswd:${file}`, `--user=${login}`]);
  } finally {
    removeTemp(folder);
  }
  const after = await putBack(login, before);
  if (after['nt hash'] !== hash)
    throw new CommandExecutionError(`Samba did not take the hash of ${login}.`);
};
