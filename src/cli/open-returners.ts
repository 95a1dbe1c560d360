import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import type { ControlModule } from '../bundle/control-modules.ts';
import { ownVersion } from '../bundle/package-info.ts';
import { privateDir } from '../bundle/private-dir.ts';
import type { Config } from '../config/config.ts';
import { pathOf } from '../config/load.ts';
import { moduleFolders } from '../config/module-dirs.ts';
import type { Request } from '../config/request.ts';
import { closestMatch } from '../data/closest-match.ts';
import { toData, toPlain } from '../data/values/value.ts';
import { resultData } from '../output/result.ts';
import { oneLine } from '../output/text.ts';
import { TsaltError } from '../protocol/error.ts';
import type { RunEvent } from '../protocol/event.ts';
import { isPlainDict, type Plain, type PlainDict } from '../protocol/plain.ts';
import { bounded } from '../render/ts/bounded.ts';
import type { JobLoad, Returner } from '../returners/returner.ts';
import { Returners } from '../returners/returners.ts';
import type { Opened } from './commands.ts';
import { mayBeSecret } from './rerun-command.ts';

/** The returners of a run. */
export type OpenedReturners = {
  readonly begin: (request: Request) => void;
  readonly emit: (event: RunEvent) => void;
  readonly end: () => Promise<void>;
};

/**
 * Opens the returners of `--return`, or else those of `ext_job_cache`.
 *
 * @returns undefined if there are none
 * @throws TsaltError `usage-return`, `returner`
 */
export const openReturners = async (opened: Opened): Promise<OpenedReturners | undefined> => {
  const { given, config } = opened;
  const names = namesOf(given.options.return ?? config.ext_job_cache);
  if (names.length === 0) return undefined;
  const returners = await Promise.all(names.map(name => returnerOf(name, opened)));
  const all = new Returners(returners, message =>
    process.stderr.write(`[WARNING ] ${oneLine(message)}\n`),
  );
  return {
    begin: request => all.begin(loadOf(request)),
    emit: event => all.follow(event, ({ result }) => resultData(result)),
    end: () => all.end(),
  };
};

const namesOf = (value: unknown): string[] => [
  ...new Set(
    (typeof value === 'string' ? value : '')
      .split(',')
      .map(name => name.trim())
      .filter(name => name !== ''),
  ),
];

const builtIn = ['sqlite', 'webhook', 'otlp'];

const returnerOf = async (name: string, opened: Opened): Promise<Returner> => {
  const { config } = opened;
  const settings = await settingsOf(name, opened);
  if (name === 'sqlite') {
    checkProgramThere('sqlite3');
    const { sqliteReturner } = await import('../returners/sqlite.ts');
    const database = textOf(settings.database, 'sqlite', 'database');
    return sqliteReturner(
      database === undefined
        ? join(privateDir(config.cachedir), 'returns.db')
        : pathOf(config.dir, database),
    );
  }
  if (name === 'webhook') {
    const { webhookReturner } = await import('../returners/webhook.ts');
    return webhookReturner(urlOf(settings.url), headersOf(settings.headers, name));
  }
  if (name === 'otlp') {
    const { otlpReturner } = await import('../returners/otlp.ts');
    const endpoint = textOf(settings.endpoint, 'otlp', 'endpoint');
    return otlpReturner(endpoint, headersOf(settings.headers, name), ownVersion());
  }
  const found = (await ownModulesOf(config)).find(module => module.name === name);
  if (!found) throw unknownReturner(name, await ownModulesOf(config));
  const { userReturner: ownReturner } = await import('../returners/user-returner.ts');
  return ownReturner(found, bounded);
};

const ownModulesOf = async (config: Config): Promise<ControlModule[]> => {
  const { loadControlModules } = await import('../bundle/control-modules.ts');
  return (await loadControlModules(moduleFolders(config))).filter(
    ({ kind }) => kind === 'returners',
  );
};

/** Resolves settings, which may be addresses of stores: `sdb://…`. */
const settingsOf = async (name: string, { config, sdb }: Opened): Promise<PlainDict> => {
  const settings = config.returners[name];
  if (settings === undefined) return {};
  if (!isPlainDict(settings)) throw wrong(`returners: ${name} must be a mapping.`);
  return toPlain(await sdb.resolve(toData(settings), () => true)) as PlainDict;
};

const textOf = (value: Plain | undefined, name: string, key: string): string | undefined => {
  if (value === undefined || typeof value === 'string') return value;
  throw wrong(`returners: ${name}: ${key} must be a text.`);
};

const headersOf = (value: Plain | undefined, name: string): PlainDict => {
  if (value === undefined) return {};
  if (isPlainDict(value)) return value;
  throw wrong(`returners: ${name}: headers must be a mapping.`);
};

const urlOf = (value: Plain | undefined): URL => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined;
  if (url && ['http:', 'https:'].includes(url.protocol)) return url;
  throw wrong('The returner webhook needs a URL.', 'returners: {webhook: {url: https://…}}');
};

const checkProgramThere = (program: string): void => {
  for (const folder of (process.env.PATH ?? '').split(delimiter))
    try {
      accessSync(join(folder, program), constants.X_OK);
      return;
    } catch {
      // The next folder may contain it.
    }
  throw wrong(`The returner sqlite needs the program ${program}.`, `apt install ${program}`);
};

const unknownReturner = (name: string, own: readonly ControlModule[]): TsaltError => {
  const names = [...builtIn, ...own.map(module => module.name)];
  const meant = closestMatch(name, names);
  return wrong(
    `There is no returner '${name}'.`,
    meant === undefined
      ? `The returners are ${names.join(', ')}; _returners/${name}.ts in a file root would be one.`
      : `Did you mean '${meant}'?`,
  );
};

const wrong = (message: string, hint?: string): TsaltError =>
  new TsaltError('usage-return', message, { hint });

/** Returns the arguments as in Salt's jobs, without values that may be secrets. */
const loadOf = ({ options, fun, args, kwargs, target, targetType }: Request): JobLoad => {
  const named: PlainDict = { __kwarg__: true };
  for (const [key, value] of kwargs)
    named[String(key)] = mayBeSecret(`${String(key)}=`) ? '***' : toPlain(value);
  return {
    jid: options.jid,
    fun,
    arg: [...args.map(toPlain), ...(kwargs.size > 0 ? [named] : [])],
    tgt: target,
    tgt_type: targetType,
    user: userInfo().username,
  };
};
