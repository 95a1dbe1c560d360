import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Dict } from '../../src/data/values/value.ts';
import { TsaltError } from '../../src/protocol/error.ts';
import type { Host } from '../../src/protocol/host.ts';
import { mergeRosters, type Roster, type RosterRequest } from '../../src/roster/load.ts';
import { loadYaml } from '../../src/yaml/load.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

/** A folder with these files, gone after the test. */
export const folder = (files: Readonly<Record<string, string>>, mode?: number): string => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-roster-'));
  onTestFinished(() => removeFolder(dir));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text, { mode: mode ?? 0o644 });
  }
  return dir;
};

export const load = (
  sources: readonly { backend: string; source: string }[],
  defaults: Dict = new Map(),
  more: Partial<RosterRequest> = {},
): Promise<Roster> =>
  mergeRosters({
    sources,
    defaults,
    defaultsFile: '/project/tsalt.yaml',
    render: async (text, file) => loadYaml(text.replaceAll('{{ net }}', '10.0.0'), { file }),
    env: {},
    resolve: async data => data,
    ...more,
  });

/** The hosts of one flat roster by id. */
export const flatHosts = async (text: string, defaults?: Dict): Promise<Map<string, Host>> => {
  const dir = folder({ 'roster.yaml': text });
  const { hosts } = await load([{ backend: 'flat', source: join(dir, 'roster.yaml') }], defaults);
  return new Map(hosts.map(({ host }) => [host.id, host]));
};

/** The error of a flat roster: message, line and hint. */
export const flatError = async (
  text: string,
): Promise<{ message: string; line?: number | undefined; hint?: string | undefined }> => {
  const error: unknown = await flatHosts(text).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof TsaltError)) throw new Error('no error', { cause: error });
  const { message, at, hint } = error;
  return { message, line: at?.line, hint };
};
