import { compareDebian, withoutEpoch } from '../_shared/text/package-version.ts';
import { apt } from './apt-run.ts';

/** Returns the candidate versions of many packages, with one `apt-cache policy`. */
export const candidatesOf = async (
  names: readonly string[],
  fromrepo: string | null,
): Promise<Map<string, string>> => {
  const release = fromrepo ? ['-o', `APT::Default-Release=${fromrepo}`] : [];
  const { stdout } = await apt(['-q', ...release, 'policy', '--', ...names], {
    program: 'apt-cache',
  });
  return parsePolicy(stdout);
};

/** `name:` lines, each followed by an indented `Candidate: version`. */
export const parsePolicy = (text: string): Map<string, string> => {
  const candidates = new Map<string, string>();
  let name = '';
  for (const line of text.split('\n')) {
    const head = /^(\S+):$/.exec(line);
    if (head) name = head[1] ?? '';
    const candidate = /^\s+Candidate:\s+(\S+)/.exec(line)?.[1];
    if (candidate && candidate !== '(none)') candidates.set(name, candidate);
  }
  return candidates;
};

export const byEpoch = (left: string, right: string, ignoreEpoch: boolean): number =>
  ignoreEpoch ? compareDebian(withoutEpoch(left), withoutEpoch(right)) : compareDebian(left, right);

export const readVersions = async (names: readonly string[]): Promise<Map<string, string[]>> => {
  const { stdout } = await apt(['-q', 'madison', '--', ...names], { program: 'apt-cache' });
  const versions = new Map<string, string[]>();
  for (const line of stdout.split('\n')) {
    const [name, version] = line.split('|').map(part => part.trim());
    if (!name || !version) continue;
    const known = versions.get(name) ?? [];
    if (!known.includes(version)) versions.set(name, [...known, version]);
  }
  for (const list of versions.values()) list.sort((left, right) => compareDebian(right, left));
  return versions;
};
