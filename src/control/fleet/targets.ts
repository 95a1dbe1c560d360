import type { Request, TargetType } from '../../config/request.ts';
import { toDict } from '../../data/values/value.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import type { PlainDict } from '../../protocol/plain.ts';
import { decideTarget, matches, needs, targetError } from '../../targeting/match.ts';
import { hostOpts } from '../facts/host-opts.ts';
import type { HostAttempt } from '../host/attempt.ts';

/** The hosts of a target, as far as known before any connection. */
export type Targets = {
  /** Hosts that match, and those that may match, in the order in which they run. */
  readonly hosts: readonly Host[];
  /** Hosts whose grains or pillar decide. */
  readonly undecided: ReadonlySet<Host>;
  /** Decides over the host's own connection, after its hello. */
  readonly isTarget: (attempt: HostAttempt) => Promise<boolean>;
  /** Decides by collected grains alone; undefined if the pillar is needed. */
  readonly isTargetBy: (host: Host, grains: PlainDict) => boolean | undefined;
};

/** One condition that a host must meet, or must not meet. */
type Condition = {
  readonly expression: string;
  readonly type: TargetType;
  readonly delimiter: string;
  readonly wanted: boolean;
};

/**
 * Finds the hosts of a target, within `--limit` and without `--exclude`. Hosts that known data
 * exclude are not contacted.
 *
 * @throws TsaltError `target-wrong` for an expression that cannot match any host
 */
export const pickTargets = (request: Request): Targets => {
  const conditions = conditionsOf(request);
  for (const condition of conditions) refuseWrong(condition, request);
  const { nodegroups } = request.config;
  const undecided = new Set<Host>();
  const decided = (host: Host, collected?: PlainDict): boolean | undefined => {
    const { grains } = hostOpts(request.config, host);
    // Grains of roster and configuration override what the host collects.
    const own = { ...collected, ...(grains as PlainDict), id: host.id };
    const isComplete = collected !== undefined;
    const known = { id: host.id, grains: toDict(own), nodegroups, isComplete };
    const met = conditions.map(({ expression, type, delimiter, wanted }) => {
      const answer = decideTarget(expression, type, known, { delimiter });
      return answer === undefined ? undefined : answer === wanted;
    });
    if (met.includes(false)) return false;
    return met.includes(undefined) ? undefined : true;
  };
  const hosts = request.hosts.filter(host => {
    const answer = decided(host);
    if (answer === undefined) undecided.add(host);
    return answer !== false;
  });
  const asksPillar = conditions.some(
    ({ expression, type }) => needs(expression, type, nodegroups).pillar,
  );
  return {
    hosts: inOrder(request, hosts),
    undecided,
    isTargetBy: decided,
    isTarget: async ({ facts, pillar }) => {
      const subject = {
        id: facts.host.id,
        grains: facts.grains,
        pillar: asksPillar ? await pillar.get() : new Map(),
        nodegroups,
      };
      return conditions.every(
        ({ expression, type, delimiter, wanted }) =>
          matches(expression, type, subject, { delimiter }) === wanted,
      );
    },
  };
};

const conditionsOf = (request: Request): Condition[] => {
  const { target, targetType, delimiter, options } = request;
  const { limit, exclude } = options;
  const more = (expression: string, type: TargetType, wanted: boolean): Condition => ({
    expression,
    type,
    delimiter: ':',
    wanted,
  });
  return [
    { expression: target, type: targetType, delimiter, wanted: true },
    ...(limit === undefined
      ? []
      : [
          'ids' in limit
            ? more(limit.ids.join(','), 'list', true)
            : more(limit.expression, 'compound', true),
        ]),
    ...(exclude === undefined ? [] : [more(exclude, 'compound', false)]),
  ];
};

/** Hosts that are listed one by one run in that order, unless `--order` says otherwise. */
const inOrder = (
  { target, targetType, options: { order } }: Request,
  hosts: readonly Host[],
): readonly Host[] => {
  if (order === 'alphabetical') return hosts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  if (order === 'reverse') return hosts.toReversed();
  if (order === 'random') return shuffled(hosts);
  if (targetType !== 'list' || order === 'roster') return hosts;
  const places = new Map(target.split(',').map((name, at) => [name, at]));
  return hosts.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
};

/** Fisher-Yates shuffle. */
const shuffled = (hosts: readonly Host[]): readonly Host[] => {
  const list = [...hosts];
  for (let at = list.length - 1; at > 0; at -= 1) {
    const other = Math.floor(Math.random() * (at + 1));
    [list[at], list[other]] = [list[other] as Host, list[at] as Host];
  }
  return list;
};

/** A wrong regular expression is explained in more detail when it is used. */
const refuseWrong = ({ expression, type, delimiter }: Condition, { config }: Request): void => {
  if (type === 'pcre') return;
  const text = /^(grain|pillar)/.test(type) ? expression.replaceAll(delimiter, ':') : expression;
  const wrong = targetError(text, type, config.nodegroups);
  if (wrong !== undefined) throw new TsaltError('target-wrong', `${wrong}.`);
};

/**
 * Returns names of a list target that no roster has. A glob may match fewer hosts than expected,
 * but a host that was named must not be left out silently.
 */
export const unknownNames = ({
  target,
  targetType,
  hosts,
  options,
}: Request): readonly string[] => {
  const known = new Set(hosts.map(({ id }) => id));
  const named = targetType === 'list' ? target.split(',') : [];
  const limited = options.limit && 'ids' in options.limit ? options.limit.ids : [];
  return [...new Set([...named, ...limited])].filter(name => !known.has(name));
};
