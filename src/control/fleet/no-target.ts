import { existsSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Request } from '../../config/request.ts';
import { closestMatch } from '../../data/closest-match.ts';
import { fnmatch } from '../../data/python/glob.ts';
import { TsaltError } from '../../protocol/error.ts';

/**
 * Returns the error of a run whose target matches no host: where hosts were looked for, and the
 * likely mistake.
 */
export const noTarget = (request: Request): TsaltError => {
  const { target, targetType, hosts, rosters } = request;
  if (hosts.length === 0 && rosters?.sources.length === 0)
    return new TsaltError('no-target', `${rosters.folder} has no roster.`, {
      kind: 'no-target',
      hint: [projectAbove(rosters.folder), lookedFor].filter(hint => hint !== undefined).join('\n'),
    });
  const hints = [slip(request), known(request)].filter(hint => hint !== undefined);
  return new TsaltError(
    'no-target',
    `No host of the roster matches the ${targetType} target '${target}'.`,
    { kind: 'no-target', hint: hints.join('\n') },
  );
};

const lookedFor =
  'Looked for roster.yaml, roster.yml and roster. Write one there, name a file with --roster-file or another folder with -c; user@host and @local need no roster. tsalt-ssh init writes a small project.';

/** Returns the folder of the project that contains the current folder: the likely intention. */
const projectAbove = (folder: string): string | undefined => {
  for (let below = folder; dirname(below) !== below; below = dirname(below)) {
    const above = dirname(below);
    const isProject = ['roster.yaml', 'roster.yml', 'tsalt.yaml'].some(name =>
      existsSync(join(above, name)),
    );
    if (isProject)
      return `${above} is a project: cd ${posixQuoted(above)}, or use -c ${posixQuoted(relative(process.cwd(), above) || '.')}`;
  }
  return undefined;
};

const posixQuoted = (text: string): string =>
  /^[\w./@:+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const known = ({ hosts, rosters }: Request): string => {
  if (hosts.length === 0) return `The roster ${rosters?.sources.join(', ') ?? ''} has no hosts.`;
  const first = hosts.slice(0, 8).map(({ id }) => id);
  const more = hosts.length > 8 ? ` and ${hosts.length - 8} more` : '';
  return `The roster has: ${first.join(', ')}${more} (tsalt-ssh '*' -H lists them).`;
};

/** Returns what a target without a match probably means. */
const slip = ({ target, targetType, hosts, fun, raw }: Request): string | undefined => {
  const isId = /^[\w.-]+$/.test(target);
  if (targetType !== 'glob' && !(targetType === 'compound' && isId)) return undefined;
  const ids = hosts.map(({ id }) => id);
  const isHost = (word: string): boolean => ids.some(id => fnmatch(id, word));
  const parts = target.split(',').map(part => part.trim());
  if (parts.length > 1 && parts.some(isHost))
    return parts.some(part => /[*?[]/.test(part))
      ? `Several targets are joined by -C: tsalt-ssh -C '${parts.join(' or ')}' …`
      : `A list of hosts needs -L: tsalt-ssh -L ${parts.join(',')} …`;
  const range = /\[\d+:\d+\]/.exec(target)?.[0];
  if (range !== undefined)
    return `In a target ${range} is one of these characters; a range of hosts can be written in a flat roster. Use -L with the hosts, or -E with a regular expression.`;
  if (raw === undefined && isHost(fun)) return `The target comes first: tsalt-ssh ${fun} ${target}`;
  const meant = closestMatch(target, ids);
  if (meant !== undefined) return `Did you mean '${meant}'?`;
  if (isId && existsSync(target))
    return `'${target}' is the name of a file here: a target such as * is written in quotes, or the shell replaces it.`;
  return undefined;
};
