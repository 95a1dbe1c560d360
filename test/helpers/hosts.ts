import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../../src/protocol/host.ts';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  newKey,
  startEmbeddedServer,
} from './embedded-server.ts';
import { removeFolder } from './remove-folder.ts';

/** A scratch directory and its removal. */
export const scratch = (name = 'tsalt'): { path: string; remove: () => void } => {
  const path = mkdtempSync(join(tmpdir(), `${name}-`));
  return { path, remove: () => removeFolder(path) };
};

export const aHost = (given: Partial<Host> = {}): Host => ({
  id: 'web1',
  host: '127.0.0.1',
  user: 'tester',
  port: 22,
  timeout: 60,
  minion_opts: {},
  grains: {},
  ...given,
});

export type TestHost = {
  readonly server: EmbeddedServer;
  readonly host: Host;
  /** Files of the control node's side. */
  readonly dir: string;
  readonly home: string;
  readonly knownHosts: string;
  readonly close: () => Promise<void>;
};

/** An embedded server with one key that may log in, known to its known_hosts. */
export const startTestHost = async (
  given: Partial<EmbeddedServerOptions> = {},
  entry: Partial<Host> = {},
): Promise<TestHost> => {
  const { path: dir, remove } = scratch();
  const key = newKey();
  writeFileSync(join(dir, 'id'), key.private, { mode: 0o600 });
  const home = join(dir, 'home');
  const server = await startEmbeddedServer({ home, keys: [key.public], ...given });
  const knownHosts = join(dir, 'known_hosts');
  writeFileSync(knownHosts, `[127.0.0.1]:${server.port} ${server.hostKey}\n`);
  return {
    server,
    dir,
    home,
    knownHosts,
    host: aHost({ port: server.port, priv: join(dir, 'id'), ...entry }),
    close: async () => {
      await server.close();
      remove();
    },
  };
};
