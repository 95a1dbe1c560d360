import { spawn } from 'node:child_process';
import type { Data, Dict } from '../data/values/value.ts';
import { TsaltError } from '../protocol/error.ts';
import { decryptAll, type IsHostString } from './secrets.ts';
import type { Stage } from './types.ts';

const marked = 'PGP MESSAGE';

/**
 * Decrypts every PGP message in text or data with the `gpg` of the control node; its keys
 * are those of `gpg_keydir` (option) or of the user. A message that cannot be decrypted is an error
 * (`gpg_decrypt_must_succeed: false` leaves it unchanged).
 */
export const renderGpg = (data: Data, { request }: Stage): Promise<Data> =>
  decryptGpg(data, request.context.opts, request.file, request.context.said);

/** Decrypts data of any origin; `file` is named if a message cannot be decrypted. */
export const decryptGpg = (
  data: Data,
  opts: Dict,
  file: string,
  said?: IsHostString,
): Promise<Data> => {
  const home = opts.get('gpg_keydir');
  const decrypt = (block: string): Promise<string> => {
    const message = block.replaceAll('\\n', '\n').replace(/^[ \t]+/gm, '');
    const found = decryptOnce(message, typeof home === 'string' ? home : undefined);
    if (opts.get('gpg_decrypt_must_succeed') === false) return found.catch(() => block);
    return found.catch(error => {
      throw new TsaltError('gpg-failed', `gpg: ${(error as Error).message}`, {
        kind: 'render',
        at: { file },
        hint: `Keys come from ${typeof home === 'string' ? home : "the user's keyring"}; see gpg_keydir.`,
      });
    });
  };
  return decryptAll(data, marked, decrypt, said);
};

const mostKept = 10_000;

/** Runs gpg once per message in this process, however many hosts share the message. */
const decryptOnce = (message: string, home: string | undefined): Promise<string> => {
  const key = `${home ?? ''}\0${message}`;
  const known = decrypted.get(key);
  if (known) return known;
  if (decrypted.size >= mostKept) decrypted.clear();
  const found = run(message, home);
  decrypted.set(key, found);
  found.catch(() => decrypted.delete(key));
  return found;
};

const decrypted = new Map<string, Promise<string>>();

const run = (message: string, home: string | undefined): Promise<string> =>
  new Promise((resolve, reject) => {
    const args = [
      ...(home === undefined ? [] : ['--homedir', home]),
      '--batch',
      '--no-tty',
      '--quiet',
      '-d',
    ];
    const child = spawn('gpg', args, { stdio: ['pipe', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    let reason = '';
    child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => {
      reason += chunk.toString();
    });
    child.on('error', error =>
      reject(
        new Error(
          (error as { code?: string }).code === 'ENOENT'
            ? 'the program gpg is not in PATH'
            : error.message,
        ),
      ),
    );
    child.on('close', code => {
      const lines = reason.split('\n').filter(line => line.startsWith('gpg: '));
      if (code === 0) resolve(Buffer.concat(output).toString('utf8'));
      else
        reject(
          new Error(lines.at(-1)?.slice(5) ?? `a message could not be decrypted (exit ${code})`),
        );
    });
    child.stdin.on('error', () => {});
    child.stdin.end(message);
  });
