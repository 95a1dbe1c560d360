import { runCommand } from '../_shared/commands/run-command.ts';
import { which } from '../_shared/commands/which.ts';
import { nameExists } from '../_shared/files/owner-names.ts';
import { CommandExecutionError, type Plain, type PlainDict } from '../api.ts';

/** The account to run RabbitMQ's programs as; they ask for root or RabbitMQ's own. */
export type RunAs = {
  /** the account to run rabbitmqctl as */
  runas?: string | null;
};

/** Whether RabbitMQ is installed, for `__virtual__`. */
export const hasRabbitmq = (): true | [false, string] =>
  which('rabbitmqctl') !== undefined || [false, 'rabbitmqctl is not installed.'];

/** Run by root, Debian's rabbitmqctl hands its arguments to a shell; run by RabbitMQ's own account, not. */
const accountOf = (runas: string | null | undefined): string | null | undefined =>
  (runas === 'root' || !runas) && process.getuid?.() === 0 && nameExists('passwd', 'rabbitmq')
    ? 'rabbitmq'
    : runas;

/**
 * Runs one of RabbitMQ's programs and returns its output. A password goes through `stdin`, where
 * these programs ask for it when it is not an argument.
 *
 * @throws CommandExecutionError with its error message
 */
export const runRabbitmq = async (
  argv: readonly [string, ...string[]],
  { runas }: RunAs,
  stdin?: string,
): Promise<string> => {
  const account = argv[0] === 'rabbitmqctl' ? accountOf(runas) : runas;
  const { code, stdout, stderr } = await runCommand(argv, {
    plainLocale: true,
    cwd: '/',
    ...(account ? { runas: account } : {}),
    ...(stdin === undefined ? {} : { stdin: `${stdin}\n` }),
  });
  if (code === 0) return stdout.replace(/^Password: *$/gm, '').trim();
  const why = (stderr.trim() || stdout.trim()).split('\n').filter(line => line.trim() !== '');
  throw new CommandExecutionError(`RabbitMQ command failed: ${why.slice(0, 6).join('\n')}`);
};

/** The rows that `rabbitmqctl` lists. Its JSON came with RabbitMQ 3.7. */
export const listRabbitmq = async (
  words: readonly string[],
  options: RunAs,
): Promise<{ [column: string]: Plain }[]> => {
  const text = await runRabbitmq(
    ['rabbitmqctl', '--quiet', '--formatter', 'json', ...words],
    options,
  );
  try {
    return JSON.parse(text === '' ? '[]' : text) as PlainDict[];
  } catch (error) {
    throw new CommandExecutionError(
      `rabbitmqctl ${words[0]} printed no JSON: ${text.slice(0, 200)}`,
      { cause: error },
    );
  }
};
