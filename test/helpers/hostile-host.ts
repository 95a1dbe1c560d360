import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type EmbeddedServer, startEmbeddedServer } from './embedded-server.ts';
import { type Project, startProject } from './project.ts';

const program = fileURLToPath(new URL('../fixtures/hostile-host.mjs', import.meta.url));

/** The control node's response to a request of the hostile host. */
export type HostileAnswer = {
  readonly value?: unknown;
  /** The bytes of a transfer, as text. */
  readonly content?: string;
  readonly error?: { readonly code: string; readonly message: string };
};

/** The environment of a script, once for each request (`call`, `run` …) of the control node. */
export type HostileHost = {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: scripts take requests apart as an attacker would.
  readonly params: any;
  /** The id of the request. */
  readonly id: number;
  /** The parameters that the test passed as `with`. */
  // biome-ignore lint/suspicious/noExplicitAny: chosen by each test for its own script.
  readonly given: any;
  /** Sends a request to control. Resolves for a refusal too. */
  readonly ask: (method: string, params: unknown) => Promise<HostileAnswer>;
  /** Sends an event to control. */
  readonly event: (name: string, payload: unknown) => void;
  /** Answers the request; without it `run` gets `{ retcode: 0 }` and `call` the value true. */
  readonly reply: (value: unknown) => void;
  /** Answers the request by an error. */
  readonly fail: (error: { code: string; message: string; kind: string }) => void;
  /** Sends bytes as they are. */
  readonly raw: (bytes: Uint8Array) => void;
  /** A frame, by default with its true length in front. */
  readonly frame: (type: number, body: Uint8Array, length?: number) => Uint8Array;
  /** Sends a text as a message, in parts where it is long. */
  readonly text: (body: Uint8Array) => void;
  /** Sends any value as a JSON message. */
  readonly message: (value: unknown) => void;
  /**
   * How an honest host refers to a template of the job, in saltenv base: by the hash of its
   * state's name, source ('' for contents), engine and variables, whose keys are in order.
   */
  readonly renderKey: (state: string, source: string, template: string, context?: object) => string;
  /** Reports to the test, which reads it from `told()`. */
  readonly tell: (value: unknown) => void;
};

/**
 * Runs in the process of the hostile host: it may use its argument and Node's globals
 * (`process.getBuiltinModule`), nothing from the test around it.
 */
export type HostileScript = (host: HostileHost) => Promise<void> | void;

export type HostileOptions = {
  /** Files of the project, as for `startProject`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Grains that the hostile host reports. */
  readonly grains?: object;
  readonly script?: HostileScript;
  /** JSON for the script. */
  readonly given?: unknown;
  /** Lines of tsalt.yaml. */
  readonly yaml?: string;
  /** Ids of the honest hosts beside it. Default `web1`. */
  readonly honest?: readonly string[];
  /** Further lines of the hostile host's roster entry, indented by two blanks. */
  readonly entry?: string;
};

export type HostileProject = {
  readonly project: Project;
  readonly server: EmbeddedServer;
  /** Runs the built command line in the project. */
  readonly run: Project['run'];
  readonly runWith: Project['runWith'];
  /** Replaces the script, its `given` and the grains for the runs that follow. */
  readonly attack: (attack: Pick<HostileOptions, 'script' | 'given' | 'grains'>) => void;
  /** The reports of the script since the last `take`. */
  // biome-ignore lint/suspicious/noExplicitAny: whatever the test's own script reported.
  readonly told: () => any[];
  readonly close: () => Promise<void>;
};

const idle: HostileScript = () => undefined;

/**
 * Starts a project with honest hosts and one compromised host `bad`, which speaks the wire
 * itself: it greets with the given grains and then does what the script says.
 */
export const startHostileProject = async ({
  files = {},
  yaml = '',
  honest = ['web1'],
  entry = '',
  ...first
}: HostileOptions = {}): Promise<HostileProject> => {
  const project = await startProject({ files, hosts: honest });
  const dir = join(project.dir, 'hostile');
  mkdirSync(join(dir, 'home'), { recursive: true });
  const [settings, log, shell] = ['settings.json', 'log', 'shell'].map(name => join(dir, name)) as [
    string,
    string,
    string,
  ];
  let attacks = 0;
  const attack: HostileProject['attack'] = ({ script = idle, given = null, grains = {} }) => {
    attacks += 1;
    const module = join(dir, `attack-${attacks}.mjs`);
    writeFileSync(module, `export default ${String(script)};\n`);
    writeFileSync(log, '');
    const all = { os: 'Debian', ...grains };
    writeFileSync(settings, JSON.stringify({ attack: module, grains: all, log, given }));
  };
  attack(first);
  writeFileSync(shell, `#!/bin/sh\nexec '${process.execPath}' '${program}' '${settings}'\n`, {
    mode: 0o755,
  });
  const server = await startEmbeddedServer({ home: join(dir, 'home'), password: 'x', shell });
  const known = [...Object.values(project.hosts).map(host => host.server), server];
  project.write({
    known_hosts: known.map(one => `[127.0.0.1]:${one.port} ${one.hostKey}\n`).join(''),
    'tsalt.yaml': `known_hosts_file: known_hosts\ncachedir: cache\n${yaml}`,
  });
  const entries = Object.values(project.hosts).map(host => host.entry);
  project.roster(
    `${entries.join('')}bad:\n  host: 127.0.0.1\n  port: ${server.port}\n  user: tester\n  passwd: x\n  identities_only: true\n${entry}`,
  );
  return {
    project,
    server,
    run: project.run,
    runWith: project.runWith,
    attack,
    told: () =>
      existsSync(log)
        ? readFileSync(log, 'utf8')
            .split('\n')
            .filter(line => line !== '')
            .map(line => JSON.parse(line))
        : [],
    close: async () => {
      await server.close();
      await project.close();
    },
  };
};
