/**
 * Manages the services that monit watches.
 *
 * @depends monit
 */

import { type CommandResult, runCommand } from '../../_shared/commands/run-command.ts';
import { which } from '../../_shared/commands/which.ts';
import { CommandExecutionError } from '../../api.ts';

export const __virtual__ = (): true | [false, string] =>
  which('monit') !== undefined || [false, 'monit is not installed.'];

const monit = (args: readonly string[], stdin?: string): Promise<CommandResult> =>
  runCommand(['monit', ...args], { plainLocale: true, ...(stdin ? { stdin } : {}) });

const works = async (...args: string[]): Promise<boolean> => (await monit(args)).code === 0;

const order = (action: string, name: string): Promise<boolean> => works(action, '--', name);

/**
 * Starts a service; whether that worked.
 *
 * @param name the service, or `all`
 * @example tsalt-ssh '*' monit.start nginx
 */
export const start = async (name: string): Promise<boolean> => order('start', name);

/**
 * Stops a service; whether that worked.
 *
 * @param name the service, or `all`
 * @example tsalt-ssh '*' monit.stop nginx
 */
export const stop = async (name: string): Promise<boolean> => order('stop', name);

/**
 * Restarts a service; whether that worked.
 *
 * @param name the service, or `all`
 * @example tsalt-ssh '*' monit.restart nginx
 */
export const restart = async (name: string): Promise<boolean> => order('restart', name);

/**
 * Stops watching a service and returns whether that succeeded.
 *
 * @param name the service, or `all`
 * @example tsalt-ssh '*' monit.unmonitor nginx
 */
export const unmonitor = async (name: string): Promise<boolean> => order('unmonitor', name);

/**
 * Starts watching a service and returns whether that succeeded.
 *
 * @param name the service, or `all`
 * @example tsalt-ssh '*' monit.monitor nginx
 */
export const monitor = async (name: string): Promise<boolean> => order('monitor', name);

type Summary = { [kind: string]: { [name: string]: string } };

const oldLine = /^(\S.*?)\s+'(.+)'\s+(.*?)\s*$/;
/** Since version 5.26, a table with name, status and kind. */
const tableLine = /^ (\S.*?)\s{2,}(\S.*?)\s{2,}(\S.*?)\s*$/;

/**
 * Returns the services that monit watches, with their status: `{kind: {name: status}}`.
 *
 * @param svc_name only this one
 * @example tsalt-ssh '*' monit.summary nginx
 */
export const summary = async (
  svc_name = '',
): Promise<Summary | { monit: string; result: false }> => {
  const { stdout, stderr } = await monit(['--batch', 'summary']);
  const lines = `${stdout}\n${stderr}`.split('\n');
  if (lines.some(line => /daemon is not running/.test(line)))
    return { monit: 'daemon is not running', result: false };
  const rows = lines.map(line => oldLine.exec(line)?.slice(1) ?? inTable(line));
  // Values longer than their column are cut off and end in dots.
  const isCut = rows.some(row => row.some(cell => cell.endsWith('...')));
  const found: Summary = {};
  for (const [kind, name, status] of isCut ? await wholeRows() : rows) {
    if (!kind || !name || status === undefined || (svc_name !== '' && svc_name !== name)) continue;
    found[kind] = { ...found[kind], [name]: status };
  }
  return found;
};

/** Returns the same rows from the long report. */
const wholeRows = async (): Promise<string[][]> =>
  Object.entries((await status()) as { [name: string]: Status }).map(([name, facts]) => [
    Object.keys(facts)[0] ?? '',
    name,
    facts.status ?? '',
  ]);

const inTable = (line: string): string[] => {
  const [, name, status, kind] = tableLine.exec(line) ?? [];
  const isHead = name === 'Service Name' && status === 'Status';
  return name && status && kind && !isHead ? [kind, name, status] : [];
};

type Status = { [fact: string]: string };

/**
 * Returns monit's details about the services that it watches, by name.
 *
 * @param svc_name only this one
 * @example tsalt-ssh '*' monit.status nginx
 */
export const status = async (
  svc_name = '',
): Promise<{ [name: string]: Status } | Status | string> => {
  const { stdout } = await monit(['--batch', 'status']);
  const found: { [name: string]: Status } = {};
  let current: Status = {};
  for (const line of stdout.split('\n')) {
    const [, kind, name] = /^(\S.*?)\s+'(.+)'\s*$/.exec(line) ?? [];
    if (kind && name) {
      current = { [kind]: name };
      found[name] = current;
    }
    const [, fact, value] = /^ {2}(\S.*?)(?: {2,}(.*?))?\s*$/.exec(line) ?? [];
    if (fact) current[fact] = value ?? '';
  }
  return svc_name === '' ? found : (found[svc_name] ?? 'No such service');
};

/**
 * Makes monit reread its configuration and returns whether that succeeded.
 *
 * @example tsalt-ssh '*' monit.reload
 */
export const reload_ = async (): Promise<boolean> => works('reload');

export const __func_alias__ = { reload_: 'reload', id_: 'id' };

/**
 * Whether monit's configuration is right: `{result, comment, stdout}`, or `stderr` with what is wrong.
 *
 * @example tsalt-ssh '*' monit.configtest
 */
export const configtest = async (): Promise<{
  result: boolean;
  comment: string;
  stdout?: string;
  stderr?: string;
}> => {
  const { code, stdout, stderr } = await monit(['-t']);
  return code === 0
    ? { comment: 'Syntax OK', stdout: stdout.trimEnd(), result: true }
    : { comment: 'Syntax Error', stderr: stderr.trimEnd(), result: false };
};

/**
 * Returns the version of monit.
 *
 * @example tsalt-ssh '*' monit.version
 */
export const version = async (): Promise<string> =>
  /^This is Monit version (\S+)/m.exec((await monit(['-V'])).stdout)?.[1] ?? '';

/**
 * Returns monit's id for this host; false if it could not be reset.
 *
 * @param reset true: make a new one
 * @example tsalt-ssh '*' monit.id
 */
export const id_ = async (reset = false): Promise<string | false> => {
  const { code, stdout, stderr } = reset ? await monit(['-r'], 'y\n') : await monit(['-i']);
  const found = /Monit id:?\s+([0-9a-f]+)/i.exec(
    reset ? stdout.slice(stdout.indexOf('?')) : stdout,
  );
  if (found?.[1]) return found[1];
  if (reset) return false;
  throw new CommandExecutionError(
    `monit did not report its id (exit status ${code}): ${(stderr || stdout).trim()}`,
  );
};

/**
 * Makes monit check all services now and returns whether all are well.
 *
 * @example tsalt-ssh '*' monit.validate
 */
export const validate = async (): Promise<boolean> => works('validate');
