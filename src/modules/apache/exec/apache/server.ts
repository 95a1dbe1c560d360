/**
 * Manages Apache: its build and settings, its configuration, and the modules, sites and
 * configurations that Debian's tools enable.
 *
 * @depends apache2ctl or apachectl
 */

import {
  type CommandResult,
  runChecked,
  runCommand,
} from '../../../_shared/commands/run-command.ts';
import { which } from '../../../_shared/commands/which.ts';
import { CommandExecutionError, type PlainDict } from '../../../api.ts';

const program = (): string | undefined => ['apache2ctl', 'apachectl'].find(name => which(name));

export const __virtual__ = (): true | [false, string] =>
  program() !== undefined || [false, 'apache is not installed.'];

const control = async (...words: string[]): Promise<CommandResult> =>
  runCommand([program() ?? 'apachectl', ...words], { plainLocale: true });

const told = async (word: string): Promise<string[]> => {
  const { stdout } = await runChecked([program() ?? 'apachectl', word], { plainLocale: true });
  return stdout.split('\n').filter(line => line.trim() !== '');
};

/**
 * Returns Apache's version.
 *
 * @example tsalt-ssh web1 apache.version
 */
export const version = async (): Promise<string> =>
  /Server version:\s*(.+)/.exec((await told('-v')).join('\n'))?.[1]?.trim() ?? '';

/**
 * Returns the versions Apache was built with, and its compile-time defines in `compiled_with`.
 *
 * @example tsalt-ssh web1 apache.fullversion
 */
export const fullversion = async (): Promise<PlainDict> => {
  const lines = await told('-V');
  const facts = lines.flatMap(line => {
    const [, key, value] = /^\s*(.+?): +(.*)$/.exec(line) ?? [];
    return key === undefined ? [] : [[key.toLowerCase().replaceAll(' ', '_'), value?.trim() ?? '']];
  });
  return {
    compiled_with: lines.flatMap(line => /^\s+-D\s+(.*)$/.exec(line)?.[1] ?? []),
    ...Object.fromEntries(facts),
  };
};

/**
 * Returns the loaded modules: `static` ones, and `shared` ones, which can be disabled.
 *
 * @example tsalt-ssh web1 apache.modules
 */
export const modules = async (): Promise<{ static: string[]; shared: string[] }> => {
  const lines = await told('-M');
  const those = (kind: string): string[] =>
    lines.filter(line => line.includes(`(${kind})`)).map(line => line.trim().split(/\s+/)[0] ?? '');
  return { static: those('static'), shared: those('shared') };
};

/**
 * Returns the source files of the built-in modules.
 *
 * @example tsalt-ssh web1 apache.servermods
 */
export const servermods = async (): Promise<string[]> =>
  (await told('-l')).filter(line => line.includes('.c')).map(line => line.trim());

/**
 * Returns the available directives, with the arguments and contexts of each.
 *
 * @example tsalt-ssh web1 apache.directives
 */
export const directives = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    (await told('-L'))
      .join('\n')
      .replaceAll('\n\t', '\t')
      .split('\n')
      .map(line => {
        const [name = '', ...lines] = line.split('\t');
        return [name, lines.join('\n')];
      }),
  );

/**
 * Returns the virtual hosts by name and address, with the file and line of each. A virtual host
 * without a name is listed under its address, as `default`.
 *
 * @example tsalt-ssh web1 apache.vhosts
 */
export const vhosts = async (): Promise<PlainDict> => {
  const found: { [address: string]: { [name: string]: PlainDict } } = {};
  let address = '';
  const note = (name: string, facts: PlainDict): void => {
    found[address] = { ...found[address], [name]: facts };
  };
  for (const line of await told('-S')) {
    const words = line.trim().split(/\s+/);
    const [first = '', second = '', third = '', fourth = ''] = words;
    const conf = (words.at(-1) ?? '').replace(/^\(|\)$/g, '');
    if (line.includes('is a NameVirtualHost')) {
      address = first;
      found[address] = {};
    } else if (first === 'default') note('default', { vhost: third, conf });
    else if (first === 'port') note(fourth, { vhost: fourth, conf, port: second });
    else if (/^\S+:\S+\s+\S+\s+\(.*:\d+\)$/.test(line)) {
      address = first;
      note('default', { vhost: second, conf });
    }
  }
  return found;
};

const signals = ['start', 'stop', 'restart', 'graceful', 'graceful-stop'];
const questions = ['configtest', 'status', 'fullstatus'];

/**
 * Sends a control command to Apache and returns its output, or null if the signal is unknown.
 *
 * @param signal `start`, `stop`, `restart`, `graceful`, `graceful-stop`, `configtest`, `status` or `fullstatus`
 * @example tsalt-ssh web1 apache.signal graceful
 */
export const signal = async (signal: string | null = null): Promise<string | null> => {
  if (signal === null || ![...signals, ...questions].includes(signal)) return null;
  const words = signals.includes(signal) ? ['-k', signal] : [signal];
  const { stdout, stderr } = await control(...words);
  return (
    stderr.trim() ||
    stdout.trim() ||
    `Command: "${[program(), ...words].join(' ')}" completed successfully!`
  );
};

/**
 * Whether Apache's configuration holds together: what `configtest` says.
 *
 * @example tsalt-ssh web1 apache.configtest
 */
export const configtest = async (): Promise<string> => {
  const { code, stdout, stderr } = await control('configtest');
  if (code !== 0) throw new CommandExecutionError((stderr || stdout).trim());
  return (stderr || stdout).trim().split('\n').at(-1) ?? '';
};
