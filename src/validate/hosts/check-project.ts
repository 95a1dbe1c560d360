import { existsSync } from 'node:fs';
import type { PillarTop } from '../../compiler/pillar-top.ts';
import type { Request } from '../../config/request.ts';
import type { UserModules } from '../../control/facts/user-modules.ts';
import { noTarget } from '../../control/fleet/no-target.ts';
import { shareRequest } from '../../control/fleet/run.ts';
import { pickTargets } from '../../control/fleet/targets.ts';
import { HostAttempt } from '../../control/host/attempt.ts';
import { toDict } from '../../data/values/value.ts';
import type { FileRoots } from '../../fileserver/file-roots.ts';
import type { RunEvent } from '../../protocol/event.ts';
import type { ModuleMeta } from '../../protocol/meta.ts';
import type { TextReads } from '../../render/types.ts';
import type { CheckedHost } from '../../roster/roster.ts';
import { type Finding, Findings, findingOfError } from '../findings.ts';
import { AlikeHosts } from './alike-hosts.ts';
import { AlikeResults, type ProfiledHost } from './alike-results.ts';
import { type CheckedTree, checkHostStates, type HostCheck } from './check-host.ts';
import { CheckTrace } from './check-trace.ts';
import { CompileCache } from './compile-cache.ts';
import { OfflinePeer, type RecordedResult } from './offline-peer.ts';
import { anyHost, type CheckSubject, type GrainsChoice, subjectsOf } from './subjects.ts';

export type ProjectCheck = {
  readonly request: Request;
  /** The roster's entries, with their errors. */
  readonly roster: readonly CheckedHost[];
  /** Undefined: those that the top file assigns. */
  readonly sls: readonly string[] | undefined;
  readonly grains: GrainsChoice;
  readonly answers: readonly RecordedResult[];
  /** Keeps parsed data for the next check. */
  readonly cache?: CompileCache;
  /**
   * Reuses files and rendered texts of the last check. The caller replaces the cache when the
   * configuration or a module changed, and reports saved files by `cache.unchanged.forget`.
   */
  readonly isRepeated?: boolean;
  /** Texts of an editor that are checked instead of the saved files, by absolute path. */
  readonly unsaved?: ReadonlyMap<string, string>;
  /** Called with each host once it is compiled. */
  readonly inspect?: (host: HostCheck, subject: CheckSubject) => readonly Finding[];
};

export type CheckedProject = {
  readonly findings: Findings;
  readonly hosts: number;
  /** Hosts with unknown grains, which were checked as a usual machine or left out. */
  readonly unknown: readonly string[];
};

/**
 * Checks roster, modules, pillar, top files and SLS for all hosts of a target, without any
 * connection to them.
 *
 * @throws TsaltError for what is wrong with the call itself
 */
export const checkProject = async (check: ProjectCheck): Promise<CheckedProject> => {
  const { request, roster, sls, answers, inspect, unsaved, isRepeated = false } = check;
  const { cache = new CompileCache() } = check;
  const before = cache.files;
  if (isRepeated) cache.begin();
  const findings = new Findings();
  for (const { host, fault } of roster)
    if (fault) findings.add(findingOfError('roster', fault), host.id);
  checkRoots(request, findings);
  let trace = new CheckTrace();
  const base = shareRequest(
    request,
    event => {
      trace.isSingular = true;
      noteLog(event, findings);
    },
    { ...(unsaved ? { unsaved } : {}), ...(before ? { before } : {}) },
  );
  if (isRepeated) cache.files = base;
  const artifact = await base.artifact();
  checkModules(artifact.modules, findings);
  const own = await base.ownModules();
  const faulty = new Set(roster.flatMap(({ host, fault }) => (fault ? [host.id] : [])));
  const { hosts: picked, undecided, isTarget } = pickTargets(request);
  const hosts = picked.filter(({ id }) => !faulty.has(id));
  // A tree without a roster can be checked as well.
  if (request.hosts.length === 0 && isEmpty(base.fileRoots)) throw noTarget(request);
  const all = request.hosts.length === 0 ? [anyHost('host')] : hosts;
  if (all.length === 0 && faulty.size === 0) throw noTarget(request);
  const { subjects, unknown } = subjectsOf(all, check.grains, request.config);
  const settings = { sls, isStrict: request.options.strict };
  const answered = JSON.stringify(answers);
  const alike = new AlikeHosts<CheckedTree>();
  const results = new AlikeResults();
  const reads = (one: TextReads | undefined): void => void trace.pillarReads.push(one);
  const pillarTop = (top: PillarTop): void => {
    trace.pillarTop = top;
  };
  // Nothing is written down for one host alone, nor where sources outside see its name.
  const mayShare = subjects.length > 1 && request.config.ext_pillar.length === 0;
  const shared = mayShare || isRepeated ? { ...base, trace: { reads, pillarTop } } : base;
  const report = (checked: HostCheck, subject: CheckSubject): void => {
    for (const finding of checked.findings) findings.add(finding, subject.label);
    for (const finding of inspect?.(checked, subject) ?? []) findings.add(finding, subject.label);
  };
  let count = 0;
  for (const subject of subjects) {
    const { host, grains, label } = subject;
    const profiled =
      mayShare && !undecided.has(host) ? profiledHost(subject, request, own) : undefined;
    const known = profiled && results.find(profiled);
    if (known) {
      count += 1;
      report(known, subject);
      continue;
    }
    trace = new CheckTrace();
    const peer = new OfflinePeer(answers, artifact.modules);
    const attempt = new HostAttempt(shared, host, {
      ask: (_, ask) => ask(),
      grains: async () => undefined,
      refuse: () => undefined,
      ready: async () => undefined,
      restart: async () => ({ took: 0 }),
      guarded: (_, run) => run(),
      beginLast: () => false,
    });
    try {
      attempt.learn(artifact, own);
      attempt.greet(grains, peer);
      if (undecided.has(host) && !(await isTarget(attempt))) continue;
      count += 1;
      const checked = await checkHostStates(
        attempt,
        peer,
        {
          ...settings,
          profile: subject.profile,
          repeated: isRepeated ? JSON.stringify([label, answered]) : undefined,
        },
        { cache, alike, trace },
      );
      report(checked, subject);
      if (profiled) results.add(profiled, trace, checked);
    } catch (error) {
      findings.add(findingOfError('host', error), label);
    } finally {
      attempt.close();
    }
  }
  return { findings, hosts: count, unknown };
};

const profiledHost = (
  { host, grains, profile }: CheckSubject,
  { config: { nodegroups } }: Request,
  { matchers }: UserModules,
): ProfiledHost | undefined =>
  profile === undefined
    ? undefined
    : {
        profile,
        grains,
        subject: { id: host.id, grains: toDict(grains), pillar: new Map(), nodegroups, matchers },
      };

const isEmpty = (fileRoots: FileRoots): boolean =>
  fileRoots.envs().every(saltenv => fileRoots.list(saltenv).length === 0);

/** Modules that cannot be loaded. */
const checkModules = (modules: readonly ModuleMeta[], findings: Findings): void => {
  for (const { kind, file, path, broken } of modules)
    if (broken !== undefined)
      findings.add({
        rule: 'module',
        severity: 'error',
        message: `The ${kind} module '${file}' cannot be loaded: ${broken}`,
        at: { file: path },
      });
};

/** Folders that the configuration names and that do not exist. */
const checkRoots = ({ config }: Request, findings: Findings): void => {
  for (const key of ['file_roots', 'pillar_roots'] as const) {
    if (!config.options.has(key) || config.file === undefined) continue;
    for (const [env, folders] of Object.entries(config[key]))
      for (const folder of folders)
        if (!isDefault(folder, config.dir) && !existsSync(folder))
          findings.add({
            rule: 'config',
            severity: 'warning',
            message: `The folder ${folder} of ${key} '${env}' does not exist.`,
            at: { file: config.file },
          });
  }
};

const isDefault = (folder: string, dir: string): boolean =>
  folder === `${dir}/pillar` || folder === `${dir}/states`;

/** Converts warnings of the run to findings. */
const noteLog = (event: RunEvent, findings: Findings): void => {
  if (event.type !== 'log' || (event.level !== 'warning' && event.level !== 'error')) return;
  const { message, module, host } = event;
  findings.add({ rule: module, severity: 'warning', message }, host);
};
