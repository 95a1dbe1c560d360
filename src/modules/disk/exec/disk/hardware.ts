import { runChecked, runCommand } from '../../../_shared/commands/run-command.ts';
import {
  CommandExecutionError,
  log,
  type Plain,
  type PlainDict,
  SaltInvocationError,
} from '../../../api.ts';

const plain = { plainLocale: true, cwd: '/' } as const;

const inDev = (disk: string): string => (disk.startsWith('/dev/') ? disk : `/dev/${disk}`);

/**
 * Returns the parameters of disks that `hdparm` reports.
 *
 * @param disks names or paths
 * @param args its flags, as letters; all that only read by default
 * @example tsalt-ssh '*' disk.hdparms /dev/sda
 */
export const hdparms = async (
  disks: string | string[],
  args: string | string[] | null = null,
): Promise<Record<string, PlainDict>> => {
  const letters = [args ?? 'aAbBcCdgHiJkMmNnQrRuW'].flat().join('');
  if (!/^[A-Za-z]+$/.test(letters)) throw new CommandExecutionError(`Not flags: ${letters}`);
  const found: Record<string, PlainDict> = {};
  for (const disk of [disks].flat().map(inDev)) {
    const { code, stdout, stderr } = await runCommand(['hdparm', `-${letters}`, disk], plain);
    if (code !== 0) log.warning(`hdparm -${letters} ${disk}: ${stderr.trim()}`);
    found[disk] = parseHdparm(stdout, disk);
  }
  return found;
};

const parseHdparm = (text: string, disk: string): PlainDict => {
  const facts: PlainDict = {};
  for (const line of text.split('\n').map(one => one.trim())) {
    if (line === '' || line === `${disk}:`) continue;
    const at = line.includes(':') ? line.indexOf(':') : line.indexOf('=');
    if (at < 0) continue;
    const name = line.slice(0, at).replace(/ is$/, '').trim().toLowerCase().replaceAll(' ', '_');
    const value = hdparmValue(line.slice(at + 1).trim());
    if (value !== undefined) facts[name] = value;
  }
  return facts;
};

/** `256 (on)`, `8/16`, `Model=X, FwRev=1`: a number with its meaning, a list, a dict. */
const hdparmValue = (text: string): Plain | undefined => {
  const meant = text.match(/^(\d+) \((.*?)\)?(?: .*)?$/);
  if (meant) return [Number(meant[1]), (meant[2] ?? '').split(' ')[0] ?? ''];
  const values: Plain[] = [];
  const named: PlainDict = {};
  for (const part of text.split(/[/,]/).map(one => one.trim())) {
    if (/^-?\d+$/.test(part)) values.push(Number(part));
    else if (part.includes('=')) {
      const value = part.slice(part.indexOf('=') + 1).trim();
      if (value !== '') named[part.slice(0, part.indexOf('=')).trim()] = value;
    } else if (part !== '') values.push(part);
  }
  if (Object.keys(named).length > 0) values.push(named);
  return values.length > 1 ? values : values[0];
};

/**
 * Returns the size of the hidden part of disks (Host Protected Area), in sectors.
 *
 * @param disks names or paths
 * @param size not supported: hiding sectors of a disk may lose data
 * @example tsalt-ssh '*' disk.hpa /dev/sda
 */
export const hpa = async (
  disks: string | string[],
  size: string | number | null = null,
): Promise<Record<string, PlainDict>> => {
  if (size !== null)
    throw new CommandExecutionError(
      'The argument "size" of disk.hpa is not supported: run hdparm -Np by hand, it may lose data.',
    );
  const told = await hdparms(disks, 'N');
  return Object.fromEntries(
    Object.entries(told).map(([disk, facts]) => {
      const [visible, total, status] = [Object.values(facts)[0] ?? []].flat();
      const hidden = Number(total) - Number(visible);
      return [
        disk,
        hidden === 0 || String(status).includes('disabled')
          ? { total: total ?? null }
          : { total: total ?? null, visible: visible ?? null, hidden },
      ];
    }),
  );
};

/**
 * Returns the SMART attributes of a disk by their numbers, as reported by `smartctl`.
 *
 * @param dev name or path
 * @param attributes only these numbers
 * @param values only these columns: `raw_value`, `worst` …
 * @example tsalt-ssh '*' disk.smart_attributes /dev/sda attributes='[5, 187]'
 */
export const smart_attributes = async (
  dev: string,
  attributes: number[] | null = null,
  values: string[] | null = null,
): Promise<Record<string, PlainDict>> => {
  const { stdout } = await runChecked(['smartctl', '--attributes', inDev(dev)], plain);
  const lines = stdout.split('\n');
  const start = lines.findIndex(line => line.startsWith('ID#'));
  const columns = (lines[start] ?? '')
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(name => name.toLowerCase());
  const found: Record<string, PlainDict> = {};
  for (const line of lines.slice(start + 1)) {
    const words = line.trim().split(/\s+/);
    if (!/^\d+$/.test(words[0] ?? '')) break;
    if (attributes && !attributes.map(Number).includes(Number(words[0]))) continue;
    const cells = [...words.slice(1, columns.length), words.slice(columns.length).join(' ')];
    found[String(words[0])] = Object.fromEntries(
      columns
        .map((name, at): [string, Plain] => [name, smartValue(cells[at] ?? '')])
        .filter(([name]) => values === null || values.includes(name)),
    );
  }
  return found;
};

const smartValue = (text: string): Plain => {
  const words = text.split(' ');
  if (!words.every(word => /^-?\d+$/.test(word))) return text;
  return words.length === 1 ? Number(text) : words.map(Number);
};

/**
 * Returns the I/O and CPU statistics of `iostat`, averaged over several samples.
 *
 * @param interval seconds between two samples
 * @param count number of samples
 * @param disks only these disks, without the processors
 * @example tsalt-ssh '*' disk.iostat 1 5 disks=sda
 */
export const iostat = async (
  interval = 1,
  count = 5,
  { disks = null }: { disks?: string | string[] | null } = {},
): Promise<Record<string, PlainDict>> => {
  const which = disks === null ? ['-x'] : ['-xd'];
  // iostat treats arguments that are not numbers as disks, and then never ends.
  const numbers = [interval, count].map(String);
  if (!numbers.every(number => /^[1-9]\d*$/.test(number)))
    throw new SaltInvocationError(
      `interval and count must be whole numbers above 0, not ${numbers.join(' and ')}`,
    );
  const { stdout } = await runChecked(
    ['iostat', ...which, ...numbers, ...[disks ?? []].flat()],
    plain,
  );
  return parseIostat(stdout);
};

const parseIostat = (text: string): Record<string, PlainDict> => {
  const looks = new Map<string, { header: string[]; rows: number[][] }>();
  const add = (name: string, header: string[], row: string[]): void => {
    const known = looks.get(name) ?? { header, rows: [] };
    known.rows.push(row.map(Number));
    looks.set(name, known);
  };
  let header: string[] = [];
  let part: 'sys' | 'disks' | undefined;
  for (const line of text.split('\n').map(one => one.trim())) {
    const [first = '', ...rest] = line.split(/\s+/);
    if (line === '') part = undefined;
    else if (first === 'avg-cpu:') [part, header] = ['sys', rest];
    else if (/^Device:?$/.test(first)) [part, header] = ['disks', rest];
    else if (part === 'sys') add('sys', header, [first, ...rest]);
    else if (part === 'disks') add(first, header, rest);
  }
  return Object.fromEntries(
    [...looks].map(([name, { header: names, rows }]) => [
      name,
      Object.fromEntries(
        names.map((column, at) => {
          const mean = rows.reduce((sum, row) => sum + (row[at] ?? 0), 0) / rows.length;
          return [column, Math.round(mean * 100) / 100];
        }),
      ),
    ]),
  );
};
