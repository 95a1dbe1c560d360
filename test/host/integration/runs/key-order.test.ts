import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

/** `10` before `9`, both after `b`: JavaScript's own objects cannot hold that. */
const files = {
  'states/order.sls': `#!jinja|yaml
{{ grains.root }}/out.json:
  file.serialize:
    - serializer: json
    - serializer_opts: [sort_keys: false, indent: null]
    - dataset: {b: 1, 10: {z: 1, 3: 2, 1: 3}, 9: 3}
told:
  echo.told:
    - value: {b: 1, 10: 2, 9: [{y: 1, 0: 2}]}
`,
  'states/_states/echo.ts': `import type { Plain } from 'tsalt-ssh/module';
export const told = (name: string, { value }: { value: Plain }) =>
  ({ name, changes: { value }, result: true, comment: Object.keys(value as object).join() });
`,
};

let project: Project;

beforeAll(async () => {
  project = await startProject({ files });
});

afterAll(async () => {
  await project?.close();
});

test('keys that look like numbers stay where the SLS has them, on the host and in what comes back', {
  tags: 'slow',
}, async () => {
  const { stdout } = await project.run('web1', '--out=json', 'state.apply', 'order');
  const root = project.hosts.web1?.root ?? '';
  expect(readFileSync(join(root, 'out.json'), 'utf8').trim()).toBe(
    '{"b": 1,"10": {"z": 1,"3": 2,"1": 3},"9": 3}',
  );
  expect(stdout).toContain('"comment": "b,10,9"');
  expect(stdout.replaceAll(/\s/g, '')).toContain('"value":{"b":1,"10":2,"9":[{"y":1,"0":2}]}');
});
