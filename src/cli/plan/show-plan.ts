import { shellQuote } from '../../data/formats/shell-quote.ts';
import { planFormats, showPlan } from '../../plan/show-as.ts';
import { TsaltError } from '../../protocol/error.ts';
import type { Opened } from '../commands.ts';
import { exitCode } from '../exit-code.ts';
import { fileWriter } from '../file-writer.ts';
import { outputOptions } from '../open-output.ts';
import { print } from '../standard-output.ts';
import { planOf } from './apply-plan.ts';

/** `show FILE`: prints what a plan would change. */
export const showPlanFile = async (words: readonly string[], opened: Opened): Promise<number> => {
  const { given, config } = opened;
  const { out = 'text', 'out-file': file } = given.options;
  if (!planFormats.includes(out as (typeof planFormats)[number]))
    throw new TsaltError('usage-out', `A plan has no format '${String(out)}'.`, {
      hint: `It is shown as ${planFormats.join(', ')}.`,
    });
  const plan = await planOf(words, opened, 'show');
  const write = typeof file === 'string' ? fileWriter(file, false, 'output') : print;
  const { out: _, ...options } = outputOptions(given, config);
  const apply = ['tsalt-ssh', 'apply', ...words].map(shellQuote).join(' ');
  await showPlan(plan, out as (typeof planFormats)[number], { options, write, apply });
  return exitCode.ok;
};
