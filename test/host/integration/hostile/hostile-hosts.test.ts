import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type EmbeddedServer, startEmbeddedServer } from '../../../helpers/embedded-server.ts';
import { peakMemory } from '../../../helpers/peak-memory.ts';
import { type Project, startProject } from '../../../helpers/project.ts';
import { removeFolder } from '../../../helpers/remove-folder.ts';

const evil = fileURLToPath(new URL('../../../fixtures/evil-host.mjs', import.meta.url));
const dir = mkdtempSync(join(tmpdir(), 'tsalt-evil-'));
const peak = peakMemory(dir);
let project: Project;
let server: EmbeddedServer | undefined;

beforeAll(async () => {
  project = await startProject({
    files: { 'states/secret.txt': 'for somebody else\n' },
  });
});
afterEach(() => server?.close());
afterAll(async () => {
  await project.close();
  removeFolder(dir);
});

/** Runs on an honest host and on one that is in this mode; both have `timeout` seconds. */
const beside = async (mode: string, timeout: number) => {
  const shell = join(dir, `shell-${mode}`);
  writeFileSync(shell, `#!/bin/sh\nexec ${process.execPath} ${evil} ${mode}\n`, { mode: 0o755 });
  server = await startEmbeddedServer({ home: join(dir, mode), password: 'x', shell });
  const good = project.hosts.web1;
  project.write({
    known_hosts: [good?.server, server]
      .map(one => `[127.0.0.1]:${one?.port} ${one?.hostKey}\n`)
      .join(''),
  });
  project.roster(
    `${good?.entry}bad:\n  host: 127.0.0.1\n  port: ${server.port}\n  user: tester\n  passwd: x\n  identities_only: true\n`,
  );
  const { code, stdout, stderr } = await project.runWith(
    { env: peak.env },
    ...['--timeout', String(timeout), '--static', '--out', 'json', '*', 'test.ping'],
  );
  const results = JSON.parse(stdout) as Record<string, unknown>;
  expect(results.web1, stdout + stderr).toBe(true);
  return {
    code,
    text: String(results.bad),
    all: stdout + stderr,
    megabytes: peak.megabytes(),
  };
};

test.each([
  ['malformed', /JSON/],
  ['not-an-object', /message|frame|answer|sent/],
  ['oversized', /4294967295 bytes is over the limit/],
  ['half-a-frame', /ended/],
  ['unknown-type', /unknown type 9/],
  ['answer-nobody-asked-for', /ask|answer/],
  ['bytes-nobody-asked-for', /transfer|bytes|content|data/],
  ['unknown-event', /exec/],
  ['shapeless-state', /a malformed event "state"/],
  ['shapeless-log', /a malformed event "log"/],
  ['endless-bytes', /frame|limit|type/],
  ['ask-file', /asked for salt:\/\/secret\.txt, which its job does not name/],
  ['ask-traversal', /which its job does not name/],
  ['ask-list', /which its job does not name/],
  ['ask-template', /asked to render a te.* its job/],
] as const)(
  'a host that sends %s ends by a named cause, the other one goes on',
  { tags: 'slow' },
  async (mode, cause) => {
    const { code, text, all, megabytes } = await beside(mode, 90);
    expect(code).toBe(69);
    expect(text).toMatch(cause);
    expect(text).toMatch(/^(bad: |The host asked)/);
    expect(all).not.toMatch(/for somebody else|root:x:|\bat .*\.[tj]s:\d/);
    expect(megabytes).toBeLessThan(400);
  },
);

test.each(['endless-log', 'unknown-request'])(
  'a host that keeps us busy by %s is ended by the time that it has, in bounded memory',
  { tags: 'slow' },
  async mode => {
    const { code, text, megabytes } = await beside(mode, 20);
    expect(code).toBe(69);
    expect(text).toMatch(
      /^bad: not done within 20 s \(--timeout\)\.\nIt was running the function test\.ping\.$/,
    );
    expect(megabytes).toBeLessThan(400);
    expect(existsSync('/tmp/tsalt-owned')).toBe(false);
  },
);
