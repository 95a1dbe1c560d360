import { randomBytes } from 'node:crypto';
import { TsaltError } from '../protocol/error.ts';
import type { Host, Secret } from '../protocol/host.ts';
import { quoteWord } from './shell.ts';

/** How a command becomes another user's. */
export type Become = {
  readonly wrap: (command: string) => string;
  /** sudo's whole prompt: random, so that nothing else can look like it. Absent: no password is sent. */
  readonly nonce?: string;
  readonly password?: Secret;
};

/**
 * Wraps by sudo where the roster says so. With a password at hand sudo may ask for it (`-S`);
 * without one it must not (`-n`), so that nothing hangs and the job may follow at once.
 */
export const becomeOf = (host: Host, password: Secret | undefined): Become => {
  const through = (command: string): string => `exec ${command}`;
  if (!host.sudo && host.sudo_user === undefined) return { wrap: through };
  const user = quoteWord(host.sudo_user ?? 'root', 'sudo_user');
  if (host.sudo_user?.startsWith('-'))
    throw new TsaltError('roster-value', `The sudo_user ${user} cannot be right.`);
  const pty = host.tty ? 'stty raw -echo; ' : '';
  if (!password) return { wrap: command => `${pty}exec sudo -n -H -u ${user} -- ${command}` };
  const nonce = `tsalt-${randomBytes(12).toString('hex')}:`;
  return {
    wrap: command => `${pty}exec sudo -S -p '${nonce}' -H -u ${user} -- ${command}`,
    nonce,
    password,
  };
};

/** The password that sudo would take, as far as the roster knows it. */
export const sudoPassword = (host: Host): Secret | undefined => host.sudo_passwd ?? host.passwd;

export const usesSudo = (host: Host): boolean => !!host.sudo || host.sudo_user !== undefined;

/** Watches for sudo's prompt in what a command prints, and answers it once. */
export class SudoPrompt {
  readonly #become: Become;
  readonly #answer: (line: string) => void;
  readonly #refused: () => void;
  #text = '';
  #prompts = 0;

  /** `refused` hears of a second prompt: the password was wrong. */
  constructor(become: Become, answer: (line: string) => void, refused: () => void) {
    this.#become = become;
    this.#answer = answer;
    this.#refused = refused;
  }

  /** The prompt may arrive in pieces, and with a text of sudo's own around it. */
  push(chunk: Buffer): void {
    const { nonce, password } = this.#become;
    if (nonce === undefined || password === undefined) return;
    this.#text += chunk.toString('latin1');
    for (;;) {
      const at = this.#text.indexOf(nonce);
      if (at < 0) break;
      this.#text = this.#text.slice(at + nonce.length);
      this.#prompts += 1;
      if (this.#prompts > 1) {
        this.#refused();
        return;
      }
      this.#answer(`${password.reveal()}\n`);
    }
    this.#text = this.#text.slice(-nonce.length);
  }
}

export const wrongSudoPassword = (host: Host): TsaltError =>
  new TsaltError('sudo-password', `${host.id}: sudo does not take the password.`, { kind: 'auth' });

export const sudoRefused = (host: Host, become: Become, excerpt: string): TsaltError =>
  new TsaltError('sudo-refused', `${host.id}: sudo refused.`, {
    kind: 'auth',
    excerpt,
    hint: become.nonce
      ? 'Look at sudoers on the host; if sudo needs a terminal, set tty: true in the roster.'
      : 'If sudo asks for a password, give it by sudo_passwd or passwd in the roster.',
  });
