import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { closestMatch } from '../data/closest-match.ts';
import { describeValue, keyLocation } from '../data/values/read.ts';
import { type Data, type Dict, isDict } from '../data/values/value.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { Given } from '../request/given.ts';
import { type OptionName, options } from '../request/options.ts';
import { asUsage } from '../request/usage.ts';
import { insteadOf } from './salt-options.ts';

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Adds the options of Salt's Saltfile: the file that `--saltfile` or `SALT_SALTFILE` names, or
 * `./Saltfile`, or `~/.salt/Saltfile`. The command line takes precedence.
 *
 * @throws TsaltError `saltfile-…` with file and line
 */
export const withSaltfile = async (given: Given, cwd: string, env: Env): Promise<Given> => {
  const file = fileOf(given, cwd, env);
  if (file === undefined) return given;
  const { checkTrusted } = await import('../trust/check.ts');
  checkTrusted(file, 'The Saltfile');
  const { loadYaml } = await import('../yaml/load.ts');
  const text = readText(file);
  const found = readSection(await asUsage(() => loadYaml(text, { file })), file);
  if (found === undefined) return given;
  const names = new Set(Object.keys(found).filter(name => !Object.hasOwn(given.options, name)));
  return { ...given, options: { ...found, ...given.options }, saltfile: { file, names } };
};

type SaltfileOptions = Partial<Record<OptionName, string | boolean | readonly string[]>>;

/**
 * The options of a Saltfile; undefined where it has none for this program.
 *
 * @throws TsaltError `saltfile-…`
 */
export const readSection = (data: Data, file: string): SaltfileOptions | undefined => {
  const section = isDict(data) ? (data.get('salt-ssh') ?? data.get('tsalt-ssh') ?? null) : data;
  if (section === null) return undefined;
  if (!isDict(section))
    throw new TsaltError('saltfile-shape', 'A Saltfile is a mapping with options in salt-ssh.', {
      kind: 'usage',
      at: { file, line: 1 },
    });
  const found: SaltfileOptions = {};
  for (const [key, value] of section) {
    const name = nameOf(String(key), section, file);
    const read = readValue(name, String(key), value, section, file);
    if (read !== undefined) found[name] = read;
  }
  return found;
};

const fileOf = ({ options: typed }: Given, cwd: string, env: Env): string | undefined => {
  const named = typeof typed.saltfile === 'string' ? typed.saltfile : env.SALT_SALTFILE;
  if (named !== undefined && named !== '') return resolve(cwd, named);
  return [join(cwd, 'Saltfile'), join(homedir(), '.salt', 'Saltfile')].find(existsSync);
};

const readText = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    const reason = messageOf(cause);
    throw new TsaltError('saltfile-missing', `The Saltfile cannot be read: ${reason}.`, {
      kind: 'usage',
      at: { file },
      cause,
    });
  }
};

/** Names in Salt's parser that differ from our option names. */
const kept: Readonly<Record<string, OptionName>> = {
  config_dir: 'config',
  raw_shell: 'raw',
  refresh_cache: 'refresh',
  ssh_run_pre_flight: 'pre-flight',
  ssh_options: 'ssh-option',
  output: 'out',
  output_indent: 'out-indent',
  output_file: 'out-file',
  output_file_append: 'out-file-append',
  log_level_logfile: 'log-file-level',
  ssh_log_file: 'log-file',
  tgt_list: 'list',
};

/** Salt's names of options that do not follow a rule. */
export const saltfileNames: readonly string[] = Object.keys(kept);

/** Returns the option of a key: `ssh_max_procs`, `max_procs` and `max-procs` are the same one. */
export const saltfileOption = (key: string): string => {
  const plain = key.replaceAll('-', '_');
  const dashed = plain.replace(/^ssh_(?!option|config)/, '').replaceAll('_', '-');
  return (Object.hasOwn(kept, plain) ? kept[plain] : undefined) ?? dashed;
};

const nameOf = (key: string, section: Dict, file: string): OptionName => {
  const name = saltfileOption(key);
  if (name === 'trust-owner')
    throw new TsaltError('saltfile-key', `The Saltfile cannot say whose files are trusted.`, {
      kind: 'usage',
      at: keyLocation(file, section, key),
      hint: 'Use --trust-owner on the command line, or set TSALT_TRUST_OWNER.',
    });
  if (Object.hasOwn(options, name)) return name as OptionName;
  const meant = closestMatch(name, Object.keys(options));
  throw new TsaltError('saltfile-key', `The Saltfile's '${key}' is no option.`, {
    kind: 'usage',
    at: keyLocation(file, section, key),
    hint:
      insteadOf(name) ??
      (meant === undefined
        ? 'tsalt-ssh --help lists the options.'
        : `Did you mean '${meant.replaceAll('-', '_')}'?`),
  });
};

const readValue = (
  name: OptionName,
  key: string,
  value: Data,
  section: Dict,
  file: string,
): string | boolean | readonly string[] | undefined => {
  const { type } = options[name];
  if (value === null || (type === 'boolean' && value === false)) return undefined;
  if (type === 'boolean' ? value === true : typeof value === 'string') return value as string;
  if (type === 'string' && (typeof value === 'number' || typeof value === 'boolean'))
    return value === true ? 'True' : value === false ? 'False' : String(value);
  if (type === 'string' && Array.isArray(value))
    return name === 'ssh-option' ? value.map(String) : value.map(String).join(',');
  throw new TsaltError(
    'saltfile-value',
    `The Saltfile's '${key}' must be ${type === 'boolean' ? 'true or false' : 'text'}, not ${describeValue(value)}.`,
    { kind: 'usage', at: keyLocation(file, section, key) },
  );
};
