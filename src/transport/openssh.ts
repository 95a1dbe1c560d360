import { existsSync } from 'node:fs';
import { TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { harmlessSshOptions } from '../protocol/ssh-options.ts';
import { jumpOption } from './openssh-jump.ts';
import { processChannel } from './process-channel.ts';
import { isAccountTrouble } from './refusal-messages.ts';
import type { Connection, Exit, HostKeyMode, Transport, TransportOptions } from './transport.ts';
import { parseTunnel } from './tunnels.ts';
import { cancelled, readable } from './unreachable.ts';

/**
 * The system's `ssh`, for features that ssh2 lacks: host and user certificates, FIDO keys, GSSAPI.
 * Each command is one ssh process (over the user's ControlMaster, if any), so login errors appear
 * when the first command runs.
 */
export const opensshTransport = (options: TransportOptions): Transport => ({
  connect: async (host, { signal } = {}) => {
    if (signal?.aborted) throw cancelled(host.id);
    const args = sshArguments(host, options);
    const tunnels = (host.remote_port_forwards ?? []).map(tunnelArgument);
    let open = false;
    return {
      host,
      transport: 'openssh',
      exec: async (command, { pty } = {}) => {
        // Each command has its own connection, but the host can bind a port only once.
        const forward = tunnels.length > 0 && !open;
        open ||= forward;
        const more = forward
          ? ['-o', 'ExitOnForwardFailure=yes', ...tunnels.flatMap(tunnel => ['-R', tunnel])]
          : ['-o', 'ClearAllForwardings=yes'];
        const words = [...args, ...more, pty ? '-tt' : '-T', '--', host.host, command];
        const env = options.env ?? process.env;
        const channel = await processChannel('ssh', words, { env, endsWithChannel: true });
        if (forward)
          void channel.exited.then(() => {
            open = false;
          });
        return channel;
      },
      foreground: command => {
        const words = [...args, '-o', 'ClearAllForwardings=yes', '-tt', '--', host.host];
        const env = options.env ?? process.env;
        return {
          program: 'ssh',
          args: [...words, ...(command === undefined ? [] : [command])],
          env,
        };
      },
      explain: (exit, stderr) => explain(host, exit, stderr),
      lost: () => undefined,
      close: () => undefined,
    } satisfies Connection;
  },
  close: () => undefined,
});

/**
 * In lower case; in addition to the roster's, those that determine where a connection goes and
 * whether it is shared.
 */
const allowedOptions: ReadonlySet<string> = new Set(
  [
    ...harmlessSshOptions,
    'ControlMaster',
    'ControlPath',
    'ControlPersist',
    'HostName',
    'ProxyJump',
  ].map(name => name.toLowerCase()),
);

/**
 * Checks a `ssh_options` entry (`Name=value`).
 * @throws {TsaltError} that names an option outside of the allow-list
 */
export const checkSshOption = (option: string): string => {
  const match = /^([A-Za-z0-9]+)(?:=|\s+)([^\0-\x1f\x7f]+)$/.exec(option.trim());
  const name = match?.[1] ?? '';
  if (match && allowedOptions.has(name.toLowerCase())) return `${name}=${match[2]}`;
  throw new TsaltError(
    'ssh-option',
    `The ssh option ${JSON.stringify(readable(option, 80))} is not allowed.`,
    {
      hint: 'Allowed in ssh_options are those that neither run a program nor weaken host key checks. Others belong into ~/.ssh/config.',
    },
  );
};

const modes: Readonly<Record<HostKeyMode, string>> = {
  strict: 'yes',
  'accept-new': 'accept-new',
  ignore: 'no',
};

const sshArguments = (host: Host, options: TransportOptions): string[] => {
  for (const [key, value] of Object.entries({
    host: host.host,
    user: host.user,
    priv: host.priv ?? '',
  }))
    if (/^-|[\0-\x1f\x7f]/.test(value) || (key !== 'priv' && /^$|\s/.test(value)))
      throw new TsaltError(
        'roster-value',
        `The ${key} ${JSON.stringify(readable(value, 80))} cannot be right.`,
        { hint: `A ${key} does not start with "-" and has no control characters.` },
      );
  if (host.passwd && !host.priv)
    throw new TsaltError(
      'auth-openssh',
      `${host.id}: transport openssh cannot log in by password.`,
      {
        kind: 'auth',
        hint: 'Use a key or an agent, or transport ssh2.',
      },
    );
  if (host.priv_passwd)
    throw new TsaltError('auth-openssh', `${host.id}: transport openssh cannot use priv_passwd.`, {
      kind: 'auth',
      hint: 'Load the key into an agent (ssh-add), or use transport ssh2.',
    });
  if (host.host_key !== undefined)
    throw new TsaltError('auth-openssh', `${host.id}: transport openssh cannot check host_key.`, {
      kind: 'host-key',
      hint: 'Put the key into known_hosts, or use transport ssh2.',
    });
  const only = host.identities_only || options.identitiesOnly;
  const set: [string, string][] = [
    ['BatchMode', 'yes'],
    ['StrictHostKeyChecking', modes[options.hostKeys ?? 'strict']],
    ['ConnectTimeout', String(options.connectTimeout ?? host.timeout)],
    ['ServerAliveInterval', '10'],
    ['ServerAliveCountMax', '3'],
    ['ForwardAgent', 'no'],
    ['ForwardX11', 'no'],
    ['PermitLocalCommand', 'no'],
    ['EscapeChar', 'none'],
    ...(only ? [['IdentitiesOnly', 'yes'] as [string, string]] : []),
    ...(options.knownHostsFiles
      ? ([
          ['UserKnownHostsFile', options.knownHostsFiles.map(quoteFile).join(' ')],
          ['GlobalKnownHostsFile', '/dev/null'],
        ] as [string, string][])
      : []),
  ];
  const config = options.sshConfig === false ? '/dev/null' : options.sshConfig;
  const rules = [
    ...(config === undefined ? [] : ['-F', config]),
    ...set.flatMap(([name, value]) => ['-o', `${name}=${value}`]),
  ];
  return [
    ...rules,
    ...(host.proxy_jump === undefined ? [] : ['-o', jumpOption(host.proxy_jump, rules)]),
    ...(host.ssh_options ?? []).flatMap(option => ['-o', checkSshOption(option)]),
    ...(host.unsaid?.includes('port') ? [] : ['-p', String(host.port)]),
    ...(host.unsaid?.includes('user') ? [] : ['-l', host.user]),
    ...(host.priv && host.priv !== 'agent-forwarding' ? ['-i', host.priv] : []),
  ];
};

const tunnelArgument = (text: string): string => {
  parseTunnel(text);
  return text;
};

const quoteFile = (file: string): string => (/[\s"]/.test(file) ? `"${file}"` : file);

/** ssh ends with 255 for its own errors and reports the reason only as English text. */
const explain = (host: Host, exit: Exit, stderr: string): TsaltError | undefined => {
  if (exit.code !== 255) return;
  const where = `${host.id} (${host.host}:${host.port})`;
  if (
    /host key verification failed|host identification has changed|host key .{0,1000}known|revoked host key/i.test(
      stderr,
    )
  )
    return new TsaltError('host-key-openssh', `ssh does not trust the key of ${where}.`, {
      kind: 'host-key',
      excerpt: stderr,
    });
  if (/permission denied|too many authentication failures|no more authentication/i.test(stderr))
    return new TsaltError('auth-refused', `${host.id}: login as ${host.user} was refused.`, {
      kind: 'auth',
      excerpt: stderr,
    });
  if (isCutLogin(stderr))
    return new TsaltError('login-cut', `${where}: the host closed the connection during login.`, {
      kind: 'auth',
      excerpt: stderr,
    });
  return new TsaltError('connect-failed', `Cannot connect to ${where}.`, {
    kind: 'unreachable',
    excerpt: stderr,
  });
};

/** How lines begin that ssh itself prints. */
const ownLine =
  /^(?:Connection |Warning: |ssh: |kex_exchange_identification: |ssh_exchange_identification: |banner exchange: |channel \d|stdio forwarding |\*\* |Load key |no such identity|Unable to negotiate |Bad |debug)/;

/** ssh names no address where the connection goes through a jump host. */
const closed = /^Connection closed by (?!UNKNOWN)\S+ port \d+$/;

/**
 * Whether the host ended the connection during the login. PAM reports why in a banner, before
 * sshd closes the connection: an account that has expired, or the text of /etc/nologin.
 */
const isCutLogin = (stderr: string): boolean => {
  const lines = stderr.split('\n').map(line => line.trim());
  return (
    isAccountTrouble(stderr) ||
    (lines.some(line => closed.test(line)) &&
      lines.some(line => line !== '' && !ownLine.test(line)))
  );
};

/** Is there a system ssh to use? */
export const hasOpenssh = (env: Readonly<Record<string, string | undefined>>): boolean =>
  (env.PATH ?? '').split(':').some(folder => folder !== '' && existsSync(`${folder}/ssh`));
