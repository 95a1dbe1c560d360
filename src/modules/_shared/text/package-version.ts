/** Below 0, 0 or above 0, as the left version is older, the same or newer. */
export type VersionCompare = (left: string, right: string) => number;

/** Debian's order of versions (deb-version(7)): epoch, upstream version, revision. */
export const compareDebian: VersionCompare = (left, right) => {
  const one = splitDebian(left);
  const two = splitDebian(right);
  return (
    one.epoch - two.epoch ||
    compareDebianPart(one.upstream, two.upstream) ||
    compareDebianPart(one.revision, two.revision)
  );
};

const splitDebian = (version: string): { epoch: number; upstream: string; revision: string } => {
  const colon = version.indexOf(':');
  const epoch = colon === -1 ? 0 : Number(version.slice(0, colon));
  const rest = version.slice(colon + 1);
  const dash = rest.lastIndexOf('-');
  return {
    epoch: Number.isNaN(epoch) ? 0 : epoch,
    upstream: dash === -1 ? rest : rest.slice(0, dash),
    revision: dash === -1 ? '' : rest.slice(dash + 1),
  };
};

/** Texts and numbers in turn; a tilde sorts before everything, the end too; letters before others. */
const compareDebianPart = (left: string, right: string): number => {
  let one = left;
  let two = right;
  while (one !== '' || two !== '') {
    const textOne = /^\D*/.exec(one)?.[0] ?? '';
    const textTwo = /^\D*/.exec(two)?.[0] ?? '';
    const length = Math.max(textOne.length, textTwo.length);
    for (let at = 0; at < length; at += 1) {
      const order = debianWeight(textOne[at]) - debianWeight(textTwo[at]);
      if (order !== 0) return order;
    }
    one = one.slice(textOne.length);
    two = two.slice(textTwo.length);
    const numberOne = /^\d*/.exec(one)?.[0] ?? '';
    const numberTwo = /^\d*/.exec(two)?.[0] ?? '';
    const order = compareDigits(numberOne, numberTwo);
    if (order !== 0) return order;
    one = one.slice(numberOne.length);
    two = two.slice(numberTwo.length);
  }
  return 0;
};

const debianWeight = (character: string | undefined): number => {
  if (character === undefined) return 0;
  if (character === '~') return -1;
  return /[A-Za-z]/.test(character) ? character.charCodeAt(0) : character.charCodeAt(0) + 256;
};

/** Digits of any length by value. */
const compareDigits = (left: string, right: string): number => {
  const one = left.replace(/^0+/, '');
  const two = right.replace(/^0+/, '');
  if (one.length !== two.length) return one.length - two.length;
  return one < two ? -1 : one > two ? 1 : 0;
};

/** RPM's order: epoch, version, release, each as rpmvercmp does it. A missing release matches any. */
export const compareRpm: VersionCompare = (left, right) => {
  const one = splitRpm(left);
  const two = splitRpm(right);
  const order = one.epoch - two.epoch || compareRpmPart(one.version, two.version);
  if (order !== 0) return order;
  return one.release === '' || two.release === '' ? 0 : compareRpmPart(one.release, two.release);
};

const splitRpm = (text: string): { epoch: number; version: string; release: string } => {
  const colon = text.indexOf(':');
  const rest = text.slice(colon + 1);
  const dash = rest.indexOf('-');
  return {
    epoch: colon === -1 ? 0 : Number(text.slice(0, colon)) || 0,
    version: dash === -1 ? rest : rest.slice(0, dash),
    release: dash === -1 ? '' : rest.slice(dash + 1),
  };
};

// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: rpm's comparison, in the order of its own algorithm
const compareRpmPart = (left: string, right: string): number => {
  const one = left.match(/\d+|[A-Za-z]+|[~^]/g) ?? [];
  const two = right.match(/\d+|[A-Za-z]+|[~^]/g) ?? [];
  for (let at = 0; at < Math.max(one.length, two.length); at += 1) {
    const a = one[at];
    const b = two[at];
    if (a === b) continue;
    if (a === '~' || b === '~') return a === '~' ? -1 : 1;
    if (a === '^') return b === undefined ? 1 : -1;
    if (b === '^') return a === undefined ? -1 : 1;
    if (a === undefined || b === undefined) return a === undefined ? -1 : 1;
    const numberA = /^\d/.test(a);
    const numberB = /^\d/.test(b);
    if (numberA !== numberB) return numberA ? 1 : -1;
    const order = numberA ? compareDigits(a, b) : a < b ? -1 : a > b ? 1 : 0;
    if (order !== 0) return order;
  }
  return 0;
};

/** apk's order, near enough to pacman's and Homebrew's too: numbers, letter, suffixes, revision. */
export const compareAlpine: VersionCompare = (left, right) => {
  const one = splitAlpine(left);
  const two = splitAlpine(right);
  for (let at = 0; at < Math.max(one.numbers.length, two.numbers.length); at += 1) {
    const order = (one.numbers[at] ?? -1) - (two.numbers[at] ?? -1);
    if (order !== 0) return order;
  }
  return (
    one.letter.localeCompare(two.letter) ||
    one.suffix - two.suffix ||
    one.suffixNumber - two.suffixNumber ||
    one.revision - two.revision
  );
};

const suffixes: Readonly<Record<string, number>> = {
  alpha: -4,
  beta: -3,
  pre: -2,
  rc: -1,
  '': 0,
  cvs: 1,
  svn: 2,
  git: 3,
  hg: 4,
  p: 5,
};

const splitAlpine = (version: string) => {
  const match =
    /^([\d.]*)([a-z]?)(?:_(alpha|beta|pre|rc|cvs|svn|git|hg|p)(\d*))?.*?(?:-r(\d+))?$/.exec(
      version,
    );
  return {
    numbers: (match?.[1] ?? '').split('.').filter(Boolean).map(Number),
    letter: match?.[2] ?? '',
    suffix: suffixes[match?.[3] ?? ''] ?? 0,
    suffixNumber: Number(match?.[4] || 0),
    revision: Number(match?.[5] ?? 0),
  };
};

/** The epoch taken off, for comparisons that are to ignore it. */
export const withoutEpoch = (version: string): string => version.replace(/^\d+:/, '');
