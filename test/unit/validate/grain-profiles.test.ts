import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as core from '../../../src/modules/grains/grains/core.ts';
import * as hardware from '../../../src/modules/grains/grains/core_hardware.ts';
import * as network from '../../../src/modules/grains/grains/core_network.ts';
import { osRelease } from '../../../src/modules/grains/os-release.ts';
import { profileGrains, profileNames } from '../../../src/validate/hosts/grain-profiles.ts';
import { packageRoot } from '../../helpers/cli.ts';

const filesOf = (name: string): string =>
  readFileSync(`${packageRoot}test/fixtures/os-release/${name}`, 'utf8');

/** Grains that only an os-release file decides. */
const ofRelease = [
  'os',
  'os_family',
  'osfullname',
  'oscodename',
  'osrelease',
  'osrelease_info',
  'osmajorrelease',
  'osfinger',
  'osbuild',
];

test.each(profileNames)('grains profile %s: is what a host with its os-release has', name => {
  const profile = profileGrains(name, 'web1.example.com');
  const text = filesOf(name);
  const own = Object.fromEntries(
    ofRelease.flatMap(key => (key in profile ? [[key, profile[key]]] : [])),
  );
  expect(own).toEqual(osRelease(text));
  const pretty = /^PRETTY_NAME="(.*)"$/m.exec(text)?.[1];
  expect(profile.lsb_distrib_description).toBe(pretty);
  expect(profile.lsb_distrib_release).toBe(osRelease(text).osrelease);
});

test.each(profileNames)('grains profile %s: has every grain of a host, of its type', name => {
  const profile = profileGrains(name, 'web1.example.com');
  const real = [core, hardware, network]
    .flatMap(module => Object.entries(module))
    .filter(([grain]) => !grain.startsWith('_'))
    .reduce<Record<string, unknown>>(
      (all, [, grain]) => Object.assign(all, (grain as () => object)()),
      {},
    );
  const typeOf = (value: unknown): string => (Array.isArray(value) ? 'list' : typeof value);
  /** Grains that only some hosts have, or that have several types. */
  const some =
    /^(lsb_|virtual_subtype|os|systemd|ip[46]_gw|serialnumber|uuid|gpus|num_gpus|disks|ssds|lvm|mdadm|bios|board|manufacturer|product)/;
  const missing = Object.entries(real)
    .filter(([grain]) => !some.test(grain))
    .filter(([grain, value]) => typeOf(value) !== typeOf(profile[grain]))
    .map(([grain]) => grain);
  expect(missing).toEqual([]);
});

test('grains profiles: systems without systemd have no systemd grain', () => {
  expect(profileGrains('alpine-3', 'a')).toMatchObject({ init: 'openrc' });
  expect(profileGrains('alpine-3', 'a')).not.toHaveProperty('systemd');
  expect(profileGrains('rocky-9', 'a')).toMatchObject({
    init: 'systemd',
    systemd: { version: '252' },
  });
});
