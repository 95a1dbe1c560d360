import { readFile } from 'node:fs/promises';
import { describeValue, keyLocation } from '../../data/values/read.ts';
import { type Data, isDict } from '../../data/values/value.ts';
import { messageOf, TsaltError } from '../../protocol/error.ts';
import { checkTrusted } from '../../trust/check.ts';
import { loadYaml } from '../../yaml/load.ts';
import type { RosterRequest } from '../load.ts';
import { expandEntry } from '../range.ts';
import type { BackendHosts, Entry } from '../roster.ts';

/** Salt's `flat`: a file of `id: {host, user, …}` or `id: host`, rendered when it is a template. */
export const flat = async (
  file: string,
  { render }: Pick<RosterRequest, 'render'>,
): Promise<BackendHosts> => {
  const text = await readRosterFile(file);
  return { entries: entriesOf(await parseFlatRoster(text, file, render), file) };
};

/** Whether a text needs a renderer: it has a shebang, or a tag of Liquid or Jinja. */
export const isTemplate = (text: string): boolean => text.startsWith('#!') || /\{[{%#]/.test(text);

export const parseFlatRoster = (
  text: string,
  file: string,
  render: RosterRequest['render'],
): Promise<Data> | Data => (isTemplate(text) ? render(text, file) : loadYaml(text, { file }));

/** Reads a roster's text. Throws `roster-missing`, `roster-unreadable` or `untrusted`. */
export const readRosterFile = async (file: string): Promise<string> => {
  checkTrusted(file, 'The roster');
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const missing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const reason = messageOf(cause);
    throw missing
      ? new TsaltError('roster-missing', `There is no roster ${file}.`, { cause })
      : new TsaltError('roster-unreadable', `The roster ${file} cannot be read: ${reason}.`, {
          cause,
        });
  }
};

export const entriesOf = (data: Data, file: string): Entry[] => {
  if (data === null) return [];
  if (!isDict(data))
    throw new TsaltError(
      'roster-shape',
      `The roster must be a mapping of ids to hosts, not ${describeValue(data)}.`,
      { at: { file, line: 1 } },
    );
  return [...data].flatMap(([id, value]) => {
    const at = keyLocation(file, data, id);
    return expandEntry(String(id), value, at).map(one => ({ ...one, file, at }));
  });
};
