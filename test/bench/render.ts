import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toDict } from '../../src/data/value.ts';
import { FileRoots } from '../../src/fileserver/file-roots.ts';
import { render } from '../../src/render/render.ts';
import type { RenderContext } from '../../src/render/types.ts';
import { median, type Row, tableOf } from './measure.ts';

const files = 60;
const fleets = [1, 100];

/**
 * Renders a tree of 60 SLS by Liquid and YAML for one host and for 100 that share it: once a
 * tree that says the same for every host, once one that writes the host's name into each file.
 */
export const benchRender = async (runs = 5): Promise<{ table: string; rows: readonly Row[] }> => {
  const rows: Row[] = [];
  for (const own of [false, true]) {
    const times = await measure(own, runs);
    const one = median(times[1] ?? []);
    for (const hosts of fleets)
      rows.push({
        name: `${hosts} host${hosts === 1 ? '' : 's'}, ${own ? 'each its own texts' : 'the same texts'}`,
        'median ms': median(times[hosts] ?? []).toFixed(1),
        'x one host': (median(times[hosts] ?? []) / one).toFixed(1),
      });
  }
  return { table: tableOf(rows), rows };
};

const measure = async (own: boolean, runs: number): Promise<Record<number, number[]>> => {
  const dir = mkdtempSync(join(tmpdir(), 'tsalt-bench-'));
  try {
    mkdirSync(join(dir, 'app'));
    for (let at = 0; at < files; at += 1)
      writeFileSync(join(dir, `app/part${at}.sls`), sls(at, own));
    const times: Record<number, number[]> = {};
    // The first round compiles this program's own code; it counts for nobody.
    for (let run = -1; run < runs; run += 1)
      for (const hosts of fleets) {
        const roots = new FileRoots({ base: [dir] });
        const begin = performance.now();
        for (let host = 0; host < hosts; host += 1) await renderTree(roots, host);
        const took = performance.now() - begin;
        if (run >= 0) times[hosts] = [...(times[hosts] ?? []), took];
      }
    return times;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};

const pillar = toDict({ app: { port: 8000, names: ['a', 'b', 'c'] } });

const renderTree = async (roots: FileRoots, host: number): Promise<void> => {
  const context: RenderContext = {
    grains: toDict({ id: `web${host}`, os: 'Debian' }),
    pillar,
    opts: new Map(),
    files: roots,
    call: async () => null,
  };
  for (let at = 0; at < files; at += 1) {
    const file = roots.find(`app/part${at}.sls`);
    if (!file) throw new Error('the tree is not there');
    const text = roots.read(`app/part${at}.sls`, 'base');
    await render({ text, file: file.path, sls: `app.part${at}`, saltenv: 'base', context });
  }
};

const sls = (at: number, own: boolean): string => `{% assign port = pillar.app.port | plus: ${at} %}
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
