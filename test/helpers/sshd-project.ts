import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Project, startProject } from './project.ts';
import { startSshd } from './sshd.ts';

/** A project with one host, `web1`, behind a real sshd. */
export type SshdProject = Project & {
  /** The host's workspace. */
  readonly workspace: string;
  /** How many sessions sshd has begun: channels with a command. */
  readonly sessions: () => number;
  /** The process of the run that holds the host; undefined while there is none. */
  readonly runtime: () => number | undefined;
};

/** Starts a real sshd on loopback and writes a project with `files` for it. */
export const startSshdProject = async (
  files: Readonly<Record<string, string>>,
): Promise<SshdProject> => {
  const project = await startProject({ hosts: [], files });
  const sshd = await startSshd({
    dir: join(project.dir, 'sshd'),
    config: ['LogLevel VERBOSE'],
  });
  const workspace = join(project.dir, 'workspace');
  project.write({
    known_hosts: `[127.0.0.1]:${sshd.port} ${sshd.hostKeys[0]}\n`,
    'roster.yaml': `web1:
  host: 127.0.0.1
  port: ${sshd.port}
  user: ${sshd.user}
  priv: ${sshd.key}
  thin_dir: ${workspace}
  grains: {root: ${project.dir}}
`,
  });
  const lock = join(workspace, 'run.lock');
  return {
    ...project,
    workspace,
    sessions: () => sshd.log().match(/Starting session/g)?.length ?? 0,
    runtime: () => {
      const pid = /"pid":(\d+)/.exec(readOrEmpty(lock))?.[1];
      return pid === undefined ? undefined : Number(pid);
    },
    close: async () => {
      await sshd.close();
      await project.close();
    },
  };
};

const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
