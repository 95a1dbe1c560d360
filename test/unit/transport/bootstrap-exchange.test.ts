import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { TsaltError } from '../../../src/protocol/error.ts';
import { becomeOf } from '../../../src/transport/become.ts';
import { BootstrapExchange } from '../../../src/transport/bootstrap-exchange.ts';
import { processChannel } from '../../../src/transport/process-channel.ts';
import type { Connection } from '../../../src/transport/transport.ts';
import { aHost } from '../../helpers/hosts.ts';

test('a host that ends right after its last bytes has them taken before its end is reported', async () => {
  const host = aHost();
  const channel = await processChannel('/bin/sh', [
    '-c',
    String.raw`printf '\n\0TSALT1 {"start":true}\nlast bytes'`,
  ]);
  const connection = { host, lost: () => undefined } as unknown as Connection;
  const exchange = new BootstrapExchange(connection, channel, becomeOf(host, undefined));
  const seen: string[] = [];
  await exchange.next(10);
  exchange.handOver(
    async chunk => {
      seen.push(String(chunk));
      await sleep(300);
      seen.push('taken');
    },
    reason => seen.push((reason as TsaltError).code),
  );
  await exchange.ended;

  expect(seen).toEqual(['last bytes', 'taken', 'runtime-ended']);
});
