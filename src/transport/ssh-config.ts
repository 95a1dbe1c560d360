import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { TsaltError } from '../protocol/error.ts';
import { checkTrusted } from '../trust/check.ts';
import { readable } from './unreachable.ts';

/** Settings of the user's ssh configuration for one host; unset ones are absent. */
export type SshSettings = {
  readonly hostname: string;
  readonly port?: number;
  readonly user?: string;
  readonly identityFiles: readonly string[];
  readonly identitiesOnly: boolean;
  readonly compression?: boolean;
  readonly identityAgent?: string;
  readonly proxyJump?: string;
  readonly proxyCommand?: string;
  readonly hostKeyAlias?: string;
  readonly knownHostsFiles: readonly string[];
  /** The file for keys of new hosts: the first one, if it is the user's. */
  readonly newKeysFile?: string;
};

export type SshConfigOptions = {
  /** A file that replaces the user's and the system's; `false`: no configuration at all. */
  readonly file?: string | false | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
};

const identities = ['id_rsa', 'id_ecdsa', 'id_ed25519'];

/**
 * Reads `~/.ssh/config` through `ssh -G`, which implements Include, Match and tokens exactly. ssh
 * is started only if a file may contain relevant settings; the result is kept for each name.
 */
export class SshConfig {
  readonly #options: SshConfigOptions;
  readonly #answers = new Map<string, Promise<SshSettings>>();
  #matters: boolean | undefined;

  constructor(options: SshConfigOptions) {
    this.#options = options;
  }

  /** Returns the settings for a name as the user wrote it. `user` and `port` are used by Match. */
  settings(name: string, user?: string, port?: number): Promise<SshSettings> {
    this.#matters ??= this.#saysAnything();
    if (!this.#matters) return Promise.resolve(this.defaults(name));
    const key = JSON.stringify([name, user, port]);
    const answer = this.#answers.get(key) ?? this.#ask(name, user, port);
    this.#answers.set(key, answer);
    return answer;
  }

  /** Returns ssh's settings without any configuration. */
  defaults(name: string): SshSettings {
    const home = this.#home();
    const newKeysFile = join(home, '.ssh/known_hosts');
    return {
      hostname: name,
      identityFiles: identities.map(file => join(home, '.ssh', file)),
      identitiesOnly: false,
      newKeysFile,
      knownHostsFiles: [
        newKeysFile,
        join(home, '.ssh/known_hosts2'),
        '/etc/ssh/ssh_known_hosts',
        '/etc/ssh/ssh_known_hosts2',
      ],
    };
  }

  #home(): string {
    return this.#options.env.HOME || homedir();
  }

  #saysAnything(): boolean {
    const { file } = this.#options;
    if (file === false) return false;
    if (file !== undefined) return true;
    return existsSync(join(this.#home(), '.ssh/config')) || systemConfigMatters();
  }

  async #ask(name: string, user?: string, port?: number): Promise<SshSettings> {
    const { file } = this.#options;
    if (/^-|[\s\0]/.test(name)) throw badName(name);
    const own = join(this.#home(), '.ssh/config');
    const config = file || own;
    checkTrusted(config, 'The ssh configuration');
    const args = [
      '-G',
      // ssh takes the home directory from the user database; here the environment's is meant.
      ...(file || (existsSync(own) && this.#home() !== homedir()) ? ['-F', config] : []),
      ...(user === undefined ? [] : ['-l', user]),
      ...(port === undefined ? [] : ['-p', String(port)]),
      '--',
      name,
    ];
    const answer = await run('ssh', args);
    if (answer.missing) {
      if (file === undefined) return this.defaults(name);
      throw new TsaltError('ssh-config', `Reading ${file} needs the program ssh.`, {
        hint: 'Install the OpenSSH client, or use --no-ssh-config.',
      });
    }
    if (answer.code !== 0)
      throw new TsaltError('ssh-config', `ssh cannot read its configuration for ${name}.`, {
        excerpt: readable(answer.stderr),
      });
    return parseSettings(answer.stdout, this.#home());
  }
}

/** Parses the output of `ssh -G`. */
export const parseSettings = (text: string, home: string): SshSettings => {
  const values = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    if (space < 0) continue;
    const key = line.slice(0, space).toLowerCase();
    values.set(key, [...(values.get(key) ?? []), line.slice(space + 1).trim()]);
  }
  const one = (key: string): string | undefined => {
    const value = values.get(key)?.[0];
    return value === undefined || value === '' || value === 'none' ? undefined : value;
  };
  const path = (value: string): string =>
    value.replace(/^~(?=\/|$)/, home).replace(/^"(.*)"$/, '$1');
  const listed = (key: string): string[] =>
    (one(key) ?? '').split(/\s+/).filter(file => file !== '');
  const files = (key: string): string[] =>
    listed(key)
      .filter(file => file !== '/dev/null')
      .map(path);
  const settings: { -readonly [K in keyof SshSettings]: SshSettings[K] } = {
    hostname: one('hostname') ?? '',
    identityFiles: (values.get('identityfile') ?? []).filter(file => file !== 'none').map(path),
    identitiesOnly: one('identitiesonly') === 'yes',
    knownHostsFiles: [...files('userknownhostsfile'), ...files('globalknownhostsfile')],
  };
  const user = one('user');
  const port = Number(one('port'));
  // Unlike elsewhere `none` is significant: the environment may set an agent.
  const agent = values.get('identityagent')?.[0];
  const jump = one('proxyjump');
  const command = one('proxycommand');
  const alias = one('hostkeyalias');
  const [newKeysFile] = listed('userknownhostsfile');
  if (user !== undefined) settings.user = user;
  if (Number.isInteger(port) && port > 0) settings.port = port;
  if (agent) settings.identityAgent = path(agent);
  if (jump !== undefined) settings.proxyJump = jump;
  if (command !== undefined) settings.proxyCommand = command;
  if (one('compression') === 'yes') settings.compression = true;
  if (alias !== undefined) settings.hostKeyAlias = alias;
  if (newKeysFile !== undefined && newKeysFile !== '/dev/null')
    settings.newKeysFile = path(newKeysFile);
  return settings;
};

const words =
  /^\s*(hostname|proxyjump|proxycommand|identityfile|identitiesonly|identityagent|hostkeyalias|userknownhostsfile|globalknownhostsfile|compression|match|user|port)\b/im;

const systemConfigMatters = (): boolean => {
  const text = (file: string): string => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return '';
    }
  };
  const folder = '/etc/ssh/ssh_config.d';
  const parts = existsSync(folder) ? readdirSync(folder).map(file => join(folder, file)) : [];
  return ['/etc/ssh/ssh_config', ...parts].some(file => words.test(text(file)));
};

type Ran = { code: number | null; stdout: string; stderr: string; missing: boolean };

const run = (program: string, args: readonly string[]): Promise<Ran> =>
  new Promise(resolve => {
    execFile(program, args, { timeout: 10_000 }, (error, stdout, stderr) => {
      const code = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
      resolve({ code, stdout, stderr, missing: error?.code === 'ENOENT' });
    });
  });

const badName = (name: string): TsaltError =>
  new TsaltError('host-name', `"${readable(name, 60)}" is not a host name.`, {
    hint: 'A host name starts with a letter, a digit or "[", and has no blanks.',
  });
