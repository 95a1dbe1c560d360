import { chmodSync, mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { removeFolder } from './helpers/remove-folder.ts';
import { runPrefix } from './helpers/run-prefix.ts';

// What tests and the programs they start find around them is the same on every machine. Tests that
// are about one of these set it themselves.
process.env.TZ = 'UTC';
for (const name of ['FORCE_COLOR', 'NO_COLOR', 'SSH_AUTH_SOCK']) delete process.env[name];

// As root in somebody else's clone, as in containers: its fixtures are as good as one's own.
const { uid } = statSync(new URL('..', import.meta.url));
if (uid !== process.geteuid?.()) process.env.TSALT_TRUST_OWNER = String(uid);

/**
 * Set up before each test file: what it and the programs it starts put into the folder for
 * temporary files goes when it is done, or with the run if all its tests are skipped. Like /tmp it is open to all users: tests change users.
 */
const before = tmpdir();
const folder = mkdtempSync(join(before, runPrefix(process.ppid)));
chmodSync(folder, 0o1777);
process.env.TMPDIR = folder;

afterAll(() => {
  process.env.TMPDIR = before;
  removeFolder(folder);
});
