import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { timeZoneName } from '../../../src/modules/grains/time-zone.ts';

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Africa/Casablanca',
  'Europe/Dublin',
  'Etc/UTC',
];
const file = '/usr/share/zoneinfo/Europe/Berlin';

test.skipIf(!existsSync(file)).each(zones)(
  'the abbreviation of %s is the one `date` writes',
  zone => {
    const before = process.env.TZ;
    process.env.TZ = zone;
    try {
      for (const day of ['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z']) {
        const date = execFileSync('date', ['-d', day, '+%Z'], { env: { TZ: zone } });
        expect(timeZoneName(zone, new Date(day))).toBe(String(date).trim());
      }
    } finally {
      if (before === undefined) delete process.env.TZ;
      else process.env.TZ = before;
    }
  },
);

test('a rule in TZ names the zone itself', () => {
  expect(timeZoneName('<+0545>-5:45')).toBe('+0545');
  expect(timeZoneName('')).toBe('UTC');
});

test('a zone that is not there still has some name', () => {
  expect(timeZoneName('No/Where')).not.toBe('');
});
