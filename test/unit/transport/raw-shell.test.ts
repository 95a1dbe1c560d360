import { expect, test } from 'vitest';
import { localTransport } from '../../../src/transport/local.ts';
import { runRaw } from '../../../src/transport/raw-shell.ts';
import { fault } from '../../helpers/fault.ts';
import { aHost } from '../../helpers/hosts.ts';

test('a command that ignores a signal is killed', { tags: 'slow' }, async () => {
  const host = aHost({ transport: 'local' });
  const connection = await localTransport({}).connect(host);
  const command = "trap '' TERM HUP PIPE; while :; do sleep 1; done";
  const error = await fault(runRaw({ connection, host, command, timeout: 0.3 }));
  expect(error.code).toBe('host-timeout');
});
