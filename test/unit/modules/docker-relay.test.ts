import { mkdtempSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { withLogOptions } from '../../../src/modules/docker/docker-relay.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-relay-'));
const path = process.env.PATH;

afterAll(() => {
  process.env.PATH = path;
  removeFolder(folder);
});

/** Answers of the relay to requests that somebody sends at once. */
const statuses = (socketPath: string, count: number): Promise<(number | undefined)[]> =>
  Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<number | undefined>((resolve, reject) => {
          const asked = request(
            { socketPath, method: 'POST', path: '/containers/create', agent: false },
            answer => {
              answer.resume();
              answer.on('end', () => resolve(answer.statusCode));
            },
          );
          asked.on('error', reject);
          asked.end(JSON.stringify({ Image: 'x'.repeat(200_000) }));
        }),
    ),
  );

test('an engine that hangs up while it is written to is an answer, not the end of the runtime', async () => {
  writeFileSync(join(folder, 'docker'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
  process.env.PATH = `${folder}:${path}`;
  const answers = await withLogOptions({}, env =>
    statuses(String(env.DOCKER_HOST).slice('unix://'.length), 20),
  );
  expect(new Set(answers)).toEqual(new Set([502]));
});
