/** A host program as the artifact is one, with a few functions of its own. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runCommand } from '../../../src/modules/_shared/commands/run-command.ts';
import {
  __context__,
  __grains__,
  __low__,
  __opts__,
  __pillar__,
} from '../../../src/modules/api.ts';
import { serve } from '../../../src/runtime/serve/serve.ts';
import { tableRegistry } from './table-registry.ts';

const [, , dir = '', kind = ''] = process.argv;

let gathered = 0;

const nop = ({ name }: { name?: unknown }) => ({ name, changes: {}, result: true, comment: '' });

serve({
  sha: '',
  dir,
  isLazy: kind === 'lazy',
  isCallSent: kind === 'lazy',
  collectGrains: async () => ({
    id: 'h',
    os: 'Debian',
    username: 'me',
    shell: '/bin/sh',
    gathered: ++gathered,
  }),
  registry: tableRegistry({
    exec: {
      'saltutil.refresh_pillar': { params: '', run: () => true },
      'test.echo': { params: 'text', run: ({ text }) => text },
      'test.repeat': { params: 'times', run: ({ times }) => 'x'.repeat(Number(times)) },
      'test.later': { params: 'text', run: ({ text }) => sleep(50, text) },
      'test.noise': {
        params: '',
        run: () => {
          console.log('to the console');
          process.stdout.write('to stdout\n');
          return true;
        },
      },
      'test.retcode': {
        params: 'code',
        run: ({ code }) => {
          __context__.retcode = code;
          return 'left';
        },
      },
      'test.crash': {
        params: '',
        run: () => {
          setTimeout(() => {
            throw new Error('boom from a timer');
          }, 5);
          return sleep(5000);
        },
      },
      'test.grain': { params: 'key', run: ({ key }) => __grains__[String(key)] },
      'cmd.endless': {
        params: 'file',
        run: async ({ file }) => {
          for (;;) await runCommand({ command: `echo $$ >>${file}; exec sleep 60` });
        },
      },
      'cmd.retcode': {
        params: 'cmd, **',
        run: async ({ cmd }) => (await runCommand({ command: String(cmd) })).code,
      },
    },
    state: {
      'test.nop': { params: 'name, **', run: nop },
      'test.knows': {
        params: 'name, **',
        run: ({ name }) => ({
          name,
          changes: {},
          result: true,
          comment: `grains ${__grains__.gathered}, pillar ${__pillar__.k}`,
        }),
      },
      'test.restarts': {
        params: 'name, **',
        run: ({ name }) => ({ ...nop({ name }), restart: { boot: 'b', delay: 0, wait: 1 } }),
      },
      'test.strict': { params: 'name, known?', run: nop },
      'test.changes': {
        params: 'name, **',
        run: ({ name }) => ({
          name,
          changes: __opts__.test ? {} : { did: __low__.name },
          result: true,
          comment: 'done',
        }),
      },
      'cmd.run': {
        params: 'name, **',
        run: async ({ name }) => {
          const { code, stdout } = await runCommand({ command: String(name) });
          return { name, changes: { stdout }, result: code === 0, comment: `exit ${code}` };
        },
      },
      'file.once': {
        params: 'name, gate?, **',
        run: ({ name, gate }) => {
          const path = String(name);
          if (existsSync(path)) return nop({ name });
          writeFileSync(path, '');
          // A named pipe that nobody writes to: the whole process stands still.
          if (gate) readFileSync(String(gate));
          return { ...nop({ name }), changes: { made: path } };
        },
      },
      'narrow.nop': { params: 'name, **', run: nop },
      'narrow.mod_watch': { params: 'name', run: nop },
      'service.running': { params: 'name, **', run: nop },
      'service.mod_watch': {
        params: 'name, sfun?, **',
        run: ({ name }) => ({
          name,
          changes: { [String(name)]: true },
          result: true,
          comment: 'restarted',
        }),
      },
    },
  }),
});
