import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CliResult, tsalt } from './cli.ts';
import { keepCode, takeCode } from './code-cache.ts';
import {
  type EmbeddedServer,
  type EmbeddedServerOptions,
  newKey,
  startEmbeddedServer,
} from './embedded-server.ts';
import { removeFolder } from './remove-folder.ts';

/** A project folder with embedded hosts, as a user would have it. */
export type Project = {
  readonly dir: string;
  readonly key: string;
  readonly hosts: Readonly<Record<string, ProjectHost>>;
  readonly write: (files: Readonly<Record<string, string>>) => void;
  readonly roster: (text: string) => void;
  readonly run: (...args: string[]) => Promise<CliResult>;
  readonly runWith: (
    options: {
      env?: Record<string, string>;
      input?: string;
      onStdout?: (text: string) => void;
      terminal?: boolean;
      signal?: AbortSignal;
    },
    ...args: string[]
  ) => Promise<CliResult>;
  readonly close: () => Promise<void>;
};

export type ProjectHost = {
  readonly server: EmbeddedServer;
  /** The host's HOME: states of tests stay below it. */
  readonly root: string;
  /** Its roster entry, indented. */
  readonly entry: string;
};

type Options = {
  readonly hosts?: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly server?: Partial<EmbeddedServerOptions>;
};

/** Starts hosts and writes `tsalt.yaml`, `roster.yaml` and the given files. */
export const startProject = async ({
  hosts = ['web1'],
  files = {},
  server = {},
}: Options = {}): Promise<Project> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-project-'));
  const login = newKey();
  const key = join(dir, 'id');
  writeFileSync(key, login.private, { mode: 0o600 });
  const started: Record<string, ProjectHost> = {};
  for (const id of hosts) {
    const root = join(dir, 'hosts', id);
    mkdirSync(root, { recursive: true, mode: 0o700 });
    const one = await startEmbeddedServer({ home: root, keys: [login.public], ...server });
    const entry = `${id}:\n  host: 127.0.0.1\n  port: ${one.port}\n  user: tester\n  priv: ${key}\n  grains: {root: ${root}}\n`;
    started[id] = { server: one, root, entry };
  }
  const write = (texts: Readonly<Record<string, string>>): void => {
    for (const [path, text] of Object.entries(texts)) {
      mkdirSync(dirname(join(dir, path)), { recursive: true });
      writeFileSync(join(dir, path), text);
    }
  };
  const known = Object.values(started).map(
    host => `[127.0.0.1]:${host.server.port} ${host.server.hostKey}\n`,
  );
  write({
    known_hosts: known.join(''),
    'tsalt.yaml': 'known_hosts_file: known_hosts\ncachedir: cache\n',
    'roster.yaml': Object.values(started)
      .map(({ entry }) => entry)
      .join(''),
    ...files,
  });
  const env = {
    HOME: join(dir, 'home'),
    XDG_CACHE_HOME: join(dir, 'home/.cache'),
    SSH_AUTH_SOCK: '',
    NO_COLOR: '1',
  };
  mkdirSync(env.HOME, { mode: 0o700 });
  takeCode(env.XDG_CACHE_HOME);
  return {
    dir,
    key,
    hosts: started,
    write,
    roster: text => write({ 'roster.yaml': text }),
    run: (...args) => tsalt(args, { cwd: dir, env }),
    runWith: (options, ...args) =>
      tsalt(args, { cwd: dir, ...options, env: { ...env, ...options.env } }),
    close: async () => {
      await Promise.all(Object.values(started).map(host => host.server.close()));
      keepCode(env.XDG_CACHE_HOME);
      removeFolder(dir);
    },
  };
};
