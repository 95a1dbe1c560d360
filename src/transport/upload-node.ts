import { createReadStream } from 'node:fs';
import { program } from '../loader/programs.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Phase } from '../protocol/event.ts';
import type { Host } from '../protocol/host.ts';
import type { Become } from './become.ts';
import { BootstrapExchange, secondsToSend } from './bootstrap-exchange.ts';
import type { HandshakeMessage } from './handshake-messages.ts';
import type { Mirror } from './node-mirror.ts';
import type { NodeSource, Platform } from './node-source.ts';
import { quoteForAnyShell, shCommand } from './shell.ts';
import type { Connection } from './transport.ts';
import { readable } from './unreachable.ts';

export type UploadOptions = {
  readonly connection: Connection;
  readonly host: Host;
  readonly platform: Platform;
  readonly suffix: string;
  readonly become: Become;
  readonly nodeSource?: NodeSource;
  readonly onPhase?: (phase: Phase, detail?: string) => void;
  readonly signal?: AbortSignal;
};

/** Seconds for hashing and unpacking 100 MB on a small host, after the last byte was sent. */
const unpackSeconds = 120;

/** Bytes that the system and SSH may still buffer. */
const mostBuffered = 8 * 1024 * 1024;

/** Seconds for 40 MB over a slow line. */
const downloadSeconds = 900;

/**
 * Sends a Node binary to a host that has none, with a separate command: streams it, checks it by
 * hash and by running it, then renames it into place.
 * @throws {TsaltError} kind `host`: no binary for its platform, no space, or it does not run there
 */
export const uploadNode = async (options: UploadOptions): Promise<void> => {
  const { connection, host, platform, become, suffix, signal, onPhase } = options;
  if (!options.nodeSource) throw noSource(host);
  const mirror = options.nodeSource.mirror?.(platform);
  if (mirror && (await pulled(options, mirror))) return;
  onPhase?.('upload-node', '0%');
  const node = await options.nodeSource.find(platform, host.id);
  const { pty } = become;
  const command = shCommand(program('take-node'), [
    quoteForAnyShell(host.thin_dir ?? '', 'thin_dir'),
    `'${suffix}'`,
    `'${node.sha256}'`,
    `'${node.gzSize}'`,
    // A terminal in raw mode has no end of file.
    pty ? "'count'" : "''",
  ]);
  const channel = await connection.exec(become.wrap(command), { pty });
  const conversation = new BootstrapExchange(connection, channel, become);
  try {
    expectWord(host, await conversation.next(host.timeout, signal), 'SEND');
    let sent = 0;
    let shown = 0;
    for await (const chunk of createReadStream(node.gz, { highWaterMark: 256 * 1024 })) {
      const bytes = chunk as Buffer;
      await conversation.write(bytes);
      if (conversation.over) break;
      sent += bytes.length;
      const percent = Math.floor((sent * 100) / node.gzSize);
      if (percent > shown) onPhase?.('upload-node', `${percent}%`);
      shown = percent;
    }
    if (!pty) channel.stdin.end();
    const waiting = secondsToSend(Math.min(node.gzSize, mostBuffered));
    expectWord(host, await conversation.next(unpackSeconds + waiting, signal), 'DONE');
    await conversation.settle();
  } finally {
    conversation.close(undefined);
  }
};

/** Lets the host download Node itself. @returns false if it cannot reach the mirror */
const pulled = async (options: UploadOptions, mirror: Mirror): Promise<boolean> => {
  const { connection, host, become, suffix, signal, onPhase } = options;
  onPhase?.('upload-node', 'from the mirror');
  const command = shCommand(program('pull-node'), [
    quoteForAnyShell(host.thin_dir ?? '', 'thin_dir'),
    `'${suffix}'`,
    `'${mirror.sha256}'`,
    quoteForAnyShell(mirror.url, 'node_mirror'),
    quoteForAnyShell(mirror.inside, 'node_mirror'),
  ]);
  const channel = await connection.exec(become.wrap(command), { pty: become.pty });
  const conversation = new BootstrapExchange(connection, channel, become);
  try {
    const said = await conversation.next(downloadSeconds, signal);
    const [word, reason] = said.by === 'shell' ? said.words : [];
    if (word === 'FAILED' && reason === 'hash') throw wrongMirror(host, mirror);
    const fetched = word !== 'FAILED' || reason !== 'fetch';
    if (fetched) expectWord(host, said, 'DONE');
    await conversation.settle();
    return fetched;
  } finally {
    conversation.close(undefined);
  }
};

const wrongMirror = (host: Host, { url }: Mirror): TsaltError =>
  new TsaltError(
    'node-integrity',
    `${host.id}: the file from ${url} has a different hash; it was not run.`,
    {
      kind: 'host',
      hint: 'Compare sha256 in node_mirror with SHASUMS256.txt of that release.',
    },
  );

const expectWord = (host: Host, said: HandshakeMessage, wanted: string): void => {
  const words = said.by === 'shell' ? said.words : [];
  if (words[0] === wanted) return;
  const [word, reason = '', ...rest] = words;
  const text = readable(rest.join(' '), 300);
  if (word === 'FAILED' && reason === 'place')
    throw new TsaltError(
      'node-place',
      `${host.id}: no directory on the host can take Node: each is full, unwritable or mounted noexec.`,
      {
        kind: 'host',
        hint: 'Set thin_dir to a directory with 150 MB of room, or node_bin to a Node.',
      },
    );
  if (word === 'FAILED' && reason === 'run')
    throw new TsaltError('node-run', `${host.id}: Node does not run there: ${text}.`, {
      kind: 'host',
      hint: 'Install Node 18 or later there, or set node_bin in the roster.',
    });
  throw new TsaltError('node-upload', `${host.id}: Node did not arrive whole.`, {
    kind: 'host',
    hint: 'Is there room for 150 MB in the workspace?',
  });
};

const noSource = (host: Host): TsaltError =>
  new TsaltError('node-missing', `${host.id}: there is no Node 18 or later on the host.`, {
    kind: 'host',
    hint: 'Install one there, or set node_bin in the roster.',
  });
