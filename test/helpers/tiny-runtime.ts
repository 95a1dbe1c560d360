// The smallest runtime that speaks the protocol: what the transport's tests push to their hosts.
// It answers as the real one does; see src/runtime/main.ts.
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { userInfo } from 'node:os';
import { isatty } from 'node:tty';
import { protocolVersion } from '../../src/protocol/job.ts';
import { Peer, WithContent } from '../../src/protocol/peer.ts';

declare const TS: { sha: string; pre: Buffer; dir: string; isFree?: () => boolean };

TS.isFree = () => true;

const write = (bytes: Uint8Array): undefined => {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') process.exit(0);
    }
  }
  return undefined;
};

const stdin = isatty(0) ? process.stdin : new Socket({ fd: 0, readable: true, writable: false });
let frozen = false;
const peer = new Peer({
  write,
  handlers: {
    echo: (params: unknown) => params,
    env: () => ({ ...process.env, pid: process.pid, argv: process.argv, umask: process.umask() }),
    dir: () => TS.dir,
    bytes: ({ count }: { count: number }) =>
      new WithContent({ count }, new Uint8Array(count).fill(7)),
    pull: async ({ method, params }: { method: string; params: unknown }) => {
      let size = 0;
      const value = await peer.request(method, params, chunk => {
        size += chunk.length;
      });
      return { value, size };
    },
    raw: ({ text }: { text: string }) => {
      write(Buffer.from(text, 'latin1'));
    },
    crash: () => process.exit(3),
    freeze: () => {
      frozen = true;
    },
  },
  events: {
    ping: () => {
      if (!frozen) void peer.event('pong', null);
    },
    pong: () => undefined,
  },
});
stdin.on('data', chunk => peer.receive(chunk));
stdin.on('close', () => process.exit(0));
void peer.event('hello', {
  protocol: protocolVersion,
  node: process.version,
  pid: process.pid,
  user: userInfo().username,
  grains: {},
});
if (TS.pre.length > 0) void peer.receive(TS.pre);
