/**
 * Certificates of an ACME authority such as Let's Encrypt, by certbot.
 *
 * @depends certbot
 */

import { join } from 'node:path';
import { runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { isDir, isFile } from '../../_shared/files/file-paths.ts';
import { readdirSync } from '../../_shared/safe-fs/fs.ts';
import { salt } from '../../_shared/states/call.ts';
import { configText } from '../../_shared/states/config-option.ts';
import { type PlainDict, SaltInvocationError } from '../../api.ts';
import type { CertOptions } from '../acme-options.ts';
import { addDays } from '../desired-certificate.ts';
import { readCertificate } from '../x509-certificate.ts';
import { showCertificate } from '../x509-show.ts';

const programs = ['certbot', 'letsencrypt', 'certbot-auto', 'letsencrypt-auto'];

const program = (): string | undefined => programs.find(name => which(name) !== undefined);

export const __virtual__ = (): true | [false, string] =>
  program() !== undefined || [false, 'certbot is not installed.'];

/** Where certbot keeps what is current: `acme.live_dir` of the configuration, or its own folder. */
const liveDir = async (): Promise<string> =>
  (await configText('acme.live_dir')) ?? '/etc/letsencrypt/live';

const fileOf = async (name: string, kind: string): Promise<string> => {
  if (name.includes('/') || name.startsWith('.'))
    throw new SaltInvocationError(`Not the name of a certificate: ${name}`);
  return join(await liveDir(), name, `${kind}.pem`);
};

const dnsPlugins = ['cloudflare', 'digitalocean'];

/** How certbot is to prove that the name is ours. */
const authenticator = ({ webroot, dns_plugin, dns_plugin_credentials }: CertOptions): string[] => {
  if (webroot)
    return ['--authenticator=webroot', ...(webroot === true ? [] : [`--webroot-path=${webroot}`])];
  if (!dns_plugin) return ['--authenticator=standalone'];
  if (!dnsPlugins.includes(dns_plugin))
    throw new SaltInvocationError(`DNS plugin '${dns_plugin}' is not supported`);
  return [
    `--dns-${dns_plugin}`,
    ...(dns_plugin_credentials
      ? [`--dns-${dns_plugin}-credentials=${dns_plugin_credentials}`]
      : []),
  ];
};

/**
 * Gets or renews a certificate: result, comment and `not_after`.
 *
 * @param name the name it is for
 * @example tsalt-ssh web1 acme.cert www.example.com '[example.com]' webroot=/var/www renew=14
 */
export const cert = async (name: string, options: CertOptions = {}): Promise<PlainDict> => {
  const certname = options.certname ?? name;
  if (options.server && options.test_cert)
    return { result: false, comment: 'Use either server or test_cert, not both' };
  const renews = (await has(certname)) && (await needs_renewal(certname, options.renew ?? null));
  const value = (flag: string, given: unknown): string[] =>
    given === undefined || given === null ? [] : [`${flag}=${given}`];
  const argv: [string, ...string[]] = [
    program() ?? 'certbot',
    'certonly',
    '--non-interactive',
    '--agree-tos',
    ...(renews ? ['--renew-by-default'] : []),
    ...value('--server', options.server),
    `--cert-name=${certname}`,
    ...(options.test_cert ? ['--test-cert'] : []),
    ...authenticator(options),
    ...value('--email', options.email),
    ...value('--rsa-key-size', options.keysize),
    ...[name, ...(options.aliases ?? [])].map(domain => `--domains=${domain}`),
    ...value('--preferred-challenges', options.preferred_challenges),
    ...value('--http-01-port', options.http_01_port),
    ...value('--http-01-address', options.http_01_address),
  ];
  let answer = await runCommand(argv, { plainLocale: true });
  if (answer.code !== 0 && answer.stderr.includes('expand'))
    answer = await runCommand([...argv, '--expand'], { plainLocale: true });
  if (answer.code !== 0)
    return {
      result: false,
      comment: `Certificate ${name} renewal failed with:\n${answer.stderr.trim()}`,
    };
  const isUnchanged = answer.stdout.includes('no action taken');
  await salt('file.check_perms')(
    await fileOf(certname, 'privkey'),
    null,
    options.owner ?? 'root',
    options.group ?? 'root',
    options.mode ?? '0640',
    { follow_symlinks: true },
  );
  return {
    result: isUnchanged ? null : true,
    comment: isUnchanged
      ? `Certificate ${await fileOf(certname, 'cert')} unchanged`
      : `Certificate ${certname} ${renews ? 'renewed' : 'obtained'}`,
    not_after: await expires(certname),
    changes: {},
  };
};

/**
 * The names of the certificates that are there.
 *
 * @example tsalt-ssh web1 acme.certs
 */
export const certs = async (): Promise<string[]> => {
  const folder = await liveDir();
  if (!isDir(folder)) return [];
  return readdirSync(folder)
    .filter(name => isDir(join(folder, name)))
    .sort();
};

/** Whether a certificate is there. */
export const has = async (name: string): Promise<boolean> => isFile(await fileOf(name, 'cert'));

/** Returns the content of a certificate, as `x509.read_certificate` does. */
export const info = async (name: string): Promise<PlainDict> =>
  (await has(name)) ? showCertificate(readCertificate(await fileOf(name, 'cert'))) : {};

const endOf = async (name: string): Promise<Date> =>
  readCertificate(await fileOf(name, 'cert')).until;

/** When a certificate ends. */
export const expires = async (name: string): Promise<string> =>
  (await endOf(name)).toISOString().slice(0, 19);

/**
 * From when on a certificate is to be renewed.
 *
 * @param window days before its end
 */
export const renew_by = async (name: string, window: number | null = null): Promise<string> =>
  addDays(await endOf(name), -(window ?? 0))
    .toISOString()
    .slice(0, 19);

/**
 * Whether a certificate is to be renewed.
 *
 * @param window days before its end; `true` or `force` for yes
 */
export const needs_renewal = async (
  name: string,
  window: boolean | number | string | null = null,
): Promise<boolean> => {
  if (window === true || ['force', 'Force', 'True', 'true'].includes(String(window))) return true;
  const days = window === null || window === false ? 0 : Number(window);
  if (!Number.isInteger(days))
    throw new SaltInvocationError(`'renew' must be true, force or a number of days, not ${window}`);
  return addDays(await endOf(name), -days) <= new Date();
};
