import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Project, startProject } from '../../../helpers/project.ts';

const count = 120;
let project: Project;
const at = (name: string): string => join(project.dir, name);
/** The names of the states whose template was rendered, each time. */
const rendered = (): string[] => readFileSync(at('rendered'), 'utf8').trim().split('\n');

beforeAll(async () => {
  project = await startProject({ hosts: [], files: { 'states/one.txt': 'text\n' } });
  project.write({
    // With kept grains, a run is rendered before the host answers, and again where a grain has changed.
    'tsalt.yaml': `cachedir: cache\nminion_data_cache: false\ngrains: {folder: ${at('target')}}\n`,
    // Each text is another one each time, and longer than those that travel with a job.
    'states/_renderers/noted.ts': `import { appendFileSync } from 'node:fs';
export const kind = 'text';
export const render = (text: string, { name }: { name: string }) => {
  appendFileSync(${JSON.stringify(at('rendered'))}, name + '\\n');
  return (text + name + Math.random()).padEnd(3000, '.');
};
`,
    'states/many.sls': `{% for number in (1..${count}) %}
{{ grains.folder }}/f{{ number }}:
  file.managed:
    - source: salt://one.txt
    - template: noted
    - makedirs: true
{% endfor %}
`,
  });
});
afterAll(() => project.close());

test('a run that makes files renders each template once: the host gets the text of the hash', async () => {
  const made = await project.run('@local', 'state.apply', 'many', '--out=json');
  expect(made.code, made.stderr + made.stdout).toBe(0);
  const names = Array.from({ length: count }, (_, index) => at(`target/f${index + 1}`));
  expect(rendered().toSorted()).toEqual(names.toSorted());
  for (const name of names) expect(readFileSync(name, 'utf8')).toContain(`text\n${name}0.`);

  rmSync(at('rendered'));
  const changed = await project.run('@local', 'state.apply', 'many', '--out=json');
  expect(changed.code, changed.stderr).toBe(0);
  expect(rendered().toSorted()).toEqual(names.toSorted());
});
