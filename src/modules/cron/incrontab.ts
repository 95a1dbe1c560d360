import { SaltInvocationError } from '../api.ts';

export type IncronJob = { path: string; mask: string; cmd: string };
export type Incrontab = { pre: string[]; crons: IncronJob[] };

const events = new Set(
  (
    'ACCESS ATTRIB CLOSE_WRITE CLOSE_NOWRITE CREATE DELETE DELETE_SELF MODIFY MOVE_SELF ' +
    'MOVED_FROM MOVED_TO OPEN ALL_EVENTS MOVE CLOSE DONT_FOLLOW ONESHOT ONLYDIR NO_LOOP'
  )
    .split(' ')
    .map(event => `IN_${event}`),
);

/**
 * Returns the words of a mask, in the syntax of incrontab(5).
 *
 * @throws SaltInvocationError for a word that incron does not know
 */
export const maskNames = (mask: string): string[] =>
  mask
    .split(',')
    .map(word => {
      const plain = word.trim();
      if (/^(?:loopable|recursive|dotdirs)=(?:true|false)$/.test(plain)) return plain;
      if (events.has(plain.toUpperCase())) return plain.toUpperCase();
      throw new SaltInvocationError(`Invalid mask type: ${plain}`);
    })
    .sort();

/** Parses lines of `path mask command`. All other lines are kept before them. */
export const parseIncrontab = (text: string): Incrontab => {
  const table: Incrontab = { pre: [], crons: [] };
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const match = /^(\S+)\s+(\S+)\s+(\S.*)$/.exec(line.trim());
    if (match && !line.startsWith('#'))
      table.crons.push({
        path: match[1] ?? '',
        mask: match[2] ?? '',
        cmd: match[3] ?? '',
      });
    else if (line !== '') table.pre.push(line);
  }
  return table;
};

export const renderIncrontab = ({ pre, crons }: Incrontab): string =>
  [...pre, ...crons.map(({ path, mask, cmd }) => `${path} ${mask} ${cmd}`)]
    .map(line => `${line}\n`)
    .join('');

/**
 * Looks up a job in a table. A job with another mask that shares an event counts as the same job, to
 * be updated.
 */
export const jobIn = (
  { crons }: Incrontab,
  { path, mask, cmd }: IncronJob,
): { status: 'present' | 'update' | 'absent'; at: number } => {
  const wanted = maskNames(mask);
  if (/\s/.test(path) || /[\r\n]/.test(cmd))
    throw new SaltInvocationError(
      `incron takes no path with blanks and no command of several lines: ${path}`,
    );
  let found = { status: 'absent' as 'absent' | 'update', at: -1 };
  for (const [at, job] of crons.entries()) {
    if (job.path !== path || job.cmd !== cmd) continue;
    const have = job.mask.split(',').sort();
    if (have.join() === wanted.join()) return { status: 'present', at };
    if (found.at < 0 && have.some(word => wanted.includes(word))) found = { status: 'update', at };
  }
  return found;
};
