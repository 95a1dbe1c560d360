import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { privateDir, writePrivate } from '../../bundle/private-dir.ts';
import { getBlob } from '../../queue/blobs.ts';
import type { RedisClient } from '../../queue/connect.ts';
import type { SentProject } from './sent-project.ts';
import type { SentConfig, SentRequest } from './sent-request.ts';

/** How many recently used trees are kept. */
const mostTrees = 8;

/** Requests for contents at the same time. */
const atOnce = 16;

/** Writes the files of a project below a folder, once for equal projects. @returns the folder */
export const receiveProject = async (
  { key, files, folders }: SentProject,
  dir: string,
  redis: RedisClient,
): Promise<string> => {
  const trees = privateDir(join(dir, 'trees'));
  const name = createHash('sha256')
    .update(JSON.stringify([files, folders]))
    .digest('hex');
  const root = join(trees, name.slice(0, 32));
  const whole = `${root}.whole`;
  if (existsSync(whole)) {
    const now = new Date();
    utimesSync(whole, now, now);
    return root;
  }
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root, { mode: 0o700 });
  const secret = Buffer.from(key, 'base64');
  for (const folder of folders) mkdirSync(inside(root, folder), { recursive: true, mode: 0o700 });
  for (let at = 0; at < files.length; at += atOnce)
    await Promise.all(
      files.slice(at, at + atOnce).map(async ([path, blob, mode]) => {
        const full = inside(root, path);
        mkdirSync(dirname(full), { recursive: true, mode: 0o700 });
        const content = await getBlob(redis, secret, blob);
        writeFileSync(full, content, { mode: 0o600, flag: 'wx' });
        // The trust check refuses files that everybody can write.
        chmodSync(full, (mode & 0o775) | 0o400);
      }),
    );
  await writePrivate(whole, '');
  prune(trees);
  return root;
};

/** Maps the control node's absolute path into the folder; it cannot lead out. */
const inside = (root: string, path: string): string => join(root, posix.normalize(`/${path}`));

const prune = (trees: string): void => {
  const whole = readdirSync(trees)
    .filter(name => name.endsWith('.whole'))
    .map(name => ({ name, time: statSync(join(trees, name)).mtimeMs }))
    .sort((a, b) => b.time - a.time);
  for (const { name } of whole.slice(mostTrees)) {
    rmSync(join(trees, name), { force: true });
    rmSync(join(trees, name.slice(0, -'.whole'.length)), { recursive: true, force: true });
  }
};

/** Adapts the paths in a request's configuration to this machine. */
export const relocatedRequest = (
  request: SentRequest,
  { tree, cacheDir, knownHosts }: { tree: string; cacheDir: string; knownHosts: string },
): SentRequest => {
  const { config } = request;
  const below = (path: string): string => (path.startsWith('/') ? inside(tree, path) : path);
  const dirs = (list: readonly string[] | undefined): string[] | undefined => list?.map(below);
  const given = {
    module_dirs: dirs(config.module_dirs),
    states_dirs: dirs(config.states_dirs),
    grains_dirs: dirs(config.grains_dirs),
    utils_dirs: dirs(config.utils_dirs),
    outputter_dirs: dirs(config.outputter_dirs),
    matchers_dirs: dirs(config.matchers_dirs),
    pillar_dirs: dirs(config.pillar_dirs),
    extension_modules:
      config.extension_modules === undefined ? undefined : below(config.extension_modules),
  };
  const { ssh_config_file: _, ...kept } = config;
  return {
    ...request,
    env: { ...process.env },
    config: {
      ...kept,
      ...(Object.fromEntries(
        Object.entries(given).filter(([, value]) => value !== undefined),
      ) as Partial<SentConfig>),
      dir: below(config.dir),
      file_roots: Object.fromEntries(
        Object.entries(config.file_roots).map(([env, roots]) => [env, roots.map(below)]),
      ),
      cachedir: cacheDir,
      known_hosts_file: knownHosts,
    },
  };
};
