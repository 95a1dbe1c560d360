import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { showError } from '../../../src/protocol/error.ts';
import type { Host } from '../../../src/protocol/host.ts';
import { openRuntime } from '../../../src/transport/bootstrap.ts';
import { openTransport } from '../../../src/transport/open-transport.ts';
import { fault } from '../../helpers/fault.ts';
import { startTestHost, type TestHost } from '../../helpers/hosts.ts';
import { tinyArtifact } from '../../helpers/tiny-artifact.ts';

let subject: TestHost;
let artifact: Awaited<ReturnType<typeof tinyArtifact>>;
const commands: string[] = [];

beforeAll(async () => {
  artifact = await tinyArtifact();
  subject = await startTestHost({
    onExec: command => commands.push(command),
    env: { PATH: process.env.PATH ?? '' },
  });
});
afterAll(() => subject.close());

/** A host with a script and a workspace of its own. */
const withScript = (name: string, text: string, given: Partial<Host> = {}): Host => {
  const script = join(subject.dir, `${name}.sh`);
  writeFileSync(script, text);
  return {
    ...subject.host,
    ssh_pre_flight: script,
    thin_dir: join(subject.dir, `ws-${name}`),
    ...given,
  };
};

const begin = async (host: Host, preFlight = false): Promise<void> => {
  const transport = openTransport({ knownHostsFiles: [subject.knownHosts], sshConfig: false });
  const connection = await transport.connect(host);
  try {
    const options = { connection, host, artifact, handlers: {}, events: {}, preFlight };
    (await openRuntime(options)).close();
  } finally {
    connection.close();
  }
};

const seen = (): string => readFileSync(join(subject.dir, 'seen'), 'utf8');

test('a pre-flight script runs before the runtime: private, under a random name, once, removed', async () => {
  const args = ["it's", '$(id)', 'a b', ';', '!x\\', ''];
  const host = withScript(
    'once',
    `#!/bin/sh
{ stat -c %a "$0" "$(dirname "$0")"; echo "$0"; for a; do echo "[$a]"; done; cat; } >>${subject.dir}/seen
`,
    { ssh_pre_flight_args: args },
  );
  await begin(host);
  const [mode, folder, path = '', ...given] = seen().trim().split('\n');
  expect([mode, folder]).toEqual(['700', '700']);
  expect(path).toMatch(/\/ws-once\/\.pre-flight-[0-9a-f]{32}\/script$/);
  expect(given).toEqual(args.map(arg => `[${arg}]`));
  expect(existsSync(path)).toBe(false);
  expect(readdirSync(host.thin_dir ?? '').filter(name => name.startsWith('.'))).toEqual([]);
  expect(statSync(host.thin_dir ?? '').mode & 0o777).toBe(0o700);
  // No login shell saw the arguments.
  expect(commands.join('\n')).not.toContain('a b');

  await begin(host);
  expect(seen().match(/script/g)).toHaveLength(1);
  await begin(host, true);
  expect(seen().match(/script/g)).toHaveLength(2);
  await begin({ ...host, ssh_pre_flight_args: ['other'] });
  expect(seen().match(/script/g)).toHaveLength(3);
});

test('a script that fails stops the run, shows what it said, and runs again next time', async () => {
  const log = join(subject.dir, 'failing');
  const host = withScript('fails', `#!/bin/sh\necho ran >>${log}\necho no room >&2\nexit 3\n`);
  const before = commands.length;
  const error = await fault(begin(host));
  expect(error.code).toBe('pre-flight-failed');
  expect(showError(error)).toContain('ended with status 3; nothing else was done');
  expect(showError(error)).toContain('no room');
  expect(commands).toHaveLength(before + 1);
  expect(readdirSync(host.thin_dir ?? '')).toEqual([]);
  await fault(begin(host));
  expect(readFileSync(log, 'utf8')).toBe('ran\nran\n');
});

test('a script that is altered on the way is not run', async () => {
  const bin = join(subject.dir, 'bin');
  mkdirSync(bin);
  // A host whose line drops a byte: its head returns one less.
  writeFileSync(join(bin, 'head'), '#!/bin/sh\n/usr/bin/head "$@" | tr e a\n', { mode: 0o755 });
  const touched = join(subject.dir, 'touched');
  const host = withScript('altered', `#!/bin/sh\ntouch ${touched}\n`, { set_path: bin });
  const error = await fault(begin(host));
  expect(showError(error)).toContain('it did not arrive whole, and was not run');
  expect(existsSync(touched)).toBe(false);
  expect(readdirSync(host.thin_dir ?? '')).toEqual([]);
});

test('a script that is not there is named before anything runs', async () => {
  const before = commands.length;
  const error = await fault(
    begin({ ...subject.host, ssh_pre_flight: join(subject.dir, 'none.sh') }),
  );
  expect(error.message).toMatch(/none\.sh cannot be read: ENOENT\.$/);
  expect(commands).toHaveLength(before);
});

test('a workspace in ~/ is in the home of the user on the host', async () => {
  const host = withScript('home', '#!/bin/sh\nexit 0\n', { thin_dir: '~/ws' });
  await begin(host);
  expect(readdirSync(join(subject.home, 'ws')).sort()).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}\.js$/),
    expect.stringMatching(/^pre-flight-[0-9a-f]{64}$/),
  ]);
});
