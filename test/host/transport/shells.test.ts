import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { showError } from '../../../src/protocol/error.ts';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import type { Link, RuntimeOptions } from '../../../src/transport/runtime-link.ts';
import type { EmbeddedServerOptions } from '../../helpers/embedded-server.ts';
import { fault } from '../../helpers/fault.ts';
import { scratch, startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

const scratchDir = scratch();
afterAll(scratchDir.remove);
const open: TestHost[] = [];
afterEach(async () => {
  for (const target of open.splice(0)) await target.close();
});

const start = async (
  options: Partial<EmbeddedServerOptions>,
  given: Partial<RuntimeOptions> = {},
): Promise<Link> => {
  const target = await startTestHost(options, { timeout: 60 });
  open.push(target);
  const transport = openTransport({
    knownHostsFiles: [target.knownHosts],
    sshConfig: false,
    env: {},
  });
  const connection = await transport.connect(target.host);
  return await openRuntime({
    connection,
    host: target.host,
    artifact: await tinyArtifact(),
    handlers: {},
    events: {},
    ...given,
  });
};

const shells = [
  '/bin/sh',
  '/bin/bash',
  '/bin/dash',
  '/usr/bin/fish',
  '/usr/bin/tcsh',
  '/bin/zsh',
  '/bin/ksh',
];

describe.each(shells)('login shell %s', shell => {
  test.skipIf(!existsSync(shell))('runs the bootstrap', async () => {
    const link = await start({ shell });
    expect(await link.peer.request('echo', 'hello')).toBe('hello');
    link.close();
  });
});

test.each([
  ['text with a newline', 'Welcome to web1!\n'],
  ['text without one', 'Welcome'],
  ['invalid UTF-8 and escapes', Buffer.from('\xff\xfe\x1b]0;evil\x07\x1b[2J\0', 'latin1')],
  ['a megabyte', 'x'.repeat(1_000_000)],
  ['something like our marker', '\n\0TSALT1\n\nTSALT2-NONODE\n'],
])('noise before the marker does not matter: %s', async (_, noise) => {
  const link = await start({ noise });
  expect(await link.peer.request('echo', 'hello')).toBe('hello');
  expect(link.diagnostics()).not.toMatch(/[\0\x07\x1b]/);
  expect(link.diagnostics().length).toBeLessThan(5000);
  link.close();
});

test('a host that answers with rubbish after the marker is a named fault', async () => {
  const error = await fault(start({ noise: '\n\0TSALT1 rubbish\n' }));
  expect(error.code).toBe('wire-greeting');
  expect(error.kind).toBe('host');
});

const shellOf = (text: string): string => {
  const file = join(scratchDir.path, 'shell');
  writeFileSync(file, `#!/bin/sh\n${text}\n`);
  chmodSync(file, 0o755);
  return file;
};

test('a login shell that runs nothing is named with what it said', async () => {
  const shell = shellOf('echo This account is not available.; exit 1');
  expect(showError(await fault(start({ shell })))).toBe(
    [
      'web1: the host ended the command with status 1 before it answered.',
      'This account is not available.',
      'The user needs a login shell that runs commands, and /bin/sh.',
    ].join('\n'),
  );
});

test('a login shell that says nothing is given up in time', { tags: 'slow' }, async () => {
  // Without a terminal, the end of the session does not end it.
  const shell = shellOf('echo waiting; exec sleep 10');
  const error = await fault(start({ shell }, { timeouts: { hello: 3 } }));
  expect(showError(error)).toMatch(
    /^web1: no answer within 3 s\.\nwaiting\nA login shell that waits for input/,
  );
  expect(error.kind).toBe('unreachable');
});

test('a login shell that never stops printing is ended, in bounded memory', async () => {
  const shell = shellOf('exec cat /dev/zero');
  const before = process.memoryUsage().rss;
  const error = await fault(start({ shell }));
  expect(error.code).toBe('wire-greeting');
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

test('a host without Node, where none can be brought, says what to do', async () => {
  const bin = join(scratchDir.path, 'bin');
  mkdirSync(bin, { recursive: true });
  if (!existsSync(`${bin}/uname`)) symlinkSync('/bin/uname', `${bin}/uname`);
  const error = await fault(start({ env: { PATH: `${bin}:/usr/sbin` } }));
  expect(showError(error)).toBe(
    'web1: there is no Node 18 or later on the host.\nInstall one there, or set node_bin in the roster.',
  );
});
