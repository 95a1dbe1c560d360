import type { AnyAuthMethod } from 'ssh2';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { readable } from '../unreachable.ts';

const howToLogIn =
  'Name a key by priv in the roster or --priv, start an agent, or use --askpass for a password.';

const byPassword =
  'If the user is right, --askpass asks for the password, and --key-deploy brings the key there.';

/** Tries the login methods in order and records the outcomes, for the message. */
export class LoginAttempts {
  readonly #methods: readonly AnyAuthMethod[];
  readonly #user: string;
  readonly #tried: string[] = [];
  #at = 0;
  #offered: readonly string[] | null = null;

  constructor(methods: readonly AnyAuthMethod[], user: string) {
    this.#methods = methods;
    this.#user = user;
  }

  get tried(): boolean {
    return this.#tried.length > 0;
  }

  next(offered: readonly string[] | null): AnyAuthMethod | undefined {
    this.#offered = offered ?? this.#offered;
    while (this.#at < this.#methods.length) {
      const method = this.#methods[this.#at++];
      if (!method) return;
      const wire = method.type === 'agent' ? 'publickey' : method.type;
      if (offered && !offered.includes(wire)) continue;
      this.#tried.push(method.type === 'agent' ? 'agent' : wire);
      return method;
    }
    // Without any secret, only the server's prompt shows what it would accept.
    if (this.#tried.length > 0 || offered) return;
    this.#tried.push('none');
    return { type: 'none', username: this.#user };
  }

  /** Whether only keys were refused and the host would accept a password. */
  #couldTryPassword(tried: readonly string[]): boolean {
    const onlyKeys = tried.some(method => method === 'publickey' || method === 'agent');
    const takesPassword = ['password', 'keyboard-interactive'].some(method =>
      this.#offered?.includes(method),
    );
    return onlyKeys && takesPassword && !tried.includes('password');
  }

  refused({ id, user }: Host): TsaltError {
    const tried = [...new Set(this.#tried)].filter(method => method !== 'none');
    const offered = (this.#offered ?? []).map(method => readable(method, 40)).slice(0, 8);
    return new TsaltError('auth-refused', `${id}: login as ${user} was refused.`, {
      kind: 'auth',
      hint: [
        tried.length > 0 ? `Tried: ${tried.join(', ')}.` : 'There was no key or password to try.',
        offered.length > 0 ? `The host takes: ${offered.join(', ')}.` : '',
        tried.some(method => method !== 'keyboard-interactive') ? '' : howToLogIn,
        this.#couldTryPassword(tried) ? byPassword : '',
      ]
        .filter(part => part !== '')
        .join(' '),
    });
  }
}
