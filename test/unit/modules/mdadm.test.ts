import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { StateReturn } from '../../../src/modules/api.ts';
import * as raid from '../../../src/modules/disk/exec/mdadm_raid.ts';
import { absent, present } from '../../../src/modules/disk/states/mdadm_raid.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';
import { contextOf, testing, within } from '../../modules/_context.ts';

const path = process.env.PATH;
const folder = mkdtempSync(join(tmpdir(), 'tsalt-mdadm-'));
const [md, b, c, d] = ['md0', 'sdb', 'sdc', 'sdd'].map(name => join(folder, name)) as [
  string,
  string,
  string,
  string,
];
const uuid = '3aaa0122:29827cfa:5331ad66:ca767371';

/** A stand-in that keeps one array in files and answers in mdadm's words. */
const program = `#!/bin/sh
cd ${folder}; echo "$*" >>log
case "$*" in
  '--detail --scan') [ -e md0 ] && echo "ARRAY ${md} metadata=1.2 name=store1:0 UUID=${uuid}";;
  '--detail '*) sed -e 's,/dev/,${folder}/,' ${join(process.cwd(), 'test/fixtures/mdadm/detail.txt')};;
  '-Y -E '*) if grep -q member "$3"; then printf 'MD_LEVEL=raid1\\nMD_DEVICES=2\\nMD_UUID=%s\\n' "$(cut -d' ' -f2 "$3")"
     else echo "mdadm: No md superblock detected on $3." >&2; exit 1; fi;;
  '-C '*|'-A '*) for one in "$@"; do case $one in ${folder}/sd*) echo "member ${uuid}" >"$one";; esac; done
     echo >md0; echo "mdadm: array ${md} started." >&2;;
  '--manage '*) echo "member ${uuid}" >"$4";;
  '--stop '*) rm -f md0;;
  '--zero-superblock '*) shift; for one; do [ ! -e "$one" ] || : >"$one"; done;;
esac
`;

beforeAll(() => {
  writeFileSync(join(folder, 'mdadm'), program);
  // Tests must not touch the image that the kernel boots.
  writeFileSync(join(folder, 'update-initramfs'), '#!/bin/sh\nexit 0\n');
  for (const name of ['mdadm', 'update-initramfs']) chmodSync(join(folder, name), 0o755);
  process.env.PATH = `${folder}:${path}`;
});

afterAll(() => {
  process.env.PATH = path;
  removeFolder(folder);
});

beforeEach(() => {
  for (const device of [b, c, d]) writeFileSync(device, '');
  rmSync(md, { force: true });
  rmSync(join(folder, 'log'), { force: true });
});

const context = contextOf({ raid: { ...raid, save_config: async () => '' } });
const run = <T>(work: () => Promise<T>): Promise<T> => within(context, work);
const log = (): string[] =>
  readFileSync(join(folder, 'log'), 'utf8')
    .trim()
    .split('\n')
    .filter(line => !/^(--detail|-Y)/.test(line));

const settles = async (work: () => Promise<StateReturn>): Promise<StateReturn> => {
  const told = await within(testing(context), work);
  expect(told.changes).toEqual({});
  expect(told.result).toBe(null);
  const done = await run(work);
  expect(done, String(done.comment)).toMatchObject({ result: true });
  expect(done.changes).not.toEqual({});
  const again = await run(work);
  expect(again.result).toBe(true);
  expect(again.changes).toEqual({});
  return done;
};

test('an array is made, grows and goes', async () => {
  const mirror =
    (...devices: string[]) =>
    () =>
      present(md, { level: 1, devices, chunk: 256, run: true });
  const told = await within(testing(context), mirror(b, c));
  expect(told.comment).toBe(
    `Raid will be created with: mdadm -C ${md} -R -v -l 1 --chunk 256 --run -e default -n 2 ${b} ${c}`,
  );
  const made = await settles(mirror(b, c));
  expect(made.comment).toBe(`Raid ${md} created.`);
  expect(made.changes).toEqual({ device: md, metadata: '1.2', name: 'store1:0', uuid });
  expect((await settles(mirror(b, c, d))).changes).toEqual({ added: [d] });
  await settles(() => absent(md));
  expect(readFileSync(b, 'utf8')).toBe('');
  expect(log()).toEqual([
    `-C ${md} -R -v -l 1 --chunk 256 --run -e default -n 2 ${b} ${c}`,
    `--manage ${md} --add ${d}`,
    `--stop ${md}`,
    `--zero-superblock ${b} ${c} ${d}`,
  ]);
});

test('members that know an array are assembled; those of several are refused', async () => {
  writeFileSync(b, `member ${uuid}\n`);
  const done = await settles(() => present(md, { level: 1, devices: [b, join(folder, 'gone')] }));
  expect(done.comment).toBe(`Raid ${md} assembled. Missing devices: ['${join(folder, 'gone')}']`);
  writeFileSync(c, 'member 1111:2222\n');
  expect(await run(() => present(md, { level: 1, devices: [b, c] }))).toMatchObject({
    result: false,
    comment: `Devices are a mix of RAID constituents with multiple MD_UUIDs: ['1111:2222', '${uuid}'].`,
  });
  expect(await run(() => present(md, { level: 1, devices: [c] }))).toMatchObject({
    result: false,
    comment: `Devices MD_UUIDs: 1111:2222 differs from present RAID uuid ${uuid}.`,
  });
});

test('an array of nothing but missing devices cannot start', async () => {
  expect(await run(() => present(md, { level: 1, devices: ['missing'] }))).toMatchObject({
    result: false,
    comment: "All devices are missing: ['missing'].",
  });
  expect(existsSync(md)).toBe(false);
});

test('details of an array are read, spares too', () => {
  const text = readFileSync('test/fixtures/mdadm/detail.txt', 'utf8');
  const { members, ...fields } = raid._parseDetail(text);
  expect(fields).toMatchObject({ raid_level: 'raid1', state: 'clean', uuid, events: '17' });
  expect(members).toEqual({
    0: {
      device: '/dev/sdb',
      major: '8',
      minor: '16',
      number: '0',
      raiddevice: '0',
      state: 'active sync',
    },
    1: {
      device: '/dev/sdc',
      major: '8',
      minor: '32',
      number: '1',
      raiddevice: '1',
      state: 'active sync',
    },
    2: {
      device: '/dev/sdd',
      major: '8',
      minor: '48',
      number: '2',
      raiddevice: '-',
      state: 'spare',
    },
  });
});
