import { readFileSync } from 'node:fs';
import type { BatchSize, FleetRunOptions, HostOrder, Limit } from '../config/request.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import { splitRosterArgs } from '../roster/split-args.ts';
import { loadYamlArgument } from '../yaml/argument.ts';
import { splitArguments } from './arguments.ts';
import { isFunctionName } from './function-name.ts';
import type { Given } from './given.ts';
import { numberOf } from './number-option.ts';

type RolloutOptions = Pick<
  FleetRunOptions,
  | 'batch'
  | 'batchMode'
  | 'batchWait'
  | 'batchCheck'
  | 'batchAsk'
  | 'maxFail'
  | 'order'
  | 'limit'
  | 'exclude'
>;

/**
 * Reads which hosts of the target run, and in which order and batches.
 *
 * @throws TsaltError `usage-value`, `usage-batch`, `usage-limit`
 */
export const rolloutOptions = ({ options }: Given): RolloutOptions => {
  const batch = textOf(options.batch)?.split(',').map(sizeOf('batch'));
  const mode = options['batch-mode'] === 'sliding' ? ('sliding' as const) : undefined;
  const maxFail = textOf(options['max-fail']);
  const wait = numberOf('batch-wait', options['batch-wait'], 0);
  const check = textOf(options['batch-check']);
  const limit = textOf(options.limit);
  const exclude = textOf(options.exclude);
  const order = textOf(options.order) as HostOrder | undefined;
  const alone = (['batch-mode', 'batch-check', 'batch-ask'] as const).find(
    name => options[name] !== undefined,
  );
  if (batch === undefined && alone !== undefined)
    throw new TsaltError('usage-batch', `--${alone} needs batches.`, {
      hint: 'Give their size by -b.',
    });
  if (mode && (check !== undefined || options['batch-ask'] === true) && batch?.length === 1)
    throw new TsaltError(
      'usage-batch',
      `--${check === undefined ? 'batch-ask' : 'batch-check'} comes between batches, and sliding batches are not separate.`,
      { hint: 'Leave --batch-mode out, or begin with another batch: -b 1,10.' },
    );
  return {
    ...(batch === undefined ? {} : { batch }),
    ...(mode === undefined ? {} : { batchMode: mode }),
    ...(wait === undefined ? {} : { batchWait: wait }),
    ...(check === undefined ? {} : { batchCheck: checkOf(check) }),
    ...(options['batch-ask'] === true ? { batchAsk: true } : {}),
    ...(maxFail === undefined ? {} : { maxFail: sizeOf('max-fail')(maxFail) }),
    ...(order === undefined ? {} : { order }),
    ...(limit === undefined ? {} : { limit: limitOf(limit) }),
    ...(exclude === undefined ? {} : { exclude }),
  };
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;

const sizeOf =
  (name: string) =>
  (text: string): BatchSize => {
    const [, digits, percent] = /^\s*(\d{1,6})(%?)\s*$/.exec(text) ?? [];
    const number = Number(digits);
    if (digits === undefined || number < 1 || (percent === '%' && number > 100))
      throw new TsaltError(
        'usage-value',
        `The value of --${name} must be a number of hosts or a percentage like 25%, not '${text}'.`,
      );
    return percent === '%' ? { percent: number } : { count: number };
  };

const checkOf = (text: string): NonNullable<RolloutOptions['batchCheck']> => {
  const [fun = '', ...given] = splitRosterArgs(text) ?? [];
  if (!isFunctionName(fun))
    throw new TsaltError(
      'usage-value',
      `The value of --batch-check must be a function and its arguments, not '${text}'.`,
      { hint: "For example: --batch-check 'service.status nginx'" },
    );
  return { fun, ...splitArguments(given, [], loadYamlArgument) };
};

/** `@FILE` has one id a line; empty lines and lines that begin with # are left out. */
const limitOf = (text: string): Limit => {
  if (!/^@[^@]/.test(text) || /^@(?:local|chroot|docker|podman)\b/.test(text))
    return { expression: text };
  const file = text.slice(1);
  try {
    const lines = readFileSync(file, 'utf8')
      .split('\n')
      .map(line => line.trim());
    return { ids: lines.filter(line => line !== '' && !line.startsWith('#')) };
  } catch (cause) {
    throw new TsaltError(
      'usage-limit',
      `The file ${file} of --limit cannot be read: ${messageOf(cause)}.`,
      {
        cause,
      },
    );
  }
};
