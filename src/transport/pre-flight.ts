import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { program } from '../loader/programs.ts';
import { TsaltError } from '../protocol/error.ts';
import type { Phase } from '../protocol/event.ts';
import type { Host } from '../protocol/host.ts';
import { checkTrusted } from '../trust/check.ts';
import type { Become } from './become.ts';
import { BootstrapExchange } from './bootstrap-exchange.ts';
import type { HandshakeMessage } from './handshake-messages.ts';
import { posixQuote, quoteForAnyShell, shCommand } from './shell.ts';
import type { Connection } from './transport.ts';
import { readable } from './unreachable.ts';

export type PreFlightOptions = {
  readonly connection: Connection;
  readonly host: Host;
  readonly suffix: string;
  readonly become: Become;
  /** Run it even if this script has already run with these arguments. */
  readonly preFlight?: boolean;
  readonly onPhase?: (phase: Phase, detail?: string) => void;
  readonly signal?: AbortSignal;
};

/** Seconds; it may install packages over a slow line. */
const longestScript = 3600;

/**
 * Runs the roster's `ssh_pre_flight` on a host, once per script and arguments: sends it into a
 * private directory with a random name, checks its hash, runs it and removes it.
 * @throws {TsaltError} kind `host`: the script cannot be read, did not arrive, or failed
 */
export const runPreFlight = async (options: PreFlightOptions): Promise<void> => {
  const { connection, host, become, suffix, signal, onPhase } = options;
  onPhase?.('pre-flight');
  const script = await readScript(host);
  const start = Buffer.from(startText(host.ssh_pre_flight_args ?? []));
  const bytes = Buffer.concat([script, start]);
  const command = shCommand(program('pre-flight'), [
    quoteForAnyShell(host.thin_dir ?? '', 'thin_dir'),
    `'${suffix}'`,
    `'${createHash('sha256').update(bytes).digest('hex')}'`,
    `'${randomBytes(16).toString('hex')}'`,
    options.preFlight ? "'always'" : "''",
    `'${script.length}'`,
    `'${bytes.length}'`,
    quoteForAnyShell(host.set_path ?? '', 'set_path'),
  ]);
  const channel = await connection.exec(become.wrap(command), { pty: become.pty });
  const conversation = new BootstrapExchange(connection, channel, become);
  try {
    const first = wordOf(host, await conversation.next(host.timeout, signal));
    if (first === 'DONE before') return await conversation.settle();
    await conversation.write(bytes);
    const last = wordOf(host, await conversation.next(longestScript, signal));
    if (last === 'DONE 0') return await conversation.settle();
    const output = [conversation.noise, conversation.stderr].filter(text => text !== '');
    throw new TsaltError(
      'pre-flight-failed',
      `${host.id}: the pre-flight script ${host.ssh_pre_flight} ended with status ${last.slice(5)}; nothing else was done.`,
      { kind: 'host', excerpt: output.join('\n') },
    );
  } finally {
    conversation.close(undefined);
  }
};

const readScript = async (host: Host): Promise<Buffer> => {
  const path = host.ssh_pre_flight ?? '';
  checkTrusted(path, `${host.id}: The pre-flight script`);
  return await readFile(path).catch((cause: NodeJS.ErrnoException) => {
    throw new TsaltError(
      'pre-flight-missing',
      `${host.id}: the pre-flight script ${path} cannot be read: ${cause.code}.`,
      { kind: 'host', cause, hint: 'The roster key ssh_pre_flight names a file of this machine.' },
    );
  });
};

/**
 * Returns the command that starts the script. Its arguments are sent as a file, so that no login
 * shell interprets them.
 */
const startText = (args: readonly string[]): string =>
  `exec "$1" ${args.map(posixQuote).join(' ')}\n`;

const wordOf = (host: Host, said: HandshakeMessage): string => {
  const words = said.by === 'shell' ? said.words : [];
  const [word = '', reason = ''] = words;
  if (word === 'SEND' || (word === 'DONE' && /^(\d{1,3}|before)$/.test(reason)))
    return word === 'SEND' ? word : `DONE ${reason}`;
  const why: Readonly<Record<string, string>> = {
    place: 'no directory on the host can take it: each is full, unwritable or mounted noexec',
    hash: 'it did not arrive whole, and was not run',
    tool: 'the host has no program to check its hash (sha256sum or openssl)',
  };
  throw new TsaltError(
    'pre-flight-upload',
    `${host.id}: the pre-flight script: ${(word === 'FAILED' && Object.hasOwn(why, reason) ? why[reason] : undefined) ?? `unknown answer ${readable(words.join(' '), 80)}`}.`,
    { kind: 'host' },
  );
};
