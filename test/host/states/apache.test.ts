import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { which } from '../../../src/modules/_shared/commands/which.ts';
import { nothing } from '../../helpers/nothing.ts';
import { makeHost, type TestHost } from '../../states/runner.ts';

const missing = which('a2enmod') === undefined ? ' (needs apache2)' : '';

describe.skipIf(missing)(`Debian's own a2enmod, a2ensite and a2enconf${missing}`, () => {
  let host: TestHost;
  let folder: string;

  beforeEach(() => {
    host = makeHost({ grains: { os_family: 'Debian' } });
    folder = join(host.root, 'apache2');
    mkdirSync(folder);
    cpSync('/etc/apache2', folder, { recursive: true, verbatimSymlinks: true });
    process.env.APACHE_CONFDIR = folder;
    process.env.APACHE_STATE_DIRECTORY = join(host.root, 'state');
    mkdirSync(process.env.APACHE_STATE_DIRECTORY);
    writeFileSync(
      join(folder, 'sites-available/example.com.conf'),
      '<VirtualHost *:80>\n</VirtualHost>\n',
    );
  });
  afterEach(() => {
    delete process.env.APACHE_CONFDIR;
    delete process.env.APACHE_STATE_DIRECTORY;
    host.remove();
  });

  test.each([
    ['module', 'rewrite', 'mods-enabled/rewrite.load'],
    ['site', 'example.com', 'sites-enabled/example.com.conf'],
    ['conf', 'localized-error-pages', 'conf-enabled/localized-error-pages.conf'],
  ])('apache_%s', async (kind, name, link) => {
    const there = (): boolean => existsSync(join(folder, link));
    if (there()) await host.state(`apache_${kind}.disabled`, name);
    for (const [verb, wanted] of [
      ['enabled', true],
      ['disabled', false],
    ] as const) {
      const fun = `apache_${kind}.${verb}`;
      expect(await host.test(fun, name)).toMatchObject({
        result: null,
        comment: `Apache ${kind} ${name} is set to be ${verb}.`,
      });
      expect(there()).toBe(!wanted);
      expect(await host.state(fun, name)).toMatchObject({
        result: true,
        changes: wanted ? { old: null, new: name } : { old: name, new: null },
      });
      expect(there()).toBe(wanted);
      expect(await host.state(fun, name)).toMatchObject({
        result: true,
        changes: nothing,
        comment: `${name} already ${verb}.`,
      });
    }
  });

  test('a module that is not there fails, and nothing moves', async () => {
    const before = readdirSync(join(folder, 'mods-enabled'));
    expect(await host.state('apache_module.enabled', 'nowhere')).toMatchObject({
      result: false,
      changes: nothing,
      comment: 'Failed to enable nowhere Apache module (Mod nowhere Not found)',
    });
    expect(readdirSync(join(folder, 'mods-enabled'))).toEqual(before);
  });
});
