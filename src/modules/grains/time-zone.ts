import { readFileSync } from '../_shared/safe-fs/fs.ts';

/**
 * Returns the current abbreviation of the local time zone, like `date +%Z`. It is read from the
 * zone's rule: ICU would take 15 ms of every run, and knows few abbreviations outside America.
 *
 * @param zone the variable `TZ`
 * @param now the moment
 */
export const timeZoneName = (zone = process.env.TZ, now = new Date()): string => {
  const rule = ruleOf(zone);
  const [, standard, offset, summer] = rule?.match(posixRule) ?? [];
  if (standard === undefined || offset === undefined) return fromIcu();
  if (summer === undefined) return bare(standard);
  // POSIX and JavaScript both count west of Greenwich as positive. JavaScript treats a rule in TZ as
  // UTC.
  const isStandard = rule === zone || now.getTimezoneOffset() === minutes(offset);
  return bare(isStandard ? standard : summer);
};

const posixRule = /^(<[^>]+>|[A-Za-z]{3,})([-+]?\d[\d:]*)(<[^>]+>|[A-Za-z]{3,})?/;

const bare = (name: string): string => name.replace(/[<>]/g, '');

const minutes = (offset: string): number => {
  const [hours = 0, rest = 0] = offset.replace(/^[-+]/, '').split(':').map(Number);
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + rest);
};

const ruleOf = (zone: string | undefined): string | undefined => {
  if (zone === undefined) return footer('/etc/localtime', 'UTC0');
  const name = zone.replace(/^:/, '');
  if (name === '') return 'UTC0';
  if (posixRule.test(name)) return name;
  return footer(name.startsWith('/') ? name : `/usr/share/zoneinfo/${name}`, undefined);
};

/** Returns the last line of a zone file (RFC 8536), which is the rule for all future times. */
const footer = (path: string, absent: string | undefined): string | undefined => {
  try {
    const text = readFileSync(path, 'latin1');
    if (!text.startsWith('TZif')) return undefined;
    return text.endsWith('\n')
      ? text.slice(text.lastIndexOf('\n', text.length - 2) + 1, -1)
      : undefined;
  } catch {
    return absent;
  }
};

const fromIcu = (): string =>
  new Intl.DateTimeFormat('en-US', { timeZoneName: 'short' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')?.value ?? 'unknown';
