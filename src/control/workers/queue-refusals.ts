import { TsaltError } from '../../protocol/error.ts';
import type { Host } from '../../protocol/host.ts';
import { type RedisAddress, shownAddress } from '../../queue/connect.ts';
import { WorkerEnded } from './pool.ts';

const workersHint = 'tsalt-ssh workers lists the live ones.';

export const unknownSegment = ({ id }: Host, segment: string): TsaltError =>
  new TsaltError('via', `${id}: there is no segment '${segment}' among the workers.`, {
    hint: `Name the keys of its workers in tsalt.yaml: workers: {${segment}: KEY}. tsalt-ssh worker key prints a key.`,
  });

export const noWorker = ({ id }: Host, segment: string, connection: RedisAddress): TsaltError =>
  new TsaltError(
    'no-worker',
    `${id}: no worker of the segment '${segment}' is alive at ${shownAddress(connection)}.`,
    {
      kind: 'unreachable',
      hint: `Start one: tsalt-ssh worker --name ${segment} --queue ${shownAddress(connection)}. ${workersHint}`,
    },
  );

/** @param silence milliseconds without an answer */
export const queueGone = (connection: RedisAddress, silence: number): TsaltError =>
  new TsaltError(
    'queue',
    `The queue ${shownAddress(connection)} has not answered for ${silence / 1000} s.`,
    { kind: 'unreachable' },
  );

export const otherVersion = (
  { id }: Host,
  theirs: string,
  ours: string,
  segment: string,
): TsaltError =>
  new TsaltError(
    'worker-version',
    `${id}: the worker of the segment '${segment}' is tsalt-ssh ${theirs}, and this is ${ours}.`,
    { kind: 'unreachable', hint: `Install the same version on both. ${workersHint}` },
  );

export const aborted = ({ id }: Host): WorkerEnded =>
  new WorkerEnded(`${id} was not begun: the run was interrupted`);
