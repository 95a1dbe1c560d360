import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { Duplex } from 'node:stream';
import { which } from '../_shared/commands/which.ts';
import { CommandExecutionError, type PlainDict } from '../api.ts';

/** Opens a connection to the engine, wherever it is, through the docker program. */
export const dialEngine = (): {
  readonly connection: Duplex;
  /** The error output of the docker program. */
  readonly said: () => string;
  readonly close: () => void;
} => {
  const line = spawn(which('docker') ?? 'docker', ['system', 'dial-stdio'], { cwd: '/' });
  const connection = Duplex.from({ readable: line.stdout, writable: line.stdin });
  let said = '';
  line.stderr.on('data', (chunk: Buffer) => {
    said += chunk;
  });
  line.on('error', error => connection.destroy(error));
  // A pending request handles the error itself; after its response, the error does not matter.
  connection.on('error', () => undefined);
  return {
    connection,
    said: () => said.trim(),
    close: () => {
      line.stdin.end();
      line.kill();
    },
  };
};

/**
 * Sends a request to the engine directly, over the connection that the docker program opens, so the
 * data is not in any process's arguments.
 *
 * @throws CommandExecutionError with the engine's error message
 */
export const askEngine = (method: string, path: string, body: PlainDict): Promise<PlainDict> =>
  new Promise((resolve, reject) => {
    const { connection, said, close } = dialEngine();
    const end = (error: Error | undefined, answer: PlainDict): void => {
      close();
      if (error) reject(new CommandExecutionError(said() || error.message));
      else resolve(answer);
    };
    const text = JSON.stringify(body);
    const asked = request(
      {
        method,
        path,
        headers: { host: 'docker', 'content-type': 'application/json', connection: 'close' },
        createConnection: () => connection,
      },
      answer => {
        let got = '';
        answer.setEncoding('utf8');
        answer.on('data', (chunk: string) => {
          got += chunk;
        });
        answer.on('end', () => {
          const { statusCode = 0 } = answer;
          const value = readJson(got);
          if (statusCode < 300) end(undefined, value);
          else end(new Error(String(value.message ?? `The engine answered ${statusCode}`)), {});
        });
      },
    );
    asked.on('error', error => end(error, {}));
    asked.end(text);
  });

const readJson = (text: string): PlainDict => {
  try {
    return text === '' ? {} : (JSON.parse(text) as PlainDict);
  } catch {
    return {};
  }
};
