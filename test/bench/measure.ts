import { spawn } from 'node:child_process';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export type Row = { readonly name: string; readonly [figure: string]: string | number };

/** Milliseconds one process takes, start to end. Throws when it fails. */
export const timeProcess = (
  argv: readonly string[],
  env: Record<string, string>,
  cwd?: string,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const [command = '', ...args] = argv;
    const begin = performance.now();
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', chunk => {
      output += String(chunk);
    });
    child.stderr.on('data', chunk => {
      output += String(chunk);
    });
    child.on('error', reject);
    child.on('close', code => {
      if (code === 0) resolve(performance.now() - begin);
      else reject(new Error(`${argv.join(' ')} ended with ${code}: ${output.slice(0, 2000)}`));
    });
  });

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};

/** Runs several commands in turn, so that a busy minute falls on all of them alike. */
export const interleave = async (
  runs: number,
  commands: Readonly<Record<string, () => Promise<number>>>,
): Promise<Record<string, number[]>> => {
  const times: Record<string, number[]> = Object.fromEntries(
    Object.keys(commands).map(name => [name, []]),
  );
  for (let run = 0; run < runs; run += 1)
    for (const [name, command] of Object.entries(commands)) times[name]?.push(await command());
  return times;
};

export type Counts = { connections: number; up: number; down: number };

/** Counts what goes through to a port of this machine, `delay` milliseconds later each way. */
export const countingProxy = async (
  target: number,
  delay = 0,
): Promise<{ port: number; counts: Counts; close: () => Promise<void> }> => {
  const counts: Counts = { connections: 0, up: 0, down: 0 };
  const sockets = new Set<Socket>();
  const server = createServer(client => {
    counts.connections += 1;
    const upstream = connect({ port: target, host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.on('data', chunk => {
      counts.up += chunk.length;
    });
    upstream.on('data', chunk => {
      counts.down += chunk.length;
    });
    pass(client, upstream, delay);
    pass(upstream, client, delay);
  });
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    counts,
    close: () =>
      new Promise(resolve => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
};

const pass = (from: Socket, to: Socket, delay: number): void => {
  if (delay === 0) {
    from.pipe(to);
    return;
  }
  from.on('data', chunk => setTimeout(() => to.write(chunk), delay));
  from.on('end', () => setTimeout(() => to.end(), delay));
};

/** A table for people; the first column is the name. */
export const tableOf = (rows: readonly Row[]): string => {
  const heads = [...new Set(rows.flatMap(row => Object.keys(row)))];
  const cells = [heads, ...rows.map(row => heads.map(head => String(row[head] ?? '')))];
  const widths = heads.map((_, at) => Math.max(...cells.map(line => (line[at] ?? '').length)));
  return cells
    .map(line =>
      line
        .map((cell, at) =>
          at === 0 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
        )
        .join('  '),
    )
    .join('\n');
};
