import { type Data, toDict } from '../../../src/data/values/value.ts';
import type { Plain, PlainDict } from '../../../src/protocol/plain.ts';
import { TaintTable } from '../../../src/render/taint/taint-table.ts';
import { site } from '../site.ts';

type Given = {
  readonly files?: Readonly<Record<string, string>>;
  readonly grains?: PlainDict;
  readonly pillar?: PlainDict;
  /** The host's results of calls. */
  readonly answer?: Plain;
};

/** A function of the control node that makes a new text of what it is given. */
const copying = 'slsutil.copying';

/** A site whose host `web1` sent all of its grains, and everything that calls return. */
export const taintedSite = ({ files, grains = {}, pillar, answer = null }: Given) => {
  const taint = new TaintTable('web1');
  for (const [name, value] of Object.entries(grains)) taint.hear(value, `grain "${name}"`);
  const made = site({ ...(files ? { files } : {}), ...(pillar ? { pillar } : {}), grains });
  const context = {
    ...made.context,
    taint,
    livesHere: async (fun: string) => fun === copying || fun.startsWith('pillar.'),
    call: async (fun: string, args: readonly Data[]) => {
      if (fun === copying) return `${String(args[0])} `;
      taint.hear(answer, `result of ${fun}`);
      return toDict({ answer }).get('answer') ?? null;
    },
  };
  return {
    taint,
    data: (text: string): Promise<Plain> => made.data(text, { context }),
  };
};
