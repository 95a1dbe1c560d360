import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Passes connections on to a port; stands still when it is told so. */
const script = `
const net = require('net');
const up = [0], down = [0];
const server = net.createServer(client => {
  const target = net.connect({ port: Number(process.argv[1]), host: '127.0.0.1', noDelay: true });
  client.setNoDelay(true);
  client.on('data', chunk => { up[0] += chunk.length; });
  target.on('data', chunk => { down[0] += chunk.length; });
  client.on('error', () => target.destroy());
  target.on('error', () => client.destroy());
  client.pipe(target).pipe(client);
});
process.on('message', said => {
  if (said === 'stop') {
    process.send('stopped');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(process.argv[2]));
  } else {
    process.send({ up: up[0], down: down[0] });
    up[0] = down[0] = 0;
  }
});
server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => process.send(server.address().port));
`;

/** A port on loopback that is slow to take connections, as that of a host far away. */
export type FarPort = {
  readonly port: number;
  /** For a second or more, no connection is taken: the system tries again later. */
  readonly standStill: () => Promise<void>;
  /** Returns the bytes since the last call. */
  readonly counts: () => Promise<{ up: number; down: number }>;
  readonly close: () => Promise<void>;
};

/** Milliseconds: the system tries after one second and after three. */
const still = 2500;

/** Opens such a port before another one. */
export const startFarPort = async (target: number): Promise<FarPort> => {
  const child: ChildProcess = spawn(
    process.execPath,
    ['-e', script, String(target), String(still)],
    {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    },
  );
  const said = async <T>(): Promise<T> => (await once(child, 'message'))[0] as T;
  const port = await said<number>();
  const fillers: Socket[] = [];
  return {
    port,
    standStill: async () => {
      child.send('stop');
      await said();
      // They wait in the queue of the system, which then is full.
      for (let count = 0; count < 2; count += 1) {
        const filler = connect({ port, host: '127.0.0.1' });
        filler.on('error', () => undefined);
        fillers.push(filler);
        await once(filler, 'connect');
      }
    },
    counts: async () => {
      child.send('counts');
      return await said();
    },
    close: async () => {
      for (const filler of fillers) filler.destroy();
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
};
