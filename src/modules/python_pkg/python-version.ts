import { orderHolds } from '../_shared/text/version-order.ts';

/** Python's order of versions (PEP 440), local parts left out. */
export const comparePython = (left: string, right: string): number => {
  const one = parse(left);
  const two = parse(right);
  const length = Math.max(one.release.length, two.release.length);
  let order = one.epoch - two.epoch;
  for (let at = 0; at < length && order === 0; at += 1)
    order = (one.release[at] ?? 0) - (two.release[at] ?? 0);
  return (
    order ||
    one.stage - two.stage ||
    one.stageNumber - two.stageNumber ||
    one.post - two.post ||
    one.dev - two.dev
  );
};

const stages: Readonly<Record<string, number>> = {
  a: -3,
  alpha: -3,
  b: -2,
  beta: -2,
  c: -1,
  rc: -1,
};

const parse = (version: string) => {
  const match =
    /^v?(?:(\d+)!)?(\d+(?:\.\d+)*)[-_.]?(?:(alpha|a|beta|b|rc|c)[-_.]?(\d*))?(?:[-_.]?post[-_.]?(\d*)|-(\d+))?(?:[-_.]?dev[-_.]?(\d*))?/i.exec(
      version.trim(),
    );
  const stage = (match?.[3] ?? '').toLowerCase();
  const isDev = match?.[7] !== undefined;
  const post = match?.[5] ?? match?.[6];
  return {
    epoch: Number(match?.[1] ?? 0),
    release: (match?.[2] ?? '0').split('.').map(Number),
    // A development release of 1.0 comes before 1.0a1.
    stage: stage === '' ? (isDev && post === undefined ? -4 : 0) : (stages[stage] ?? 0),
    stageNumber: Number(match?.[4] || 0),
    post: post === undefined ? -1 : Number(post || 0),
    dev: isDev ? Number(match?.[7] || 0) : Number.MAX_SAFE_INTEGER,
  };
};

/** A requirement: `requests[socks]>=2,<3`. */
export type Requirement = { readonly name: string; readonly specs: readonly [string, string][] };

/** Reads a requirement; undefined when it is a URL or nonsense. */
export const parseRequirement = (text: string): Requirement | undefined => {
  const match =
    /^\s*([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*(.*?)\s*(?:;.*)?$/.exec(
      text,
    );
  if (!match) return undefined;
  const specs: [string, string][] = [];
  for (const part of (match[2] ?? '').split(',').filter(one => one.trim() !== '')) {
    const spec = /^\s*(===|==|!=|~=|>=|<=|>|<)\s*(\S+)\s*$/.exec(part);
    if (!spec) return undefined;
    specs.push([spec[1] ?? '', spec[2] ?? '']);
  }
  return { name: match[1] ?? '', specs };
};

/** Whether a version satisfies all conditions of a requirement. */
export const satisfies = (version: string, specs: Requirement['specs']): boolean =>
  specs.every(([operator, wanted]) => {
    if (wanted.endsWith('.*')) {
      const isIn = `${version}.`.startsWith(wanted.slice(0, -1));
      return operator === '!=' ? !isIn : isIn;
    }
    const order = comparePython(version, wanted);
    if (operator === '===') return version === wanted;
    // `~=`
    const isCompatible = (): boolean =>
      order >= 0 && `${version}.`.startsWith(`${wanted.split('.').slice(0, -1).join('.')}.`);
    return orderHolds(operator, order) ?? isCompatible();
  });

/** Python's way to compare names: case and `-_.` do not matter (PEP 503). */
export const sameName = (left: string, right: string): boolean => plain(left) === plain(right);
const plain = (name: string): string => name.toLowerCase().replace(/[-_.]+/g, '-');
