import { openSession } from '../../library/session.ts';
import { unchangedHosts } from '../../plan/groups.ts';
import { wholePlanText } from '../../plan/show-steps.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Opened } from '../commands.ts';
import { exitCode, mostSevereCode } from '../exit-code.ts';
import { runCall } from '../run-call.ts';
import { print } from '../standard-output.ts';
import { createConfirm } from '../terminal.ts';
import { runPlan } from './apply-plan.ts';
import { planRun } from './plan-run.ts';

/**
 * `--ask`: shows the predicted changes, asks, and makes exactly these changes over the same
 * connections.
 *
 * @throws TsaltError `no-terminal` without a terminal to ask at
 */
export const askAndApply = async (opened: Opened): Promise<number> => {
  const { given } = opened;
  const confirm = createConfirm(async () => () => undefined);
  if (!confirm && given.options.yes !== true)
    throw new TsaltError('no-terminal', '--ask needs a terminal to ask at.', {
      hint: 'Use --yes to skip the question, or make a plan: --plan-out FILE.',
    });
  const making = await planRun(given);
  const session = openSession();
  try {
    const first = await runCall(opened, session, { making, isQuiet: true });
    const plan = making.plan();
    if (!plan) return first;
    const total = Object.keys(plan.hosts).length;
    if (total === 0) return first;
    print(wholePlanText(plan));
    if (unchangedHosts(plan).length === total) return first;
    const isYes = given.options.yes === true || (await confirm?.('Change this?')) === true;
    if (!isYes) {
      process.stderr.write('Nothing was changed.\n');
      return first;
    }
    // States that are predicted to fail made the first run fail; the second run decides.
    const second = await runPlan(plan, opened, { session });
    return mostSevereCode(new Set(first === exitCode.failed ? [second] : [first, second]));
  } finally {
    session.close();
  }
};
