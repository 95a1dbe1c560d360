import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as composer from '../../../src/modules/composer/exec/composer.ts';
import * as state from '../../../src/modules/composer/states/composer.ts';
import { nothing } from '../../helpers/nothing.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const folder = mkdtempSync(join(tmpdir(), 'tsalt-composer-'));
const project = join(folder, 'project');
const composer_home = join(folder, 'home');
const context = contextOf({ composer });
const run = <T>(work: () => Promise<T>) => within(context, work);
const json = (path: string, data: object) => writeFileSync(path, JSON.stringify(data));

afterAll(() => removeFolder(folder));

/** A test package, and a project that requires it, without network. */
const library = (version: string): void =>
  json(join(folder, 'library', 'composer.json'), { name: 'tsalt/library', version });
for (const path of ['library', 'project', 'home']) mkdirSync(join(folder, path));
library('1.0.0');
const scripts = { 'post-install-cmd': 'touch scripted' };
json(join(project, 'composer.json'), {
  repositories: [
    { type: 'path', url: '../library', options: { symlink: false } },
    { 'packagist.org': false },
  ],
  require: { 'tsalt/library': '^1.0' },
  scripts,
});
const version = (): string =>
  JSON.parse(readFileSync(join(project, 'vendor/tsalt/library/composer.json'), 'utf8')).version;

const hasComposer = spawnSync('composer', ['--version', '--no-interaction']).status === 0;

describe.skipIf(!hasComposer)(
  `the real composer${hasComposer ? '' : ' (needs composer)'}`,
  { timeout: 240_000 },
  () => {
    test('a project gets its packages once, and newer ones when asked', {
      tags: 'slow',
    }, async () => {
      const options = { composer_home, no_scripts: true };
      const installed = (more = {}) => state.installed(project, { ...options, ...more });
      expect(await within(testing(context), installed)).toMatchObject({
        result: null,
        comment: `The state of "${project}" will be changed.`,
        changes: {
          old: `composer install has not been run in ${project}`,
          new: `composer install will be run in ${project}`,
        },
      });
      expect(await run(() => composer.did_composer_install(project))).toBe(false);
      const made = await run(installed);
      expect(made, String(made.comment)).toMatchObject({
        result: true,
        comment: 'Composer install completed successfully',
        changes: { stderr: expect.stringContaining('tsalt/library') },
      });
      expect(version()).toBe('1.0.0');
      expect(existsSync(join(project, 'scripted'))).toBe(false);
      expect(await run(installed)).toMatchObject({
        result: true,
        changes: nothing,
        comment: 'Composer install completed successfully',
      });
      for (const one of [context, testing(context)])
        expect(await within(one, () => installed({ always_check: false }))).toMatchObject({
          result: true,
          changes: nothing,
          comment: 'Composer already installed this directory',
        });
      expect(await run(() => composer.install(project, { composer_home }))).toMatchObject({
        retcode: 0,
      });
      expect(existsSync(join(project, 'scripted'))).toBe(true);

      library('1.1.0');
      const update = () => state.update(project, options);
      expect(await within(testing(context), update)).toMatchObject({
        result: null,
        changes: { new: `composer install/update will be run in ${project}` },
      });
      expect(version()).toBe('1.0.0');
      expect(await run(update)).toMatchObject({
        result: true,
        comment: 'Composer update completed successfully',
        changes: { stderr: expect.stringContaining('1.1.0') },
      });
      expect(version()).toBe('1.1.0');
      expect(await run(update)).toMatchObject({ result: true, changes: nothing });
      expect(await run(() => installed({ quiet: true }))).toMatchObject({
        changes: nothing,
        comment: 'Composer install completed successfully, output silenced by quiet flag',
      });
      expect(await run(() => composer.update(project, { ...options, quiet: true }))).toBe(true);
    });

    test('a project that cannot be installed fails with what composer said', async () => {
      const bad = join(folder, 'bad');
      mkdirSync(bad);
      json(join(bad, 'composer.json'), {
        repositories: [{ 'packagist.org': false }],
        require: { 'tsalt/none': '*' },
      });
      expect(await run(() => state.installed(bad, { composer_home }))).toMatchObject({
        result: false,
        changes: nothing,
        comment: expect.stringMatching(
          /^Error executing composer in '.*\/bad': (?:.|\n)*tsalt\/none, it could not be found/,
        ),
      });
      expect(
        await run(() => state.installed(join(folder, 'none'), { composer_home })),
      ).toMatchObject({
        result: false,
        comment: expect.stringContaining('Invalid working directory'),
      });
    });
  },
);

test("the arguments, variables and program of composer equal Salt's", async () => {
  const program = join(folder, 'telling-composer');
  writeFileSync(program, '#!/bin/sh\necho "$*"; echo "$COMPOSER_HOME $TOKEN"; id -un\n', {
    mode: 0o755,
  });
  const told = async (work: () => Promise<unknown>) =>
    ((await run(work)) as { stdout: string }).stdout.split('\n');
  const options = { composer: program, php: '/bin/sh', env: [{ TOKEN: 'x' }] };
  const all = { prefer_source: true, prefer_dist: true, no_scripts: true, no_plugins: true };
  const [words, variables] = await told(() =>
    composer.update('/srv/app', { ...options, ...all, optimize: true, no_dev: true }),
  );
  expect(words?.split(' ')).toEqual(
    expect.arrayContaining([
      ...['update', '--no-interaction', '--no-ansi', '--no-progress', '--working-dir', '/srv/app'],
      ...['--no-dev', '--prefer-source', '--prefer-dist', '--no-scripts', '--no-plugins'],
      '--optimize-autoloader',
    ]),
  );
  expect(variables).toBe('/root x');
  expect((await told(() => composer.selfupdate({ composer: program, php: '/bin/sh' })))[0]).toBe(
    'selfupdate --no-interaction --no-ansi --no-progress',
  );
  if (process.getuid?.() === 0) {
    // The account has to reach the program.
    spawnSync('chmod', ['755', folder]);
    const runas = { ...options, runas: 'nobody' };
    expect((await told(() => composer.install('/srv/app', runas)))[2]).toBe('nobody');
  }
  await expect(
    run(() => composer.install('/srv/app', { composer: '/nowhere/composer.phar' })),
  ).rejects.toThrow("'composer.install' is not available. Couldn't find '/nowhere/composer.phar'.");
});
