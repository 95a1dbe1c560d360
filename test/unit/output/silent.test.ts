import { expect, test } from 'vitest';
import { createOutput } from '../../../src/output/output.ts';
import type { HostResult } from '../../../src/protocol/event.ts';
import { outputOptions } from '../../output/recorded.ts';

test.each(['quiet', 'progress'])(
  '%s says nothing of a result, however large, but what is wrong with the SLS',
  async out => {
    const said: string[] = [];
    const output = await createOutput({
      options: { ...outputOptions, out },
      write: text => said.push(`out: ${text}`),
      complain: text => said.push(text),
      logLevel: 'warning',
      timeline: false,
    });
    const value = Object.fromEntries(
      Array.from({ length: 100_000 }, (_, at) => [`/srv/tree/file-${at}.conf`, 'New file']),
    );
    const large: HostResult = { id: 'web1', fun: 'x.y', value: [value, value, value], retcode: 0 };
    const wrong: HostResult = {
      ...{ id: 'web2', fun: 'state.apply', value: ['Rendering failed'], retcode: 1 },
      problems: [{ message: 'Rendering failed', at: { file: 'states/web.sls', line: 3 } }],
    };
    output.emit({ type: 'start', hosts: ['web1', 'web2'], fun: 'x.y' });
    for (const result of [large, wrong]) output.emit({ type: 'host', result });
    await output.finish();

    expect(said).toHaveLength(1);
    expect(said[0]).toContain('states/web.sls:3');
  },
);
