import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tsalt } from '../../helpers/cli.ts';
import { removeFolder } from '../../helpers/remove-folder.ts';

let project: string;
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), 'schema-'));
  mkdirSync(join(project, 'states/_states'), { recursive: true });
  writeFileSync(
    join(project, 'states/_states/acme.ts'),
    `/**
 * Makes a thing.
 * @param size - How large it is.
 */
export const made = (name: string, { size = 's' }: { size?: 's' | 'm' } = {}) =>
  ({ name, result: true, changes: {}, comment: size });
`,
  );
  writeFileSync(join(project, 'tsalt.yaml'), 'cachedir: cache\n');
});
afterAll(() => removeFolder(project));

describe('tsalt-ssh schema', () => {
  test('sls contains the modules of the project', async () => {
    const { code, stdout, stderr } = await tsalt(['schema', 'sls'], { cwd: project });
    expect(stderr).toBe('');
    expect(code).toBe(0);
    const { $defs } = JSON.parse(stdout) as { $defs: Record<string, unknown> };
    expect($defs['acme.made']).toMatchObject({
      properties: { size: { default: 's', description: 'How large it is.' } },
    });
    expect(Object.keys($defs).length).toBeGreaterThan(300);
  });

  test.each(['roster', 'config', 'top', 'saltfile'])('%s is JSON', async kind => {
    const { code, stdout } = await tsalt(['schema', kind], { cwd: project });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
    });
  });

  test('names the kinds where it gets another word', async () => {
    const { code, stderr } = await tsalt(['schema', 'rooster'], { cwd: project });
    expect(code).toBe(64);
    expect(stderr).toContain('tsalt-ssh schema roster');
  });
});
