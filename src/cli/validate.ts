import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from '../config/request.ts';
import { messageOf, showError, TsaltError } from '../protocol/error.ts';
import { readRosters, rosterLocations } from '../request/rosters.ts';
import { targetType } from '../request/target.ts';
import type { Roster } from '../roster/load.ts';
import { Findings, findingOfError } from '../validate/findings.ts';
import { type CheckedProject, checkProject } from '../validate/hosts/check-project.ts';
import { CompileCache } from '../validate/hosts/compile-cache.ts';
import { type GrainsChoice, readRecordedResults } from '../validate/hosts/subjects.ts';
import { Linter } from '../validate/lint/lint.ts';
import { lintRules } from '../validate/lint/rules.ts';
import { type CheckReport, reportFormat } from '../validate/report.ts';
import type { WatchedPaths } from '../validate/watch.ts';
import type { Opened } from './commands.ts';
import { exitCode } from './exit-code.ts';
import { openGiven } from './open-given.ts';
import { printText } from './print-text.ts';
import { versionText } from './version.ts';

/**
 * `validate [TARGET] [SLS …]`: checks roster, modules, pillar, top file and SLS without any host.
 * With `--lint` it also applies the rules of `lint`.
 *
 * @returns 65 if there are errors
 * @throws TsaltError `usage-…`, `no-target`
 */
export const validate = (words: readonly string[], opened: Opened): Promise<number> => {
  const { lint, fix } = opened.given.options;
  if (fix === true && lint !== true)
    throw new TsaltError('usage-value', '--fix belongs to lint.', {
      hint: 'tsalt-ssh lint --fix, or tsalt-ssh validate --lint --fix',
    });
  return check(words, opened, lint === true ? 'validate with lint' : 'validate');
};

/**
 * `lint [TARGET] [SLS …]`: `validate` with rules about states that are probably wrong.
 *
 * @returns 65 if there are errors or warnings
 * @throws TsaltError `usage-…`, `no-target`, `lint-…`
 */
export const lint = (words: readonly string[], opened: Opened): Promise<number> =>
  check(words, opened, 'lint');

type Kind = 'validate' | 'validate with lint' | 'lint';

const check = async (words: readonly string[], opened: Opened, kind: Kind): Promise<number> => {
  const { options } = opened.given;
  const format = reportFormat(textOf(options.out) ?? 'text');
  if (options.watch === true) return watch(words, opened, kind);
  const report = await makeReport(words, opened, kind);
  const grave = kind === 'lint' ? ['error', 'warning'] : ['error'];
  const isFailed = report.findings.some(({ severity }) => grave.includes(severity));
  const code = isFailed ? exitCode.render : exitCode.ok;
  const file = textOf(options['out-file']);
  if (file === undefined) return printText(format(report), code);
  writeReport(file, format(report), options['out-file-append'] === true);
  return code;
};

/** Repeats the check after each change of a file, until interrupted. */
const watch = async (words: readonly string[], given: Opened, kind: Kind): Promise<number> => {
  const { options } = given.given;
  for (const name of ['fix', 'out-file'] as const)
    if (options[name] !== undefined && options[name] !== false)
      throw new TsaltError('usage-value', `--watch and --${name} exclude each other.`);
  const format = reportFormat(textOf(options.out) ?? 'text');
  const { watchProject } = await import('../validate/watch.ts');
  let opened = given;
  let cache = new CompileCache();
  for await (const changed of watchProject(() => watchedPlaces(opened))) {
    const began = performance.now();
    const isNewConfig = changed.includes(configFileOf(opened));
    if (isNewConfig || changed.some(isProgram)) cache = new CompileCache();
    cache.unchanged.forget(changed, Object.values(opened.config.file_roots).flat());
    try {
      if (isNewConfig) opened = await openGiven(opened.given, opened.env);
      const report = await makeReport(words, opened, kind, cache);
      const time = `${Math.round(performance.now() - began)} ms`;
      await printText(format({ ...report, notes: [...report.notes, `Took ${time}. Watching.`] }));
    } catch (error) {
      if (!(error instanceof TsaltError)) throw error;
      await printText(`${showError(error)}\nWatching.\n`);
    }
  }
  return exitCode.ok;
};

/** Modules, and what they may import: all that was compiled may depend on it. */
const isProgram = (path: string): boolean => /\.(?:[cm]?[jt]sx?|json)$|[\\/]_\w+[\\/]/.test(path);

const configFileOf = ({ config }: Opened): string => config.file ?? join(config.dir, 'tsalt.yaml');

const watchedPlaces = (opened: Opened): WatchedPaths => {
  const { file_roots, pillar_roots } = opened.config;
  const { sources } = rosterLocations(opened);
  return {
    folders: [file_roots, pillar_roots].flatMap(roots => Object.values(roots).flat()),
    files: [configFileOf(opened), ...sources],
  };
};

const makeReport = async (
  words: readonly string[],
  opened: Opened,
  kind: Kind,
  cache?: CompileCache,
): Promise<CheckReport> => {
  const { options } = opened.given;
  const grains = grainsOf(options);
  const answers = options.answers === undefined ? [] : readRecordedResults(String(options.answers));
  const { roster, findings: broken } = await rostersToCheck(opened);
  const { target, sls } = wordsOf(words, roster, opened);
  const request = checkRequest(target, roster, opened);
  const pass = async () => {
    const linter = kind === 'validate' ? undefined : new Linter(request.config);
    const checked = await checkProject({
      request,
      roster: roster.hosts,
      sls,
      grains,
      answers,
      ...(cache ? { cache, isRepeated: true } : {}),
      ...(linter
        ? {
            inspect: ({ groups, modules }) =>
              groups.flatMap(chunks => linter.states(chunks, modules)),
          }
        : {}),
    });
    for (const finding of linter?.project() ?? []) checked.findings.add(finding);
    return { checked, linter };
  };
  const first = await pass();
  const fixed = options.fix === true ? (first.linter?.fix() ?? 0) : 0;
  const { checked } = fixed > 0 ? await pass() : first;
  return {
    command: kind === 'lint' ? 'lint' : 'validate',
    findings: [...broken.all(), ...checked.findings.all()],
    hosts: checked.hosts,
    notes: [
      ...(fixed > 0 ? [`Corrected ${fixed} ${fixed === 1 ? 'line' : 'lines'}.`] : []),
      ...notesOf(checked, grains),
    ],
    version: versionText().trim().replace(/^.* /, ''),
    rules: Object.fromEntries([...lintRules].map(([id, { why }]) => [id, why])),
  };
};

const writeReport = (file: string, text: string, isAppended: boolean): void => {
  try {
    writeFileSync(file, text, { mode: 0o600, flag: isAppended ? 'a' : 'w' });
  } catch (cause) {
    throw new TsaltError('usage-value', `--out-file: ${messageOf(cause)}.`, { cause });
  }
};

type Options = Opened['given']['options'];

const grainsOf = (options: Options): GrainsChoice => {
  const given = (['grains', 'grains-from', 'cached'] as const).filter(
    name => options[name] !== undefined && options[name] !== false,
  );
  if (given.length > 1)
    throw new TsaltError(
      'usage-value',
      `${given.map(name => `--${name}`).join(' and ')} exclude each other.`,
    );
  const names = textOf(options.grains)
    ?.split(',')
    .map(name => name.trim())
    .filter(name => name !== '');
  if (names) return { kind: 'profiles', names };
  const path = textOf(options['grains-from']);
  if (path !== undefined) return { kind: 'file', path };
  return { kind: options.cached === true ? 'cached' : 'any' };
};

/** Reads the rosters. An error in a roster is a finding; the SLS are checked nevertheless. */
export const rostersToCheck = async (
  opened: Opened,
): Promise<{ roster: Roster; findings: Findings }> => {
  const findings = new Findings();
  try {
    return { roster: await readRosters(opened, { keepFaults: true }), findings };
  } catch (error) {
    findings.add(findingOfError('roster', error));
    return { roster: { hosts: [], groups: {} }, findings };
  }
};

type Words = { readonly target: string; readonly sls: readonly string[] | undefined };

/** Splits target and SLS: the first argument is the target, unless it is an SLS and not a host. */
const wordsOf = (words: readonly string[], { hosts }: Roster, { given, config }: Opened): Words => {
  const [first, ...rest] = words;
  if (first === undefined) return { target: '*', sls: undefined };
  const names = (list: readonly string[]): string[] =>
    list.flatMap(word => word.split(',')).filter(word => word !== '');
  const isPlain = targetType(given.options) === 'glob' && /^[\w.,-]+$/.test(first);
  const isHost = hosts.some(({ host }) => host.id === first);
  if (
    isPlain &&
    !isHost &&
    (hosts.length === 0 || names([first]).every(name => isSls(name, config)))
  )
    return { target: '*', sls: names(words) };
  return { target: first, sls: rest.length > 0 ? names(rest) : undefined };
};

const isSls = (name: string, { file_roots }: Opened['config']): boolean => {
  const path = name.replaceAll('.', '/');
  return Object.values(file_roots)
    .flat()
    .some(
      root => existsSync(join(root, `${path}.sls`)) || existsSync(join(root, path, 'init.sls')),
    );
};

/** Makes the request of a check, without connections or prompts. */
export const checkRequest = (target: string, roster: Roster, opened: Opened): Request => {
  const { given, sdb } = opened;
  const config = {
    ...opened.config,
    nodegroups: { ...roster.groups, ...opened.config.nodegroups },
  };
  return {
    target,
    targetType: targetType(given.options),
    delimiter: textOf(given.options.delimiter) ?? ':',
    fun: 'state.apply',
    args: [],
    kwargs: new Map(),
    config,
    sdb,
    env: opened.env,
    hosts: roster.hosts.map(({ host }) => host),
    rosters: rosterLocations(opened),
    prepareHost: async host => host,
    ask: async () => {
      throw new TsaltError('no-terminal', 'A check does not ask for passwords.');
    },
    options: {
      maxProcs: 1,
      failhard: false,
      strict: given.options.strict === true || config.strict,
      dryRun: true,
      test: true,
      static: true,
      wipe: false,
      randomThinDir: false,
      regen: false,
      preFlight: false,
      keyDeploy: false,
      noSshConfig: true,
      acceptNewHostKeys: false,
      ignoreHostKeys: false,
      jid: '00000000000000000000',
    },
  };
};

const notesOf = ({ unknown }: CheckedProject, { kind }: GrainsChoice): string[] => {
  if (unknown.length === 0) return [];
  const who =
    unknown.length > 3
      ? `${unknown.slice(0, 3).join(', ')} and ${unknown.length - 3} more`
      : unknown.join(', ');
  return kind === 'any'
    ? [`No grains of ${who} are known: checked as debian-12. --grains chooses other systems.`]
    : [`Not checked, since no grains are known: ${who}.`];
};

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
