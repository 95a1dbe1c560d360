import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ArtifactStart } from '../../src/protocol/artifact-head.ts';
import { Peer, type PeerOptions } from '../../src/protocol/peer.ts';

/** Runs the head of an artifact as the loader does: the body of a function, with bytes read ahead. */
const bootstrap = `
  const [, path, given, pre] = process.argv;
  const whole = require('fs').readFileSync(path, 'latin1');
  const text = whole.slice(0, Number(whole.slice(2, 12)) || undefined);
  const script = new (require('vm').Script)('(function(require,process,TS){' + text + '\\n})', { filename: path });
  const opened = require('fs').openSync(path);
  const shared = { ...JSON.parse(given), file: path, opened, pre: Buffer.from(pre, 'base64') };
  script.runInThisContext()(require, process, shared);
`;

/** Values that the artifact gets from the loader. */
export type Given = Pick<ArtifactStart, 'dir' | 'cacheFile' | 'wipe'>;

/** A runtime in a process of this machine, and the other end of its wire. */
export type ArtifactProcess = {
  readonly peer: Peer;
  /** Starts it: what was sent before comes with its start. */
  readonly start: () => ChildProcess;
  /** Ends the wire, and waits until the process has ended. */
  readonly end: () => Promise<void>;
};

/** Prepares an artifact to run. */
export const artifactProcess = (
  path: string,
  given: Given,
  { events, explain }: Partial<Pick<PeerOptions, 'events' | 'explain'>> = {},
): ArtifactProcess => {
  const early: Uint8Array[] = [];
  let child: ChildProcess | undefined;
  let exited: Promise<unknown> | undefined;
  const ignore = (): void => {};
  const peer = new Peer({
    write: bytes => {
      if (child) child.stdin?.write(bytes);
      else early.push(bytes);
      return undefined;
    },
    handlers: {},
    explain,
    events: {
      ...{ hello: ignore, log: ignore, output: ignore, 'state-start': ignore, state: ignore },
      ...events,
    },
  });
  return {
    peer,
    start: () => {
      const sha = createHash('sha256').update(readFileSync(path)).digest('hex');
      const pre = Buffer.concat(early).toString('base64');
      const started = spawn(
        process.execPath,
        ['-e', bootstrap, path, JSON.stringify({ sha, ...given }), pre],
        { stdio: ['pipe', 'pipe', 'inherit'] },
      );
      exited = new Promise(resolve => started.on('exit', resolve));
      started.stdout?.on('data', (bytes: Buffer) => peer.receive(bytes));
      child = started;
      return started;
    },
    end: async () => {
      child?.stdin?.end();
      await exited;
    },
  };
};
