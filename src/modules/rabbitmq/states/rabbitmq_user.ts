/** Users of RabbitMQ. */
import { isDeepStrictEqual } from 'node:util';
import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, unchanged, would } from '../../_shared/states/returns.ts';
import { repackDictList } from '../../_shared/states/values.ts';
import { __opts__, type Plain, type PlainDict, type StateReturn } from '../../api.ts';
import { hasRabbitmq } from '../rabbitmq-run.ts';

export const __virtual__ = hasRabbitmq;

type PresentOptions = {
  password?: string | null;
  force?: boolean;
  tags?: Plain;
  perms?: Plain;
  runas?: string | null;
};

/**
 * A user of RabbitMQ is there, with this password, these tags and these permissions.
 *
 * @param name the user
 * @param password the password; set when it is not the user's yet
 * @param force true: set the password in any case; without one, take it away
 * @param tags `[administrator]`, `[monitoring]` …, and no others; empty: none
 * @param perms by virtual host, patterns for configure, write and read
 * @param runas the account to run rabbitmqctl as
 * @example
 * shop:
 *   rabbitmq_user.present:
 *     - password: '{{ pillar.rabbitmq.shop }}'
 *     - tags: [monitoring]
 *     - perms:
 *       - /:
 *         - '.*'
 *         - '.*'
 *         - '.*'
 */
export const present = async (
  name: string,
  { password = null, force = false, tags = null, perms = null, runas = null }: PresentOptions = {},
): Promise<StateReturn> =>
  // biome-ignore lint/complexity/noExcessiveCognitiveComplexity: the steps of Salt's rabbitmq_user.present, in its order
  failOnError(name, async () => {
    const where = { runas };
    const users: { [user: string]: string[] } = await salt('rabbitmq.list_users')(where);
    const isThere = Object.hasOwn(users, name);
    const changes: PlainDict = {};
    const steps: (() => Promise<unknown>)[] = [];
    if (!isThere) {
      changes.user = { old: '', new: name };
      steps.push(() => salt('rabbitmq.add_user')(name, password, where));
    } else if (password === null) {
      if (force) {
        changes.password = { old: 'Removed password.', new: '' };
        steps.push(() => salt('rabbitmq.clear_password')(name, where));
      }
    } else if (force || !(await salt('rabbitmq.check_password')(name, password, where))) {
      changes.password = { old: '', new: 'Set password.' };
      steps.push(() => salt('rabbitmq.change_password')(name, password, where));
    }
    if (tags !== null) {
      const wanted = [...new Set(wordsOf(tags))].sort();
      const have = [...(users[name] ?? [])].sort();
      if (!isDeepStrictEqual(have, wanted)) {
        changes.tags = { old: have, new: wanted };
        steps.push(() => salt('rabbitmq.set_user_tags')(name, wanted, where));
      }
    }
    const wanted = Object.entries(repackDictList(perms));
    const have: { [vhost: string]: string[] } =
      isThere && wanted.length > 0 ? await salt('rabbitmq.list_user_permissions')(name, where) : {};
    const differing = wanted.filter(
      ([vhost, patterns]) => !isDeepStrictEqual(have[vhost], threeOf(patterns)),
    );
    if (differing.length > 0)
      changes.perms = {
        old: have,
        new: Object.fromEntries(differing.map(([vhost, patterns]) => [vhost, threeOf(patterns)])),
      };
    for (const [vhost, patterns] of differing)
      steps.push(() => salt('rabbitmq.set_permissions')(vhost, name, ...threeOf(patterns), where));
    if (steps.length === 0)
      return unchanged(
        name,
        force || wanted.length > 0 || tags !== null
          ? `'${name}' is already in the desired state.`
          : `User '${name}' is already present.`,
      );
    if (__opts__.test)
      return would(
        name,
        isThere
          ? `Configuration for '${name}' will change.`
          : `User '${name}' is set to be created.`,
        changes,
      );
    for (const step of steps) await step();
    return changed(name, `'${name}' was configured.`, changes);
  });

const wordsOf = (tags: Plain): string[] =>
  Array.isArray(tags)
    ? tags.map(String)
    : String(tags)
        .split(/[\s,]+/)
        .filter(Boolean);

/** Patterns that are left out are empty: an empty pattern matches nothing. */
const threeOf = (patterns: Plain): string[] => {
  const given = Array.isArray(patterns) ? patterns.map(one => String(one ?? '')) : [];
  return [given[0] ?? '', given[1] ?? '', given[2] ?? ''];
};

/**
 * A user of RabbitMQ is not there.
 *
 * @param name the user
 * @param runas the account to run rabbitmqctl as
 * @example
 * guest:
 *   rabbitmq_user.absent
 */
export const absent = async (
  name: string,
  { runas = null }: { runas?: string | null } = {},
): Promise<StateReturn> =>
  failOnError(name, async () => {
    if (!(await salt('rabbitmq.user_exists')(name, { runas })))
      return unchanged(name, `The user '${name}' is not present.`);
    const changes = { name: { old: name, new: '' } };
    if (__opts__.test) return would(name, `The user '${name}' will be removed.`, changes);
    await salt('rabbitmq.delete_user')(name, { runas });
    return changed(name, `The user '${name}' was removed.`, changes);
  });
