import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneData } from '../../src/data/values/clone.ts';
import { noValue, traverse } from '../../src/data/values/traverse.ts';
import { type Dict, toDict } from '../../src/data/values/value.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import { render } from '../../src/render/render.ts';
import type { RenderContext } from '../../src/render/types.ts';
import { removeFolder } from '../helpers/remove-folder.ts';
import { median, type Row, tableOf } from './measure.ts';

const count = 60;
const fleets = [1, 100];

type Tree = { readonly name: string; readonly pipe: string; readonly sls: (at: number) => string };

/**
 * Renders trees of 60 SLS for one host and for 100 that share them: one that says the same for
 * every host, one that writes the host's name into each file, and one of Jinja that looks its
 * values up as formulas do.
 */
export const benchRender = async (runs = 5): Promise<{ table: string; rows: readonly Row[] }> => {
  const rows: Row[] = [];
  for (const tree of trees) {
    const times = await measure(tree, runs);
    const one = median(times[1] ?? []);
    for (const hosts of fleets)
      rows.push({
        name: `${hosts} host${hosts === 1 ? '' : 's'}, ${tree.name}`,
        'median ms': median(times[hosts] ?? []).toFixed(1),
        'x one host': (median(times[hosts] ?? []) / one).toFixed(1),
      });
  }
  return { table: tableOf(rows), rows };
};

const measure = async (tree: Tree, runs: number): Promise<Record<number, number[]>> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-bench-'));
  try {
    const times: Record<number, number[]> = {};
    // The first round compiles this program's own code; it counts for nobody.
    for (let run = -1; run < runs; run += 1)
      for (const hosts of fleets) {
        // Separate files, so that a parse cached by an earlier round cannot help, as in a separate
        // run.
        const roots = writeTree(join(dir, `${run}-${hosts}`), tree);
        const begin = performance.now();
        for (let host = 0; host < hosts; host += 1) await renderTree(roots, host, tree.pipe);
        const took = performance.now() - begin;
        if (run >= 0) times[hosts] = [...(times[hosts] ?? []), took];
      }
    return times;
  } finally {
    removeFolder(dir);
  }
};

const writeTree = (dir: string, { sls }: Tree): FileRoots => {
  mkdirSync(join(dir, 'app'), { recursive: true });
  for (let at = 0; at < count; at += 1) writeFileSync(join(dir, `app/part${at}.sls`), sls(at));
  return new FileRoots({ base: [dir] });
};

const pillar = toDict({ app: { port: 8000, names: ['a', 'b', 'c'] } });

const renderTree = async (files: FileRoots, host: number, pipe: string): Promise<void> => {
  const context: RenderContext = {
    grains: toDict({ id: `web${host}`, os: 'Debian' }),
    pillar: cloneData(pillar) as Dict,
    opts: new Map(),
    files,
    call: async (_, [path = null]) => {
      const found = traverse(context.pillar, String(path), ':');
      return found === noValue ? null : found;
    },
    onlyLooks: async () => true,
  };
  for (let at = 0; at < count; at += 1) {
    const file = files.find(`app/part${at}.sls`);
    if (!file) throw new Error('the tree is not there');
    const text = files.read(`app/part${at}.sls`, 'base');
    await render({ text, file: file.path, pipe, sls: `app.part${at}`, saltenv: 'base', context });
  }
};

const liquid = (
  at: number,
  own: boolean,
): string => `{% assign port = pillar.app.port | plus: ${at} %}
part${at}_dir:
  file.directory:
    - name: /srv/app/part${at}
    - makedirs: true
{% for name in pillar.app.names %}
part${at}_{{ name }}:
  file.managed:
    - name: /srv/app/part${at}/{{ name }}.conf
    - contents: |
        listen = {{ port }}
        host = ${own ? '{{ grains.id }}' : 'any'}
        {% if grains.os == 'Debian' %}user = www-data{% endif %}
    - require:
      - file: part${at}_dir
{% endfor %}
`;

const jinja = (at: number): string => `{% set app = salt['pillar.get']('app', {}) %}
part${at}_dir:
  file.directory:
    - name: /srv/app/part${at}
    - makedirs: true
{% for name in app.names %}
part${at}_{{ name }}:
  file.managed:
    - name: /srv/app/part${at}/{{ name }}.conf
    - contents: |
        listen = {{ app.port + ${at} }}
        {% if grains['os'] == 'Debian' %}user = www-data{% endif %}
    - require:
      - file: part${at}_dir
{% endfor %}
`;

const trees: readonly Tree[] = [
  { name: 'the same texts', pipe: 'liquid|yaml', sls: at => liquid(at, false) },
  { name: 'each its own texts', pipe: 'liquid|yaml', sls: at => liquid(at, true) },
  { name: 'the same texts, Jinja', pipe: 'jinja|yaml', sls: jinja },
];
