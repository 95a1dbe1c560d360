/** Programs that run under supervisor. */

import { which } from '../../_shared/commands/which.ts';
import { salt } from '../../_shared/states/call.ts';
import { failOnError } from '../../_shared/states/fail-on-error.ts';
import { changed, failed, inPlan, unchanged, would } from '../../_shared/states/returns.ts';
import { isPathToCome } from '../../_shared/states/to-come.ts';
import { __opts__, type StateReturn } from '../../api.ts';

type Where = {
  /** the account to run supervisorctl as */
  user?: string | null;
  /** supervisor's configuration */
  conf_file?: string | null;
  /** the path of supervisorctl, or of the virtual environment that holds it */
  bin_env?: string | null;
};
type Status = { readonly [program: string]: { readonly state: string } };

/** The programs that a name means: itself, or those of `GROUP:`. */
const named = (all: Status, name: string): string[] =>
  Object.keys(all).filter(program =>
    name.endsWith(':') ? program.startsWith(name) : program === name,
  );

const isUp = ({ state }: { state: string } | undefined = { state: '' }): boolean =>
  state === 'RUNNING' || state === 'STARTING';

/** Errors of supervisor when the program already is in the desired state. */
const harmless = /already started|not running|process group already active/;

const complaint = (said: string): string | undefined =>
  said
    .split('\n')
    .filter(line => line.includes('ERROR') && !harmless.test(line))
    .join('\n') || undefined;

/** In a prediction an earlier state may be about to install supervisor. */
const isToCome = ({ bin_env }: Where): boolean =>
  bin_env ? isPathToCome(bin_env) : __opts__.test && which('supervisorctl') === undefined;

type RunningOptions = Where & { restart?: boolean; update?: boolean };

/**
 * A program, or all of a group (`GROUP:`), runs. One that supervisor does not know yet is taken on.
 *
 * @param name the program, as supervisor's configuration has it
 * @param restart true: restart it when it runs
 * @param update true: have supervisor read its configuration, and act on all that differs
 * @unknown ignored
 * @example
 * web:
 *   supervisord.running:
 *     - watch:
 *       - file: /etc/supervisor/conf.d/web.conf
 */
export const running = async (name: string, options: RunningOptions = {}): Promise<StateReturn> =>
  failOnError(name, () => run(name, options));

const run = async (
  given: string,
  { restart = false, update = false, ...where }: RunningOptions,
): Promise<StateReturn> => {
  const name = given.replace(/:\*$/, ':');
  const kind = name.endsWith(':') ? 'group' : 'service';
  let all: Status = isToCome(where) ? {} : await salt('supervisord.status')(null, where);
  let programs = named(all, name);
  const down = programs.filter(program => !isUp(all[program]));
  if (__opts__.test) return predict(name, programs, down, restart);

  const done: string[] = [];
  const ask = async (what: string, fun: string, ...args: unknown[]): Promise<string> => {
    const said: string = await salt(`supervisord.${fun}`)(...args);
    const wrong = complaint(said);
    if (wrong !== undefined) throw new Failure(wrong);
    if (what !== '') done.push(what);
    return said;
  };
  try {
    let isFresh = false;
    if (update) {
      const said = await ask('', 'update', where);
      if (said !== '') done.push('Updating supervisor');
      const group = name.split(':')[0] ?? '';
      isFresh = said
        .split('\n')
        .some(line => /: (?:updated|added)\b/.test(line) && line.startsWith(`${group}:`));
    } else if (programs.length === 0) {
      await ask('', 'reread', where);
      await ask(`Adding service: ${name}`, 'add', name, where);
      isFresh = true;
    }
    if (isFresh || update) {
      all = await salt('supervisord.status')(null, where);
      programs = named(all, name);
    }
    const areUp = programs.length > 0 && programs.every(program => isUp(all[program]));
    if (!areUp) await ask(`Starting: ${name}`, 'start', name, where);
    else if (restart && !isFresh) await ask(`Restarting ${kind}: ${name}`, 'restart', name, where);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return failed(given, error.message, done.length > 0 ? { [name]: done.join(' ') } : {});
  }
  return done.length > 0
    ? changed(given, done.at(-1) ?? '', { [name]: done.join(' ') })
    : unchanged(given, `Not starting already running ${kind}: ${name}`);
};

class Failure extends Error {}

const predict = (
  name: string,
  programs: readonly string[],
  down: readonly string[],
  restart: boolean,
): StateReturn => {
  const isGroup = name.endsWith(':');
  const what = isGroup ? `Group '${name}'` : `Service ${name}`;
  if (programs.length === 0)
    return would(
      name,
      `${what} will be added and started`,
      inPlan({ [name]: 'added and started' }),
    );
  if (down.length === programs.length)
    return would(
      name,
      isGroup ? `All services in group '${name}' will be started` : `${what} will be started`,
      inPlan({ [name]: 'started' }),
    );
  if (down.length > 0)
    return would(
      name,
      `The following services will be started: ${down.join(' ')}`,
      inPlan({ [name]: `started ${down.join(' ')}` }),
    );
  if (restart) return would(name, `${what} will be restarted`, inPlan({ [name]: 'restarted' }));
  return unchanged(
    name,
    isGroup ? `All services in group '${name}' are already running` : `${what} is already running`,
  );
};

/**
 * A program, or all of a group (`GROUP:`), does not run.
 *
 * @param name the program, as supervisor's configuration has it
 * @unknown ignored
 * @example
 * web:
 *   supervisord.dead
 */
export const dead = async (name: string, where: Where = {}): Promise<StateReturn> =>
  failOnError(name, async () => {
    const wanted = name.replace(/:\*$/, ':');
    const all: Status = isToCome(where) ? {} : await salt('supervisord.status')(null, where);
    const programs = named(all, wanted);
    if (programs.length === 0) return unchanged(name, `Service ${wanted} doesn't exist`);
    if (!programs.some(program => isUp(all[program])))
      return unchanged(name, `Service ${wanted} is not running`);
    if (__opts__.test)
      return would(
        name,
        `Service ${wanted} is set to be stopped`,
        inPlan({ [wanted]: `Stopping service: ${wanted}` }),
      );
    const wrong = complaint(await salt('supervisord.stop')(wanted, where));
    if (wrong !== undefined) return failed(name, wrong);
    return changed(name, `Stopping service: ${wanted}`, {
      [wanted]: `Stopping service: ${wanted}`,
    });
  });

/** Called by the engine when something that a program watches has changed. */
export const mod_watch = async (
  name: string,
  {
    sfun = 'running',
    restart = true,
    update = false,
    user = null,
    conf_file = null,
    bin_env = null,
  }: RunningOptions & { sfun?: string; [other: string]: unknown } = {},
): Promise<StateReturn> => {
  const where = { user, conf_file, bin_env };
  return sfun === 'dead' ? dead(name, where) : running(name, { restart, update, ...where });
};
