import type { PillarTop } from '../../compiler/pillar-top.ts';
import { confirm } from '../../compiler/top.ts';
import { isPlainDict, type PlainDict } from '../../protocol/plain.ts';
import type { RootReads } from '../../render/types.ts';
import type { Subject } from '../../targeting/match.ts';
import type { HostCheck } from './check-host.ts';
import type { CheckTrace } from './check-trace.ts';
import { onlyPrintsId } from './printed-id.ts';

/** A host of a profile, before anything of it is rendered. */
export type ProfiledHost = {
  readonly profile: string;
  readonly grains: PlainDict;
  readonly subject: Subject;
};

type Kept = {
  readonly host: ProfiledHost;
  readonly names: ReadonlySet<string>;
  readonly printsId: boolean;
  readonly trace: CheckTrace;
  readonly result: HostCheck;
  /** The targets of the pillar's top file that mean the host, and the SLS that it has. */
  readonly assigned: string;
  /** Another host was rendered, and has the same texts but for its ID. */
  isProven: boolean;
};

/** Results that are kept for one profile. */
const mostKept = 64;

/**
 * Results of hosts whose templates read no grain in which the next host differs. Nothing of that
 * host is rendered; only the targets of its top files are compared. An ID that templates print
 * and never look at may differ: two hosts are rendered then, to see that only the ID is different.
 */
export class AlikeResults {
  readonly #kept = new Map<string, Kept[]>();

  /** The result of a host that is the same for this one. */
  find(host: ProfiledHost): HostCheck | undefined {
    const kept = this.#kept.get(host.profile);
    return kept?.find(one => (!one.printsId || one.isProven) && isSame(one, host))?.result;
  }

  /** Keeps a result, or proves with it that a kept one is that of other hosts too. */
  add(host: ProfiledHost, trace: CheckTrace, result: HostCheck): void {
    const names = namesIn(trace);
    if (!names || !isForOthers(host, trace, result)) return;
    const kept = this.#kept.get(host.profile) ?? [];
    this.#kept.set(host.profile, kept);
    const witnessed = kept.find(one => one.printsId && !one.isProven && isSame(one, host));
    if (witnessed) witnessed.isProven = isSameButId(witnessed, host, trace);
    if (witnessed?.isProven || kept.length >= mostKept) return;
    const printsId = names.has(printed);
    if (printsId && (!isUsualId(host.subject.id) || hasGlobs(result))) return;
    const assigned = assignedTo(host, trace, result);
    kept.push({ host, names, printsId, trace, result, assigned, isProven: false });
  }
}

const isForOthers = (
  { subject }: ProfiledHost,
  { isSingular, pillarTop, states }: CheckTrace,
  { findings, groups }: HostCheck,
): boolean =>
  !isSingular &&
  pillarTop !== undefined &&
  groups.some(chunks => chunks.length > 0) &&
  states.length > 0 &&
  !findings.some(({ rule }) => rule === 'no-states') &&
  subject.id !== '';

const isSame = ({ host, names, printsId, trace, result, assigned }: Kept, other: ProfiledHost) => {
  if (differing(host.grains, other.grains).some(name => names.has(name))) return false;
  if (assignedTo(other, trace, result) !== assigned) return false;
  const { id } = other.subject;
  return !printsId || (isUsualId(id) && !trace.states.some(one => one.rendered.includes(id)));
};

/** Targets of the pillar see no pillar, those of states see that of the kept host. */
const assignedTo = (
  { subject }: ProfiledHost,
  { pillarTop = new Map(), assigned }: CheckTrace,
  { pillar }: HostCheck,
): string =>
  JSON.stringify([
    decisions(pillarTop, subject),
    assigned ? [...assigned({ ...subject, pillar })] : [],
  ]);

/** The names of grains in which two hosts differ. */
const differing = (one: PlainDict, other: PlainDict): string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter(
    name => one[name] !== other[name] && JSON.stringify(one[name]) !== JSON.stringify(other[name]),
  );

const decisions = (top: PillarTop, subject: Subject): string =>
  [...top.values()]
    .flatMap(targets =>
      [...targets].map(([target, items]) => (confirm(target, items, subject) ? '1' : '0')),
    )
    .join('');

/** The ID as a part of what is printed, not a name of a grain. */
const printed = '\0printed';

/**
 * The grains that all templates read, the ID as `printed` if it is only printed; undefined where
 * something else was read that hosts may differ in.
 */
const namesIn = ({ pillarReads, states }: CheckTrace): Set<string> | undefined => {
  const names = new Set<string>();
  const all = [
    ...pillarReads.map(reads => ({ reads, mayPrint: false })),
    ...states.flatMap(({ reads: list, written }) =>
      list.map(reads => ({
        reads,
        mayPrint:
          list.length === 1 && reads !== undefined && onlyPrintsId(written, reads.roots.files),
      })),
    ),
  ];
  const isKnown = all.every(
    ({ reads, mayPrint }) => reads !== undefined && addNames(reads.roots, names, mayPrint),
  );
  return isKnown ? names : undefined;
};

/** @returns false where something was read that is not a name */
const addNames = (
  { grains, opts, isAll, calls }: RootReads,
  names: Set<string>,
  mayPrint: boolean,
): boolean => {
  if (isAll) return false;
  for (const name of grains) names.add(name === 'id' && mayPrint ? printed : name);
  if (opts.has('id')) names.add(mayPrint ? printed : 'id');
  for (const { fun, args, kwargs } of calls) {
    const [first = kwargs.get('key'), second = kwargs.get('grain')] = args;
    const name = grainOf(fun, first, second);
    if (name === undefined) return false;
    if (name !== '') names.add(name === 'id' && mayPrint ? printed : name);
  }
  return true;
};

/** The grain that a call reads; empty where it reads none, undefined where that is not known. */
const grainOf = (fun: string, first: unknown, second: unknown): string | undefined => {
  const [module, name = ''] = fun.split('.');
  if (['defaults', 'salt_version', 'slsutil', 'pillar'].includes(module ?? '')) return '';
  if (fun === 'grains.filter_by') return head(second ?? 'os_family');
  if (fun === 'grains.item' && second !== undefined) return undefined;
  if (module === 'grains' && ['get', 'fetch', 'item', 'equals', 'has_value'].includes(name))
    return head(first);
  if (module === 'config' && ['get', 'option', 'merge'].includes(name)) return head(first);
  return undefined;
};

const head = (value: unknown): string | undefined =>
  typeof value === 'string' ? /^\w+/.exec(value)?.[0] : undefined;

/** An ID that YAML reads as text wherever it is printed. */
const isUsualId = (id: string): boolean =>
  /^[a-z][\w.-]{2,}$/i.test(id) && !/^(?:e\d|yes$|true$|off$|false$|null$|nan$|inf$)/i.test(id);

/** Requisites that name states by a pattern may mean one ID and not the other. */
const hasGlobs = ({ groups }: HostCheck): boolean =>
  groups
    .flat()
    .some(chunk =>
      Object.values(chunk).some(
        value =>
          Array.isArray(value) &&
          value.some(
            item =>
              isPlainDict(item) &&
              Object.values(item).some(one => typeof one === 'string' && /[*?[]/.test(one)),
          ),
      ),
    );

const isSameButId = ({ host, trace }: Kept, other: ProfiledHost, witness: CheckTrace): boolean => {
  const texts = ({ states }: CheckTrace, id: string): string =>
    JSON.stringify(states.map(one => [one.place, one.rendered.replaceAll(id, '\0')]));
  return texts(trace, host.subject.id) === texts(witness, other.subject.id);
};
