/** Certificates of TLS. */

import { X509Certificate } from 'node:crypto';
import { messageOf } from '../../../protocol/error.ts';
import { readFileSync } from '../../_shared/safe-fs/fs.ts';
import { failed, unchanged } from '../../_shared/states/returns.ts';
import { CommandExecutionError, type StateReturn } from '../../api.ts';

const second = 1000;

/**
 * A certificate is valid now, and for a time to come.
 *
 * @param name the file, or the certificate itself
 * @param weeks how long it must be valid, with all of the others
 * @param days days of it
 * @param hours hours of it
 * @param minutes minutes of it
 * @param seconds seconds of it
 * @example
 * /etc/ssl/private/www.pem:
 *   tls.valid_certificate:
 *     - weeks: 2
 */
export const valid_certificate = async (
  name: string,
  {
    weeks = 0,
    days = 0,
    hours = 0,
    minutes = 0,
    seconds = 0,
  }: { weeks?: number; days?: number; hours?: number; minutes?: number; seconds?: number } = {},
): Promise<StateReturn> => {
  try {
    const { validFrom, validTo } = new X509Certificate(certificateIn(name));
    const now = Date.now();
    if (now < Date.parse(validFrom)) return failed(name, 'Certificate is not yet valid');
    const left = (Date.parse(validTo) - now) / second;
    if (left < 0) return failed(name, 'Certificate is expired');
    const wanted = (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
    if (left < wanted)
      return failed(
        name,
        `Certificate will expire in ${duration(left)}, which is less than ${duration(wanted)}`,
      );
    return unchanged(name, `Certificate is valid for ${duration(left)}`);
  } catch (error) {
    return failed(name, messageOf(error));
  }
};

const certificateIn = (name: string): string => {
  const text = name.includes('-----BEGIN') ? name : readText(name);
  const found = /-----BEGIN (?:X509 )?CERTIFICATE-----[\s\S]*?-----END [^-]*-----/.exec(text)?.[0];
  if (found === undefined)
    throw new CommandExecutionError(
      `There is no certificate in ${text === name ? 'the text' : name}.`,
    );
  return found;
};

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandExecutionError(`Cannot read ${path}: ${messageOf(error)}`);
  }
};

/** A time as Python's timedelta says it: `3 days, 4:05:06.789012`. */
const duration = (time: number): string => {
  const all = Math.floor(time);
  const days = Math.floor(all / 86_400);
  const two = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  const clock = `${Math.floor((all % 86_400) / 3600)}:${two((all % 3600) / 60)}:${two(all % 60)}`;
  const micro = Math.floor((time - all) * 1e6);
  const rest = micro === 0 ? '' : `.${String(micro).padStart(6, '0')}`;
  if (days === 0) return clock + rest;
  return `${days} day${days === 1 ? '' : 's'}, ${clock}${rest}`;
};
