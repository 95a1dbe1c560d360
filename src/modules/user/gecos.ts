import { SaltInvocationError } from '../api.ts';

/** The parts of an account's description that Salt names. */
const gecosFields = ['fullname', 'roomnumber', 'workphone', 'homephone', 'other'] as const;
export type GecosField = (typeof gecosFields)[number];
type Gecos = { readonly [field in GecosField]?: string | null };

/** The description of an account as passwd(5) has it. */
export const gecosText = (gecos: Gecos): string => {
  const fields = gecosFields.map(field => {
    const text = String(gecos[field] ?? '');
    if (/[:\n]/.test(text) || (field !== 'other' && text.includes(',')))
      throw new SaltInvocationError(`Unsupported character in ${field}: ${text}`);
    return text;
  });
  return fields.join(',').replace(/,+$/, '');
};
