/**
 * Certificates of an ACME authority such as Let's Encrypt, by certbot.
 *
 * @depends certbot
 */
import { messageOf } from '../../../protocol/error.ts';
import { hasFunction, salt } from '../../_shared/states/call.ts';
import { failed, unchanged, would } from '../../_shared/states/returns.ts';
import { __opts__, type PlainDict, type StateReturn } from '../../api.ts';
import type { CertOptions } from '../acme-options.ts';

export const __virtual__ = (): true | [false, string] =>
  hasFunction('acme.cert') || [false, 'certbot is not installed.'];

/**
 * A certificate is there, and is renewed in time.
 *
 * @param name the name it is for
 * @example
 * www.example.com:
 *   acme.cert:
 *     - aliases:
 *       - example.com
 *     - email: ops@example.com
 *     - webroot: /var/www/html
 *     - renew: 14
 */
export const cert = async (name: string, options: CertOptions = {}): Promise<StateReturn> => {
  const certname = options.certname ?? name;
  try {
    const there: boolean = await salt('acme.has')(certname);
    if (there && !(await salt('acme.needs_renewal')(certname, options.renew ?? null)))
      return unchanged(certname, `Certificate ${certname} exists and does not need renewal.`);
    if (__opts__.test)
      return would(
        certname,
        `Certificate ${certname} would have been ${there ? 'renewed' : 'obtained'}.`,
        { old: 'current certificate', new: 'new certificate' },
      );
    const before: PlainDict = await salt('acme.info')(certname);
    const answer: { result: boolean | null; comment: string } = await salt('acme.cert')(
      name,
      options,
    );
    if (answer.result === false) return failed(certname, answer.comment);
    const changes = difference(before, await salt('acme.info')(certname));
    return { name: certname, result: true, comment: answer.comment, changes };
  } catch (error) {
    return failed(certname, messageOf(error));
  }
};

const difference = (old: PlainDict, now: PlainDict): PlainDict => {
  const keys = [...new Set([...Object.keys(old), ...Object.keys(now)])].filter(
    key => JSON.stringify(old[key]) !== JSON.stringify(now[key]),
  );
  if (keys.length === 0) return {};
  const only = (from: PlainDict): PlainDict =>
    Object.fromEntries(keys.filter(key => key in from).map(key => [key, from[key] ?? null]));
  return { old: only(old), new: only(now) };
};
