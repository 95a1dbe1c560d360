import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Request } from '../config/request.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { Roster } from '../roster/load.ts';
import { Findings, findingOfError } from '../validate/findings.ts';
import { type CheckedProject, checkProject } from '../validate/hosts/check-project.ts';
import { type GrainsChoice, readAnswers } from '../validate/hosts/subjects.ts';
import { type CheckReport, reportFormat } from '../validate/report.ts';
import type { Opened } from './commands.ts';
import { exitCode } from './exit-code.ts';
import { printText } from './print-text.ts';
import { readRosters, rosterPlaces } from './rosters.ts';
import { targetType } from './target.ts';
import { versionText } from './version.ts';

/**
 * `validate [TARGET] [SLS …]`: checks roster, modules, pillar, top file and SLS without any host.
 *
 * @returns 65 if there are errors
 * @throws TsaltError `usage-…`, `no-target`
 */
export const validate = async (words: readonly string[], opened: Opened): Promise<number> => {
  const { options } = opened.given;
  const format = reportFormat(textOf(options.out) ?? 'text');
  const grains = grainsOf(options);
  const answers = options.answers === undefined ? [] : readAnswers(String(options.answers));
  const { roster, findings: broken } = await rosterOf(opened);
  const { target, sls } = wordsOf(words, roster, opened);
  const request = requestOf(target, roster, opened);
  const checked = await checkProject({ request, roster: roster.hosts, sls, grains, answers });
  const findings = [...broken.all(), ...checked.findings.all()];
  const report: CheckReport = {
    command: 'validate',
    findings,
    hosts: checked.hosts,
    notes: notesOf(checked, grains),
    version: versionText().trim().replace(/^.* /, ''),
    rules: {},
  };
  const isFailed = findings.some(({ severity }) => severity === 'error');
  const code = isFailed ? exitCode.render : exitCode.ok;
  const file = textOf(options['out-file']);
  if (file === undefined) return printText(format(report), code);
  writeReport(file, format(report), options['out-file-append'] === true);
  return code;
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

/** Reads the rosters. An error of a whole roster is a finding, and the SLS are checked nevertheless. */
const rosterOf = async (opened: Opened): Promise<{ roster: Roster; findings: Findings }> => {
  const findings = new Findings();
  try {
    return { roster: await readRosters(opened, { keepFaults: true }), findings };
  } catch (error) {
    findings.add(findingOfError('roster', error));
    return { roster: { hosts: [], groups: {} }, findings };
  }
};

type Words = { readonly target: string; readonly sls: readonly string[] | undefined };

/** The first word is the target; a word that is an SLS and not a host is one for all hosts. */
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

const requestOf = (target: string, roster: Roster, opened: Opened): Request => {
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
    rosters: rosterPlaces(opened),
    prepareHost: async host => host,
    ask: async () => {
      throw new TsaltError('no-terminal', 'A check asks for no password.');
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
