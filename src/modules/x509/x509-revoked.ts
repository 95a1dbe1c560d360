import { getOwn } from '../../protocol/plain.ts';
import { SaltInvocationError } from '../api.ts';
import { dateOf, readSerial } from './desired-certificate.ts';
import { readCertificate } from './x509-certificate.ts';
import { type Revoked, reasons } from './x509-requests.ts';

/** One revoked certificate as an SLS names it. */
export type RevokedItem = { readonly [key: string]: unknown };

const now = (): Date => new Date(Math.floor(Date.now() / 1000) * 1000);

/**
 * The entries of a revocation list; those that are no longer valid anyway are left out.
 *
 * @throws SaltInvocationError for an entry that names no certificate, or a reason nobody knows
 */
export const revokedOf = (items: readonly RevokedItem[], includeExpired: boolean): Revoked[] =>
  items.map(flat).flatMap(item => {
    const { certificate, serial_number: serial, revocation_date, not_after } = item;
    const text = (value: unknown): string | undefined =>
      value === undefined || value === null ? undefined : String(value);
    const read = certificate === undefined ? undefined : readCertificate(String(certificate));
    const number = read?.serial ?? (serial === undefined ? undefined : readSerial(String(serial)));
    if (number === undefined)
      throw new SaltInvocationError("A revoked certificate needs 'certificate' or 'serial_number'");
    const until = read?.until ?? dateOf(text(not_after), 'not_after');
    if (!includeExpired && until !== undefined && until < new Date()) return [];
    const why = text(reasonOf(item));
    if (why !== undefined && !Object.hasOwn(reasons, why))
      throw new SaltInvocationError(
        `The reason '${why}' is not known: ${Object.keys(reasons).join(', ')}`,
      );
    return [
      {
        serial: number,
        date: dateOf(text(revocation_date), 'revocation_date') ?? now(),
        ...(why === undefined ? {} : { reason: getOwn(reasons, why) ?? 0 }),
      },
    ];
  });

/** Why it was revoked: Salt has it among the entry's extensions, and once had it beside them. */
const reasonOf = ({ reason, extensions }: RevokedItem): unknown => {
  const { CRLReason, ...others } = (extensions ?? {}) as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined)
    throw new SaltInvocationError(
      `The extension '${other}' of a revoked certificate is not supported: only CRLReason is`,
    );
  return CRLReason ?? reason;
};

/** The older way: a name with a list of one-key mappings. */
const flat = (item: RevokedItem): RevokedItem => {
  const values = Object.values(item);
  if (values.length !== 1 || !Array.isArray(values[0])) return item;
  return Object.assign({}, ...(values[0] as RevokedItem[])) as RevokedItem;
};
