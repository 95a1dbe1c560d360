import type { Request } from '../../config/request.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { complaint, matches, needs } from '../../targeting/match.ts';
import type { HostAttempt } from '../host/attempt.ts';

/**
 * The hosts a target means. What can be told from ids is decided now; targets that ask for
 * grains or pillar are decided on each host's own connection, after its hello.
 *
 * @throws TsaltError `target-wrong` for an expression that no host at all could match
 */
export const pickTargets = (
  request: Request,
): { hosts: readonly Host[]; isTarget?: (attempt: HostAttempt) => Promise<boolean> } => {
  const { target, targetType, delimiter, config } = request;
  const subject = { nodegroups: config.nodegroups };
  const options = { delimiter };
  refuseWrong(request);
  const asks = needs(target, targetType, config.nodegroups);
  if (!asks.grains && !asks.pillar)
    return {
      hosts: inListed(
        request,
        request.hosts.filter(({ id }) =>
          matches(
            target,
            targetType,
            { ...subject, id, grains: new Map(), pillar: new Map() },
            options,
          ),
        ),
      ),
    };
  return {
    hosts: request.hosts,
    isTarget: async ({ facts, pillar }) =>
      matches(
        target,
        targetType,
        {
          ...subject,
          id: facts.host.id,
          grains: facts.grains,
          pillar: asks.pillar ? await pillar.get() : new Map(),
        },
        options,
      ),
  };
};

/** Hosts that are named one by one run in that order: with `-b 1` one after the other. */
const inListed = ({ target, targetType }: Request, hosts: readonly Host[]): readonly Host[] => {
  if (targetType !== 'list') return hosts;
  const places = new Map(target.split(',').map((name, at) => [name, at]));
  return hosts.toSorted((a, b) => (places.get(a.id) ?? 0) - (places.get(b.id) ?? 0));
};

/** A wrong regular expression says more of itself when it is used. */
const refuseWrong = ({ target, targetType, delimiter, config }: Request): void => {
  if (targetType === 'pcre') return;
  const expression = /^(grain|pillar)/.test(targetType)
    ? target.replaceAll(delimiter, ':')
    : target;
  const wrong = complaint(expression, targetType, config.nodegroups);
  if (wrong !== undefined) throw new TsaltError('target-wrong', `${wrong}.`);
};

/**
 * Names of a list target that no roster has. A glob that matches less than hoped is ordinary; a
 * host that was named and silently left out is not.
 */
export const unknownNames = ({ target, targetType, hosts }: Request): readonly string[] => {
  if (targetType !== 'list') return [];
  const known = new Set(hosts.map(({ id }) => id));
  return target.split(',').filter(name => !known.has(name));
};
