import { readFile } from '../_shared/safe-fs/promises.ts';

/** A line of shadow(5). Numbers are days; -1 where nothing is set. */
export type Shadow = {
  readonly name: string;
  readonly passwd: string;
  readonly lstchg: number;
  readonly min: number;
  readonly max: number;
  readonly warn: number;
  readonly inact: number;
  readonly expire: number;
};

/** Reads an account's line of /etc/shadow; undefined if it does not exist or is not readable. */
export const readShadow = async (
  name: string,
  file = '/etc/shadow',
): Promise<Shadow | undefined> => {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return undefined;
  }
  const fields = text
    .split('\n')
    .map(line => line.split(':'))
    .find(([first]) => first === name);
  if (!fields) return undefined;
  const days = (at: number): number => {
    const value = fields[at];
    return value === undefined || value === '' ? -1 : Number(value);
  };
  return {
    name,
    passwd: fields[1] ?? '',
    lstchg: days(2),
    min: days(3),
    max: days(4),
    warn: days(5),
    inact: days(6),
    expire: days(7),
  };
};
