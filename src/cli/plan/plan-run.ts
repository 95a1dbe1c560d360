import { ownVersion } from '../../bundle/package-info.ts';
import type { Request } from '../../config/request.ts';
import { holdsSecret } from '../../control/prepare/secrets-in-chunks.ts';
import { hasKnownSecret } from '../../data/known-secrets.ts';
import { toPlain, toPlainDict } from '../../data/values/value.ts';
import { oneLine } from '../../output/text.ts';
import { PlanCollector } from '../../plan/collect.ts';
import { checkRecipients, writePlan } from '../../plan/file.ts';
import { type Plan, type PlannedCall, planFunctions } from '../../plan/plan.ts';
import { showLocation, TsaltError } from '../../protocol/error.ts';
import type { RunEvent } from '../../protocol/event.ts';
import { isOrchestrated } from '../../request/call.ts';
import type { Given } from '../../request/given.ts';
import { unusedPillar } from '../../validate/lint/unused-pillar.ts';
import { rerunCommands } from '../rerun-command.ts';

/** A run in test mode of which a plan is made. */
export type PlanRun = {
  readonly begin: (request: Request) => void;
  readonly emit: (event: RunEvent) => void;
  /** Returns the plan; undefined if the run did not begin. */
  readonly plan: () => Plan | undefined;
  /** Writes the plan to the file of `--plan-out`. @returns a message */
  readonly write: () => Promise<string>;
};

/**
 * Prepares the plan of a command line.
 *
 * @throws TsaltError `usage-value`, `plan-recipient`
 */
export const planRun = async (given: Given): Promise<PlanRun> => {
  const { options } = given;
  const fun = (options.local === true ? given.words[0] : given.words[1]) ?? '';
  if (options.resume !== undefined)
    throw new TsaltError('usage-resume', 'No plan can be made of the rest of an orchestration.', {
      hint: 'Leave --resume out: steps find their work done, and the plan has what is left.',
    });
  if (!isOrchestrated(given) && !planFunctions.has(fun))
    throw new TsaltError('usage-value', `No plan can be made of ${fun}: it runs no states.`, {
      hint: `Plans are made of ${[...planFunctions].join(', ')}.`,
    });
  const lifetime = lifetimeOf(textOf(options['plan-expires']) ?? '24h');
  const recipients = (textOf(options['plan-recipient']) ?? '')
    .split(',')
    .map(word => word.trim())
    .filter(word => word !== '');
  await checkRecipients(recipients);
  let collector: PlanCollector | undefined;
  let request: Request | undefined;
  return {
    begin: made => {
      request = made;
      const now = Date.now();
      collector = new PlanCollector({
        tsalt: ownVersion(),
        created: new Date(now).toISOString(),
        expires: new Date(now + lifetime).toISOString(),
        jid: made.options.jid,
        call: callIn(given, made),
      });
      for (const { message, at } of unusedPillar(made.config))
        collector.addFinding(`${message} (${showLocation(at)})`);
    },
    emit: event => collector?.emit(event),
    plan: () => collector?.plan(),
    write: () =>
      writeOut(given, collector as PlanCollector, {
        file: textOf(options['plan-out']) ?? '',
        recipients,
        hasSecretArguments: hasSecrets(request),
      }),
  };
};

const writeOut = async (
  given: Given,
  collector: PlanCollector,
  {
    file,
    recipients,
    hasSecretArguments,
  }: {
    readonly file: string;
    readonly recipients: readonly string[];
    readonly hasSecretArguments: boolean;
  },
): Promise<string> => {
  const plan = collector.plan();
  if (Object.keys(plan.hosts).length === 0) return 'No plan was written: no host has one.\n';
  const secrets = [...collector.secrets].map(([id, [first = '']]) => `${id}: ${first}`);
  if (hasSecretArguments) secrets.unshift('an argument of the call');
  if (secrets.length > 0 && recipients.length === 0) throw unencrypted(given, secrets);
  await writePlan(file, plan, recipients);
  const without = plan.failed.length === 0 ? '' : ` ${plan.failed.length} have none.`;
  const count = (plan.steps ?? Object.keys(plan.hosts)).length;
  const unit = plan.steps ? 'step' : 'host';
  return `The plan of ${count === 1 ? `1 ${unit}` : `${count} ${unit}s`} is in ${file}.${without} Show it: tsalt-ssh show ${file}. Apply it: tsalt-ssh apply ${file}\n`;
};

const unencrypted = (given: Given, secrets: readonly string[]): TsaltError => {
  const shown = secrets.slice(0, 3).map(oneLine).join('; ');
  const more = secrets.length > 3 ? ` and ${secrets.length - 3} more` : '';
  const options = { ...given.options, 'plan-recipient': 'age1KEY' };
  return new TsaltError(
    'plan-secrets',
    `The plan would have secrets in it and was not written: ${shown}${more}.`,
    { hint: `Encrypt it to a key of age: ${rerunCommands({ ...given, options }).whole}` },
  );
};

const hasSecrets = (request: Request | undefined): boolean =>
  request !== undefined && holdsSecret('', toPlainDict(request.kwargs), hasKnownSecret);

/** Returns the parts of the call that `apply` needs. */
const callIn = ({ options, words }: Given, request: Request): PlannedCall => {
  const isOrch = options.orch !== undefined;
  const typed = isOrch ? '@control' : options.local === true ? '@local' : (words[0] ?? '');
  const { test: _, localconfig: __, ...kwargs } = toPlainDict(request.kwargs);
  const isBesideRoster = request.targetType === 'list' && options.list !== true;
  return {
    target: typed,
    ...(isBesideRoster ? { adHoc: true } : {}),
    fun: request.fun,
    args: request.args.map(toPlain),
    kwargs,
  };
};

const units: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const lifetimeOf = (text: string): number => {
  const [, digits, unit = ''] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const lifetime = Number(digits) * (units[unit] ?? Number.NaN);
  if (lifetime <= 366 * 86_400_000) return lifetime;
  throw new TsaltError(
    'usage-value',
    `The value of --plan-expires must be minutes, hours or days up to a year, as 30m, 24h or 7d, not '${text}'.`,
  );
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
