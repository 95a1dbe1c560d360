import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { makeTempFolder, removeTemp } from '../_shared/files/temporary.ts';
import { CommandExecutionError } from '../api.ts';
import { dialEngine } from './docker-engine.ts';

/**
 * Calls `work` with environment variables that make a docker program reach the engine through this
 * process, which adds the logging options to each container that is created. So these options are
 * not visible as arguments. The socket is in a folder that only this user can enter.
 */
export const withLogOptions = async <T>(
  options: Readonly<Record<string, string>>,
  work: (env: Readonly<Record<string, string | null>>) => Promise<T>,
): Promise<T> => {
  const folder = makeTempFolder('.tsalt-');
  const socket = join(folder, 'docker');
  const relay = createServer((asked, answer) => {
    pass(asked, answer, options).catch(error => {
      if (answer.headersSent || answer.destroyed) return;
      answer.writeHead(502, { 'content-type': 'application/json' });
      answer.end(JSON.stringify({ message: String(error.message) }));
    });
  });
  try {
    await new Promise<void>((resolve, reject) => {
      relay.once('error', reject);
      relay.listen(socket, resolve);
    });
    return await work({
      DOCKER_HOST: `unix://${socket}`,
      DOCKER_CONTEXT: null,
      DOCKER_TLS: null,
      DOCKER_TLS_VERIFY: null,
    });
  } finally {
    relay.closeAllConnections();
    relay.close();
    removeTemp(folder);
  }
};

const pass = async (
  asked: IncomingMessage,
  answer: ServerResponse,
  options: Readonly<Record<string, string>>,
): Promise<void> => {
  const { method, url = '/' } = asked;
  const headers = { ...asked.headers, connection: 'close' };
  const isCreation = method === 'POST' && /^(?:\/v[\d.]+)?\/containers\/create(?:\?|$)/.test(url);
  const body = isCreation ? withOptions(await textOf(asked), options) : undefined;
  if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
  const { connection, said, close } = dialEngine();
  answer.once('close', close);
  const onward = request({ method, path: url, headers, createConnection: () => connection });
  const told = new Promise<IncomingMessage>((resolve, reject) => {
    onward.once('response', resolve);
    onward.on('error', error => reject(new CommandExecutionError(said() || error.message)));
  });
  if (body === undefined) asked.pipe(onward);
  else onward.end(body);
  const message = await told;
  answer.writeHead(message.statusCode ?? 502, message.headers);
  message.pipe(answer);
};

const textOf = async (asked: IncomingMessage): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of asked) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
};

type Creation = {
  HostConfig?: { LogConfig?: { Config?: Record<string, string> | null } };
};

const withOptions = (body: string, options: Readonly<Record<string, string>>): string => {
  const container = JSON.parse(body) as Creation;
  const host = container.HostConfig ?? {};
  const log = host.LogConfig ?? {};
  return JSON.stringify({
    ...container,
    HostConfig: { ...host, LogConfig: { ...log, Config: { ...log.Config, ...options } } },
  });
};
