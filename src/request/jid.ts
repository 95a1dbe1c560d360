import { badValue } from './number-option.ts';

/** The job id that was given, or a new one. @throws TsaltError `usage-value` */
export const jidOf = (text: string | undefined): string => {
  if (text === undefined) return newJid(new Date());
  if (/^\d{20}$/.test(text)) return text;
  throw badValue('jid', text, '20 digits');
};

/** Salt's job id: the time to the microsecond, in digits. */
const newJid = (now: Date): string => {
  const micros = String(Math.floor((performance.now() * 1000) % 1000)).padStart(3, '0');
  return now.toISOString().replace(/\D/g, '') + micros;
};
