import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, onTestFinished, test } from 'vitest';
import { parseArguments } from '../../../src/cli/parse.ts';
import { withSaltfile } from '../../../src/cli/saltfile.ts';
import { saltfileSchema } from '../../../src/cli/saltfile-schema.ts';
import { toPlain } from '../../../src/data/values/value.ts';
import { loadYaml } from '../../../src/yaml/load.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

const validate = new Ajv2020({ strict: false }).compile(saltfileSchema());

test.each([
  { text: 'salt-ssh:\n  ssh_max_procs: 5\n', isValid: true },
  { text: 'salt-ssh:\n  max-procs: 5\n  max_fail: 10%\n', isValid: true },
  { text: 'tsalt-ssh: {output: json, ssh_wipe: true, ssh_user: deploy}\n', isValid: true },
  { text: 'salt-ssh: {ssh_options: [IdentitiesOnly=yes]}\n', isValid: true },
  { text: 'salt-ssh: {wipe: null}\nsalt-call: {anything: [1]}\n', isValid: true },
  { text: 'salt-ssh:\n', isValid: true },
  { text: 'salt-ssh: {max_prosc: 5}\n', isValid: false },
  { text: 'salt-ssh: {wipe: sometimes}\n', isValid: false },
  { text: 'salt-ssh: {max_procs: {a: 1}}\n', isValid: false },
  { text: 'salt-ssh: {trust_owner: deploy}\n', isValid: false },
  { text: 'salt-ssh: {ssh_passwd: x}\n', isValid: false },
  { text: 'salt-ssh: [a]\n', isValid: false },
])('schema saltfile: agrees with the reader on $text', async ({ text, isValid }) => {
  const dir = mkdtempSync(join(tmpdir(), 'saltfile-'));
  onTestFinished(() => removeFolder(dir));
  writeFileSync(join(dir, 'Saltfile'), text);
  const read = withSaltfile(parseArguments(['web1', 'test.ping']), dir, {});
  expect(
    await read.then(
      () => true,
      () => false,
    ),
  ).toBe(isValid);
  expect(validate(toPlain(loadYaml(text)))).toBe(isValid);
});
