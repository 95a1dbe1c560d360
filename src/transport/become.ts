import { randomBytes } from 'node:crypto';
import { program } from '../loader/programs.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Host, Secret } from '../protocol/host.ts';
import { mayWantPassword, needsTerminal } from './refusal-messages.ts';
import { quoteForAnyShell, shCommand } from './shell.ts';

/** The programs that run a command as another user. */
export type BecomeProgram = NonNullable<Host['become']>;

/** How to run a command as another user. */
export type Become = {
  readonly wrap: (command: string) => string;
  /** Whether the command needs a terminal. */
  readonly pty: boolean;
  /**
   * Random text that nothing else can print: the whole prompt of sudo, or (`after`) a prefix before
   * the program's own prompt. Absent: no password is sent.
   */
  readonly nonce?: string;
  readonly after?: boolean;
  readonly password?: Secret;
};

/** Returns the program that the roster configures, if any. */
export const becomeProgram = (host: Host): BecomeProgram | undefined =>
  isRootAlready(host)
    ? undefined
    : (host.become ?? (host.sudo || host.sudo_user !== undefined ? 'sudo' : undefined));

/**
 * Whether no become program is needed: on this machine commands run as this user, and root needs no
 * sudo.
 */
const isRootAlready = ({ transport, sudo_user = 'root' }: Host): boolean =>
  transport === 'local' && sudo_user === 'root' && process.getuid?.() === 0;

export const becomesOther = (host: Host): boolean => becomeProgram(host) !== undefined;

/**
 * Wraps a command with sudo, su or doas as the roster says. With a password the program may ask for
 * it. Without one it must not, so that nothing hangs and the job can follow at once.
 * @throws {TsaltError} kind `auth`: su cannot work without a password
 */
export const becomeOf = (host: Host, password: Secret | undefined): Become => {
  const program = becomeProgram(host);
  if (program === undefined) return { wrap: command => `exec ${command}`, pty: false };
  const user = otherUser(host);
  switch (program) {
    case 'sudo':
      return bySudo(host, user, password);
    case 'su':
      return bySu(host, user, password);
    case 'doas':
      return byDoas(host, user, password);
  }
};

/** Returns the user to become, as one argument for any shell. */
const otherUser = ({ sudo_user = 'root' }: Host): string => {
  const user = quoteForAnyShell(sudo_user, 'sudo_user');
  if (sudo_user.startsWith('-'))
    throw new TsaltError('roster-value', `The sudo_user ${user} cannot be right.`);
  return user;
};

/** Wraps a command for a user at a terminal, whom the program asks for the password itself. */
export const becomeAtTerminal = (host: Host, command: string): string => {
  const user = otherUser(host);
  switch (becomeProgram(host)) {
    case 'sudo':
      return `exec sudo -H -u ${user} -- ${command}`;
    case 'su':
      return `exec ${inShell(program('become-su'), ["''", `'exec "$0" "$@"'`, user], command)}`;
    case 'doas':
      return `exec doas -u ${user} ${command}`;
    case undefined:
      return command;
  }
};

const rawPty = 'stty raw -echo; ';

const newNonce = (): string => `tsalt-${randomBytes(12).toString('hex')}:`;

const bySudo = (host: Host, user: string, password: Secret | undefined): Become => {
  const pty = host.tty === true;
  const before = pty ? rawPty : '';
  if (!password)
    return { wrap: command => `${before}exec sudo -n -H -u ${user} -- ${command}`, pty };
  const nonce = newNonce();
  return {
    wrap: command => `${before}exec sudo -S -p '${nonce}' -H -u ${user} -- ${command}`,
    pty,
    nonce,
    password,
  };
};

/** Wraps `command`, arguments for the login shell, in a POSIX shell whose `$@` they become. */
const inShell = (script: string, args: readonly string[], command: string): string =>
  `${shCommand(script, args)} ${command}`;

const bySu = (host: Host, user: string, password: Secret | undefined): Become => {
  const pty = host.tty === true;
  const before = pty ? rawPty : '';
  const through = (nonce: string) => (command: string) =>
    `${before}exec ${inShell(program('become-su'), [`'${nonce}'`, `'exec "$0" "$@"'`, user], command)}`;
  if (password) {
    const nonce = newNonce();
    return { wrap: through(nonce), pty, nonce, after: true, password };
  }
  if (host.user !== 'root') throw noPassword(host);
  return { wrap: through(''), pty };
};

/** doas asks only at a terminal, and its prompt cannot be set. */
const byDoas = (host: Host, user: string, password: Secret | undefined): Become => {
  const pty = host.tty === true;
  if (!password)
    return { wrap: command => `${pty ? rawPty : ''}exec doas -n -u ${user} ${command}`, pty };
  const nonce = newNonce();
  return {
    wrap: command =>
      `${rawPty}exec ${inShell(program('become-doas'), [`'${nonce}'`, user], command)}`,
    pty: true,
    nonce,
    after: true,
    password,
  };
};

/** Returns the password that the program would accept, if the roster has it. */
export const becomePassword = (host: Host): Secret | undefined => {
  const program = becomeProgram(host);
  if (program === undefined) return;
  // su asks for the other user's password, so the login password must not be sent.
  return host.sudo_passwd ?? (program === 'su' ? undefined : host.passwd);
};

/** Finds the prompt in a command's output, and answers it once. */
export class PasswordPrompt {
  readonly #become: Become;
  readonly #answer: (line: string) => void;
  readonly #refused: () => void;
  #text = '';
  #begun = false;
  #prompts = 0;

  /** `refused` is called at a second prompt: the password was wrong. */
  constructor(become: Become, answer: (line: string) => void, refused: () => void) {
    this.#become = become;
    this.#answer = answer;
    this.#refused = refused;
  }

  /** The prompt may arrive in pieces, with other output of the program around it. */
  push(chunk: Buffer): void {
    const { nonce, password, after } = this.#become;
    if (nonce === undefined || password === undefined) return;
    this.#text += chunk.toString('latin1');
    while (this.#take(nonce, after === true)) {
      this.#prompts += 1;
      if (this.#prompts > 1) {
        this.#refused();
        return;
      }
      this.#answer(`${password.reveal()}\n`);
    }
    this.#text = this.#text.slice(-Math.max(nonce.length, longestPrompt));
  }

  #take(nonce: string, after: boolean): boolean {
    if (!this.#begun) {
      const at = this.#text.indexOf(nonce);
      if (at < 0) return false;
      this.#text = this.#text.slice(at + nonce.length);
      if (!after) return true;
      this.#begun = true;
    }
    const line = this.#text.slice(this.#text.lastIndexOf('\n') + 1);
    if (!ownPrompt.test(line) || ownName.test(line)) return false;
    this.#text = '';
    return true;
  }
}

const longestPrompt = 400;

/** Output that waits after a colon, including the wide colon of Chinese and Japanese. */
const ownPrompt = /(?::|\xef\xbc\x9a)[ \xa0]?$/;

/** `su: Authentication failure` may arrive in pieces, too; its first piece is not a prompt. */
const ownName = /^\r?(?:su|doas): ?$/;

export const wrongBecomePassword = (host: Host): TsaltError =>
  new TsaltError(
    'sudo-password',
    `${host.id}: ${becomeProgram(host)} does not take the password.`,
    { kind: 'auth' },
  );

export const becomeRefused = (host: Host, become: Become, excerpt: string): TsaltError => {
  const program = becomeProgram(host) ?? 'sudo';
  const key = program === 'su' ? 'sudo_passwd' : 'sudo_passwd or passwd';
  return new TsaltError('sudo-refused', `${host.id}: ${program} refused.`, {
    kind: 'auth',
    excerpt,
    hint: needsTerminal(excerpt)
      ? 'Set tty: true in the roster: sudo asks for a terminal there (requiretty).'
      : become.nonce || !mayWantPassword(excerpt)
        ? rules[program]
        : `If ${program} asks for a password, set ${key} in the roster.`,
  });
};

/**
 * Asks the user for the password that the program on the host requires.
 *
 * @param refused the host's message without a password
 * @throws {TsaltError} if nobody can answer, with the program's message
 */
export const askBecomePassword = async (
  host: Host,
  ask: () => Promise<Secret>,
  { excerpt }: TsaltError,
): Promise<Secret> => {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof TsaltError) || error.code !== 'no-terminal') throw error;
    const { code, message, kind, hint } = error;
    throw new TsaltError(code, message, {
      kind,
      excerpt,
      hint: `${hint ?? ''} If ${host.user} should need none, look at sudoers there (sudo -l).`.trim(),
      cause: error,
    });
  }
};

const rules: Readonly<Record<BecomeProgram, string>> = {
  sudo: 'Look at sudoers on the host; if sudo needs a terminal, set tty: true in the roster.',
  su: 'su requires the password of the user it changes to: set sudo_passwd in the roster.',
  doas: 'Look at doas.conf on the host; doas takes the password of the login user.',
};

const noPassword = (host: Host): TsaltError =>
  new TsaltError('sudo-refused', `${host.id}: su needs a password.`, {
    kind: 'auth',
    hint: 'Set the password of the user to become as sudo_passwd in the roster.',
  });
