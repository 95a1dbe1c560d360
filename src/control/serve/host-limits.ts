import { collectGarbage } from '../../memory/collect-garbage.ts';
import { Spool } from '../../memory/spool.ts';
import { broken } from '../../protocol/message.ts';
import type { PeerLimits } from '../../protocol/peer.ts';
import { getOwn } from '../../protocol/plain.ts';

const megabyte = 1024 * 1024;

/** Bytes of a host's grains, in its hello or on request. */
export const mostGrains = 2 * megabyte;

/** Bytes of each kind that one host may send in all and that the control node keeps or logs. */
const most: Readonly<Record<string, number>> = {
  hello: mostGrains,
  'control.grains': 32 * megabyte,
  'state-start': 32 * megabyte,
  state: 256 * megabyte,
  event: 8 * megabyte,
};
const mostLog = 64 * megabyte;

/** Bytes of output that one host may send at once, and per second; the rest is dropped. */
const outputBurst = 512 * 1024;
const outputPerSecond = 128 * 1024;
/** Bytes that each piece of output counts at least. */
const leastPiece = 1024;

/**
 * Limits of what one host may cost the control node. Honest hosts stay far below them. A host that
 * exceeds a limit loses only its own run, or the rest of its log.
 *
 * @param say is called once, when the rest of the log is dropped
 * @throws TsaltError `wire-protocol` from `admits`, which ends the wire
 */
export const hostLimits = (say: (message: string) => void): PeerLimits => {
  const taken = new Map<string, number>();
  const admitsOutput = outputBucket();
  return {
    json: { values: 1_000_000, keys: 200_000, depth: 200 },
    long: { newSpool: () => new Spool(), done: collectGarbage },
    requests: 256,
    requestBytes: 32 * megabyte,
    admits: (name, bytes) => {
      const sum = (taken.get(name) ?? 0) + bytes;
      taken.set(name, sum);
      const limit = getOwn(most, name);
      if (limit !== undefined && sum > limit)
        throw broken(`more than ${limit / megabyte} MB of "${name}"`);
      if (name === 'output') return admitsOutput(bytes);
      if (name !== 'log' || sum <= mostLog) return true;
      if (sum - bytes <= mostLog)
        say(`The host has sent ${mostLog / megabyte} MB of log: the rest of it is left out.`);
      return false;
    },
  };
};

const outputBucket = (): ((bytes: number) => boolean) => {
  let left = outputBurst;
  let at = performance.now();
  return bytes => {
    const now = performance.now();
    left = Math.min(outputBurst, left + ((now - at) / 1000) * outputPerSecond);
    at = now;
    const cost = Math.max(bytes, leastPiece);
    if (cost > left) return false;
    left -= cost;
    return true;
  };
};
