import { TsaltError } from '../protocol/error.ts';
import type { PlainDict } from '../protocol/plain.ts';
import { isNodeTarget, type NodeTarget } from './node-cache.ts';

/** An official `.tar.gz` of Node that hosts download themselves, and its SHA-256. */
export type Mirror = { readonly url: string; readonly sha256: string; readonly inside: string };

/**
 * Reads the option `node_mirror`: `{linux-x64: {url: …, sha256: …}}`.
 * @throws {TsaltError} `node-mirror` for anything else
 */
export const readMirrors = (value: PlainDict = {}): ReadonlyMap<NodeTarget, Mirror> =>
  new Map(
    Object.entries(value).map(([target, given]) => {
      const { url, sha256 } = (typeof given === 'object' && given !== null ? given : {}) as {
        url?: unknown;
        sha256?: unknown;
      };
      const name =
        typeof url === 'string' && /^https?:\/\/[\x21\x23-\x26\x28-\x5b\x5d-\x7e]+$/.test(url)
          ? /\/([\w.-]+)\.tar\.gz$/.exec(url)?.[1]
          : undefined;
      if (!isNodeTarget(target) || name === undefined || !/^[0-9a-f]{64}$/.test(String(sha256)))
        throw wrong(target);
      return [target, { url: String(url), sha256: String(sha256), inside: `${name}/bin/node` }];
    }),
  );

const wrong = (target: string): TsaltError =>
  new TsaltError('node-mirror', `The value of 'node_mirror' for ${target} is not right.`, {
    kind: 'usage',
    hint: 'Write {linux-x64: {url: https://…/node-v22.x.y-linux-x64.tar.gz, sha256: …}}, the hash as in SHASUMS256.txt; linux-arm64 alike.',
  });
