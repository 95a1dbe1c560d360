import { expect, test } from 'vitest';
import { nodePosition } from '../../../src/data/values/position.ts';
import type { Data } from '../../../src/data/values/value.ts';
import { collectGarbage } from '../../../src/memory/collect-garbage.ts';
import { TaintTable } from '../../../src/render/taint/taint-table.ts';
import type { RenderContext, RenderRequest, Stage } from '../../../src/render/types.ts';
import { renderYaml } from '../../../src/render/yaml.ts';

/** Loads a text for a host of its own. */
const loadFor = async (
  owner: string,
  text: string,
): Promise<{ data: Data; context: WeakRef<RenderContext> }> => {
  const context = { taint: new TaintTable(owner) } as unknown as RenderContext;
  const request = { file: 'a.sls', context } as RenderRequest;
  const tainted = [{ start: text.indexOf('Debian'), end: text.length - 1, source: 'grain "os"' }];
  const data = await renderYaml(text, { request, tainted } as unknown as Stage);
  return { data, context: new WeakRef(context) };
};

test.each([
  ['short', ''],
  ['long', '# long\n'.repeat(20_000)],
])(
  'the cached data of a %s text keeps nothing of the hosts that it was loaded for',
  async (_, before) => {
    const text = `${before}motd:\n  - Debian\n`;
    const hosts: WeakRef<RenderContext>[] = [];
    let last: Data = null;
    for (const owner of ['web1', 'web2', 'web3']) {
      const { data, context } = await loadFor(owner, text);
      hosts.push(context);
      last = data;
    }
    // A WeakRef holds its object until the turn ends.
    await new Promise(resolve => setImmediate(resolve));
    collectGarbage();
    expect(hosts.map(host => host.deref())).toEqual([undefined, undefined, undefined]);
    expect(nodePosition(last)).toEqual({ line: before.length / 7 + 1, column: 1 });
  },
);
