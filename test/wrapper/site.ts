import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadConfig } from '../../src/config/load.ts';
import type { Request } from '../../src/config/request.ts';
import { HostAttempt } from '../../src/control/host/attempt.ts';
import { type Data, toData, toDict, toPlain } from '../../src/data/values/value.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import type { Host } from '../../src/protocol/host.ts';
import type { Peer } from '../../src/protocol/peer.ts';
import type { Plain, PlainDict } from '../../src/protocol/plain.ts';
import { openSdb, resolveConfig } from '../../src/request/open-sdb.ts';
import { removeFolder } from '../helpers/remove-folder.ts';

/** One host's side on the control node, over files of its own and without any connection. */
export const makeSite = async (
  files: Readonly<Record<string, string>>,
  {
    grains = {},
    kwargs = {},
    env = {},
    peer = {},
  }: {
    grains?: PlainDict;
    kwargs?: PlainDict;
    env?: Record<string, string>;
    /** Answers for the host; its restart takes no time. */
    peer?: Partial<Peer>;
  } = {},
) => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-site-'));
  const write = (texts: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
  };
  write({ 'tsalt.yaml': '', 'states/.keep': '', 'pillar/.keep': '', ...files });
  const written = loadConfig({ cwd: dir, env: {} });
  const sdb = openSdb(written, env);
  const config = await resolveConfig(written, sdb);
  const request = { config, sdb, kwargs: toDict(kwargs), options: {} } as Request;
  const site = new HostAttempt(
    {
      request,
      artifact: async () => ({ modules: [] }) as never,
      grainsProgram: async () => undefined as never,
      fileRoots: new FileRoots(config.file_roots),
      pillarRoots: new FileRoots(config.pillar_roots),
      ownModules: async () => [] as never,
      emit: () => undefined,
      nodeSource: undefined as never,
    },
    { id: 'web1', grains: {}, minion_opts: {} } as unknown as Host,
    {
      ask: (_, ask) => ask(),
      grains: async () => undefined,
      refuse: () => undefined,
      ready: () => Promise.resolve(),
      restart: () => Promise.resolve({ took: 0 }),
      guarded: (_, run) => run(),
      beginLast: () => false,
    },
  );
  site.greet({ os: 'Debian', ...grains }, peer as Peer);
  return {
    dir,
    write,
    site,
    /** Calls a function as a template does. */
    call: async (fun: string, args: readonly Plain[] = [], named: PlainDict = {}) =>
      toPlain((await site.calls.call(fun, args.map(toData), toDict(named))) as Data),
    close: () => removeFolder(dir),
  };
};
