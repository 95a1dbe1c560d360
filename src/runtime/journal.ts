import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processStart } from '../modules/_shared/commands/run-lock.ts';
import { messageOf } from '../protocol/error.ts';
import { type LowChunk, lowTag } from '../protocol/low.ts';
import { truthy } from './engine/low-tools.ts';
import type { PendingReactions } from './engine/pending.ts';
import { type Debts, type Header, lines, readEnded, stemOf } from './journal-file.ts';

/** The journal of one run. */
export type Journal = PendingReactions & {
  /** The run has ended in order: states that did not begin changed nothing. */
  readonly end: () => void;
};

export type JournalOptions = {
  /** Test mode: nothing is written, and owed reactions stay owed. */
  readonly readOnly: boolean;
  /** The run has all states of its SLS: states that it lacks no longer exist. */
  readonly isWhole: boolean;
  readonly warn: (message: string) => void;
};

let number = 0;

/**
 * Records in the workspace the reactions that a host owes. Before the first state runs, the journal
 * lists the states that others react to; each of them adds a line when it begins and one when it
 * has ended. If a run is killed in between, the next run treats the interrupted state as changed.
 * One fsync per run is enough: a killed process loses no line, and after a power failure every
 * state without a recorded end counts as changed.
 */
export const openJournal = (dir: string, { readOnly, isWhole, warn }: JournalOptions): Journal => {
  const boot = bootId();
  const { paths, debts: owed } = readEnded(dir, boot);
  const path = join(dir, `reactions.${process.pid}.${number++}`);
  const begun = new Set<string>();
  let keyOf = (tag: string): string => tag;
  let places = new Map<string, number>();
  let file: number | undefined;

  const attempt = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (file !== undefined) closeSync(file);
      file = undefined;
      warn(`Pending reactions could not be recorded in ${path}: ${messageOf(error)}`);
    }
  };
  const append = (line: string): void => {
    if (file !== undefined) attempt(() => writeFileSync(file as number, line));
  };
  const place = (key: string): number => places.get(key) ?? -1;

  return {
    plan: (chunks, watchers) => {
      keyOf = keysOf(chunks);
      const reactions = new Map(
        [...watchers].map(([tag, list]) => [keyOf(tag), [...new Set(list.map(keyOf))]]),
      );
      const gone = isWhole ? takeGone(owed, slsOf(chunks), reactions) : [];
      for (const message of gone) warn(message);
      if (readOnly || (reactions.size === 0 && gone.length === 0)) return;
      const { header, numbers } = makeHeader(boot, owed, reactions, watchedSls(chunks, keyOf));
      places = numbers;
      attempt(() => {
        file = create(path, header);
        for (const old of paths) remove(old);
      });
    },
    has: (watcher, changed) =>
      owed.get(keyOf(watcher))?.changed.has(stemOf(keyOf(changed))) === true,
    began: tag => {
      const at = place(keyOf(tag));
      if (at < 0) return;
      begun.add(tag);
      append(lines.began(at));
    },
    changed: (tag, watchers) => {
      begun.delete(tag);
      const key = keyOf(tag);
      for (const watcher of watchers.map(keyOf)) {
        const debt = owed.get(watcher);
        if (debt) debt.changed.add(stemOf(key));
        else owed.set(watcher, { sls: '', changed: new Set([stemOf(key)]) });
      }
      append(
        lines.changed(
          place(key),
          watchers.map(watcher => place(keyOf(watcher))),
        ),
      );
    },
    unchanged: tag => {
      begun.delete(tag);
      const at = place(keyOf(tag));
      if (at >= 0) append(lines.unchanged(at));
    },
    reacted: watcher => {
      const key = keyOf(watcher);
      if (owed.delete(key)) append(lines.reacted(place(key)));
    },
    end: () => {
      if (file === undefined) return;
      const isClear = owed.size === 0 && begun.size === 0;
      if (!isClear) append(lines.ended);
      attempt(() => {
        if (file === undefined) return;
        if (!isClear) fsyncSync(file);
        closeSync(file);
        file = undefined;
        if (isClear) remove(path);
      });
    },
  };
};

/**
 * Returns the keys that name states on the disk. Those of `no_log` states are hashed, since the
 * name may be a secret.
 */
const keysOf = (chunks: readonly LowChunk[]): ((tag: string) => string) => {
  const hidden = new Map(
    chunks
      .filter(low => truthy(low.no_log))
      .map(lowTag)
      .map(tag => [tag, `${hash(stemOf(tag))}_|-${hidingId}_|-${hash(tag)}`]),
  );
  if (hidden.size === 0) return tag => tag;
  return tag => {
    const [, prefix = '', state = ''] = /^(listen:)?(.*)$/s.exec(tag) ?? [];
    return prefix + (hidden.get(state) ?? state);
  };
};

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const hidingId = 'no_log';
const listenPrefix = 'listen:';

const slsOf = (chunks: readonly LowChunk[]): ReadonlySet<string> =>
  new Set(chunks.map(({ __sls__ }) => String(__sls__)));

const watchedSls = (
  chunks: readonly LowChunk[],
  keyOf: (tag: string) => string,
): ReadonlyMap<string, string> =>
  new Map(chunks.map(low => [keyOf(lowTag(low)), String(low.__sls__)]));

/**
 * Removes reactions that can no longer happen: the SLS ran without the state, or without the
 * requisite.
 */
const takeGone = (
  owed: Debts,
  sls: ReadonlySet<string>,
  reactions: ReadonlyMap<string, readonly string[]>,
): readonly string[] => {
  const messages: string[] = [];
  if (owed.size === 0) return messages;
  const reacting = new Set(
    [...reactions].flatMap(([key, list]) => list.map(watcher => `${watcher} ${stemOf(key)}`)),
  );
  for (const [watcher, debt] of owed) {
    if (!sls.has(debt.sls)) continue;
    const gone = [...debt.changed].filter(stem => !reacting.has(`${watcher} ${stem}`));
    for (const key of gone) debt.changed.delete(key);
    if (debt.changed.size === 0) owed.delete(watcher);
    if (gone.length > 0)
      messages.push(
        `An earlier run ended before ${show(watcher)} in SLS ${debt.sls} had reacted to ${gone.map(show).join(', ')}. ` +
          'The SLS has been changed since and no longer asks for it, so it is not made up for.',
      );
  }
  return messages;
};

const show = (key: string): string => {
  const [state = '', id = ''] = key.replace(listenPrefix, '').split('_|-');
  return id === hidingId && /^[0-9a-f]{64}$/.test(state)
    ? 'a state with no_log'
    : `${state}: ${id}`;
};

const makeHeader = (
  boot: string,
  owed: Debts,
  reactions: ReadonlyMap<string, readonly string[]>,
  sls: ReadonlyMap<string, string>,
): { readonly header: Header; readonly numbers: Map<string, number> } => {
  const numbers = new Map<string, number>();
  const states: [string, string][] = [];
  const numberOf = (key: string, file?: string): number => {
    const known = numbers.get(key);
    if (known !== undefined) return known;
    states.push([key, file ?? sls.get(key.replace(listenPrefix, '')) ?? '']);
    numbers.set(key, states.length - 1);
    return states.length - 1;
  };
  const left = [...owed].map(
    ([key, debt]) =>
      [numberOf(key, debt.sls), [...debt.changed].map(state => numberOf(state))] as const,
  );
  const plan = [...reactions].map(
    ([key, list]) => [numberOf(key), list.map(watcher => numberOf(watcher))] as const,
  );
  const begun = processStart(process.pid) ?? '';
  return { header: { pid: process.pid, begun, boot, states, plan, owed: left }, numbers };
};

const create = (path: string, header: Header): number => {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(file, `${JSON.stringify(header)}\n`);
    fsyncSync(file);
    return file;
  } catch (error) {
    closeSync(file);
    remove(path);
    throw error;
  }
};

const remove = (path: string): void => {
  try {
    unlinkSync(path);
  } catch {
    // Another run has taken over the journal.
  }
};

const bootId = (): string => {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
};
