import { appendFileSync, closeSync, constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dumpYaml } from '../data/formats/yaml-dump.ts';
import { messageOf, TsaltError } from '../protocol/error.ts';
import type { Host } from '../protocol/host.ts';
import { type Invocation, readRosters, rosterFileOf } from '../request/rosters.ts';
import { checkTrusted } from '../trust/check.ts';

/**
 * `--update-roster`: appends the hosts of a run that no roster contains to the flat roster.
 * Passwords are never written.
 *
 * @param met the ids of hosts that answered
 *
 * @throws TsaltError `roster-update` if there is no flat roster or it cannot be written
 */
export const updateRoster = async (
  invocation: Omit<Invocation, 'ask'>,
  hosts: readonly Host[],
  met: ReadonlySet<string>,
): Promise<void> => {
  const known = new Set((await readRosters(invocation)).hosts.map(({ host }) => host.id));
  const added = hosts.filter(({ id }) => met.has(id) && !known.has(id));
  if (added.length === 0) return;
  const file = rosterFileOf(invocation) ?? join(invocation.config.dir, 'roster.yaml');
  append(file, added.map(entryText).join(''));
};

const entryText = ({ id, host, user, port }: Host): string =>
  dumpYaml(
    new Map([
      [
        id,
        new Map<string, string | number>([
          ['host', host],
          ['user', user],
          ...(port === 22 ? [] : ([['port', port]] as const)),
        ]),
      ],
    ]),
    { defaultFlowStyle: false },
  );

/** Appends with one write, after completing the last line. */
const append = (file: string, text: string): void => {
  const { O_RDWR, O_APPEND, O_CREAT } = constants;
  checkTrusted(file, 'The roster');
  try {
    const handle = openSync(file, O_RDWR | O_APPEND | O_CREAT, 0o600);
    try {
      const before = readFileSync(handle, 'utf8');
      appendFileSync(handle, before === '' || before.endsWith('\n') ? text : `\n${text}`);
    } finally {
      closeSync(handle);
    }
  } catch (cause) {
    const reason = messageOf(cause);
    throw new TsaltError('roster-update', `The roster cannot be written: ${reason}.`, {
      kind: 'usage',
      at: { file },
      cause,
    });
  }
};
