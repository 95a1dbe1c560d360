/** A crontab as Salt reads and writes it: lines that it does not know are kept at the top. */
export type Crontab = {
  readonly pre: string[];
  readonly crons: CronJob[];
  readonly special: CronJob[];
  readonly env: { name: string; value: string }[];
};

export type CronJob = {
  /** The five times; without them there is `spec`. */
  minute?: string;
  hour?: string;
  daymonth?: string;
  month?: string;
  dayweek?: string;
  /** `@reboot` and the like, instead of the five times. */
  spec?: string;
  cmd: string;
  identifier: string | null;
  comment: string | null;
  commented: boolean;
};

const header = '# Lines below here are managed by Salt, do not edit';
const identifierMark = 'SALT_CRON_IDENTIFIER';
const disabled = '#DISABLED#';

export const parseCrontab = (text: string): Crontab => {
  const tab: Crontab = { pre: [], crons: [], special: [], env: [] };
  let isOurs = false;
  let comment: string | null = null;
  let identifier: string | null = null;
  for (const line of text.split('\n')) {
    if (line === header) {
      isOurs = true;
      continue;
    }
    if (!isOurs) {
      tab.pre.push(line);
      continue;
    }
    const isDisabled = line.startsWith(disabled);
    const entry = isDisabled ? line.slice(disabled.length) : line;
    if (!isDisabled && line.startsWith('#')) {
      const found = line.match(new RegExp(`^# ?(.*?)(?:\\s*${identifierMark}:(.*))?$`));
      const text = found?.[1] ?? '';
      if (found?.[2] !== undefined) identifier = found[2].trim();
      if (text !== '') comment = comment === null ? text : `${comment}\n${text}`;
      continue;
    }
    const job = parseEntry(entry);
    const variable = entry.match(/^\s*([A-Za-z_]\w*)\s*=\s*(.*)$/);
    if (job) {
      const full = { ...job, identifier, comment, commented: isDisabled };
      (job.spec ? tab.special : tab.crons).push(full);
    } else if (variable?.[1] !== undefined)
      tab.env.push({ name: variable[1], value: variable[2] === '""' ? '' : (variable[2] ?? '') });
    if (entry.trim() !== '') {
      comment = null;
      identifier = null;
    }
  }
  while (tab.pre.at(-1) === '') tab.pre.pop();
  return tab;
};

type Entry = Omit<CronJob, 'identifier' | 'comment' | 'commented'>;

const parseEntry = (line: string): Entry | undefined => {
  const special = line.match(/^(@\w+)\s+(.+)$/);
  if (special) return { spec: special[1] ?? '', cmd: special[2] ?? '' };
  const plain = line.match(/^([\d*@\w,/~-]+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(.+)$/);
  if (!plain || (line.includes('=') && /^\s*[A-Za-z_]\w*\s*=/.test(line))) return undefined;
  const [, minute = '*', hour = '*', daymonth = '*', month = '*', dayweek = '*', cmd = ''] = plain;
  return { minute, hour, daymonth, month, dayweek, cmd };
};

export const renderCrontab = ({ pre, crons, special, env }: Crontab): string => {
  const lines = [...pre];
  if (crons.length + special.length + env.length > 0) lines.push(header);
  for (const { name, value } of env)
    lines.push(`${name}=${value === '' || value !== value.trim() ? `"${value}"` : value}`);
  for (const job of [...crons, ...special]) {
    const note = job.comment === null ? '' : job.comment.trimEnd().replaceAll('\n', '\n# ');
    const mark = job.identifier ? `${identifierMark}:${job.identifier}` : '';
    if (note || mark) lines.push(`# ${[note, mark].filter(Boolean).join(' ')}`);
    const when = job.spec ?? [job.minute, job.hour, job.daymonth, job.month, job.dayweek].join(' ');
    lines.push(`${job.commented ? disabled : ''}${when} ${job.cmd}`);
  }
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
};
