import { orderHolds } from '../_shared/text/version-order.ts';
import { CommandExecutionError } from '../api.ts';

/** RubyGems' order of versions: a part in letters (`1.0.rc1`) comes before a number, or none. */
const compareGem = (left: string, right: string): number => {
  const [one, two] = [left, right].map(text => text.match(/\d+|[a-z]+/gi) ?? []);
  for (let at = 0; at < Math.max(one?.length ?? 0, two?.length ?? 0); at += 1) {
    const order = comparePart(one?.[at] ?? '0', two?.[at] ?? '0');
    if (order !== 0) return order;
  }
  return 0;
};

const isNumber = (part: string): boolean => /^\d/.test(part);

const comparePart = (left: string, right: string): number => {
  if (isNumber(left) && isNumber(right)) return Number(left) - Number(right);
  if (isNumber(left) !== isNumber(right)) return isNumber(left) ? 1 : -1;
  return left < right ? -1 : Number(left > right);
};

/** The first version that `~> 1.2.3` excludes: 1.3. */
const nextOf = (version: string): string => {
  const numbers = /^\d+(?:\.\d+)*/.exec(version)?.[0].split('.').map(Number) ?? [0];
  const kept = numbers.length > 1 ? numbers.slice(0, -1) : numbers;
  return [...kept.slice(0, -1), (kept.at(-1) ?? 0) + 1].join('.');
};

const holds = (operator: string, have: string, version: string): boolean => {
  const order = compareGem(have, version);
  // `~>`
  const isNear = (): boolean => order >= 0 && compareGem(have, nextOf(version)) < 0;
  return orderHolds(operator, order) ?? isNear();
};

/** Whether one of these versions is as a text such as `1.2`, `>= 1.2, < 2` or `~> 1.2` wants it. */
export const fulfillsGem = (installed: readonly string[], wanted: string): boolean => {
  const conditions = wanted.split(',').map(part => {
    const [, operator = '=', version] =
      /^\s*(~>|>=|<=|!=|>|<|=)?\s*(\d[\w.-]*)\s*$/.exec(part) ?? [];
    if (version === undefined)
      throw new CommandExecutionError(`Not the version of a gem: "${wanted}"`);
    return { operator, version };
  });
  return installed.some(have =>
    conditions.every(({ operator, version }) => holds(operator, have, version)),
  );
};
