import { spawn } from 'node:child_process';
import type { Data, Dict } from '../../data/values/value.ts';
import { checkProgram } from '../../trust/program.ts';
import type { SdbDriver, SdbWorld } from '../driver.ts';

/**
 * `driver: cmd`: programs that read, store and remove values, as lists of arguments in which `%s`
 * is replaced by the key. `set` gets the value on its standard input.
 */
export const cmdDriver: SdbDriver = {
  get: async (key, profile, world) => (await run('get', key, profile, world)).replace(/\r?\n$/, ''),
  set: async (key, value, profile, world) => {
    await run('set', key, profile, world, String(value));
    return true;
  },
  delete: async (key, profile, world) => {
    await run('delete', key, profile, world);
    return true;
  },
};

const run = (
  verb: 'get' | 'set' | 'delete',
  key: string,
  profile: Dict,
  { dir, env }: SdbWorld,
  input = '',
): Promise<string> => {
  const words = argvOf(verb, profile.get(verb));
  checkKey(key, words);
  const [program = '', ...args] = words.map(word => word.replaceAll('%s', () => key));
  checkProgram([program, ...args], dir, `The '${verb}' of an sdb profile`);
  const { promise, resolve, reject } = withResolvers<string>();
  const child = spawn(program, args, {
    cwd: dir,
    env: Object.fromEntries(env),
    stdio: ['pipe', 'pipe', 'ignore'],
    timeout: 60_000,
  });
  const output: Buffer[] = [];
  let size = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > most) child.kill();
    else output.push(chunk);
  });
  child.on('error', error =>
    reject(new Error(`'${program}' could not be started (${String(Reflect.get(error, 'code'))})`)),
  );
  child.on('close', (code, signal) => {
    if (code === 0 && size <= most) resolve(Buffer.concat(output).toString('utf8'));
    else if (size > most) reject(new Error(`'${program}' printed more than 1 MiB`));
    else
      reject(
        new Error(
          code === null
            ? `'${program}' was ended by ${String(signal)}`
            : `'${program}' ended with ${code}`,
        ),
      );
  });
  // A program may ignore its input.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  return promise;
};

/** A template may choose the key, so it must not become an option of the program. */
const checkKey = (key: string, words: readonly string[]): void => {
  const at = words.findIndex(word => word.startsWith('%s'));
  const end = words.indexOf('--');
  if (key.startsWith('-') && at >= 0 && (end < 0 || end > at))
    throw new Error("a key must not begin with '-' (unless its profile has '--' before %s)");
};

const most = 1024 * 1024;

const argvOf = (verb: string, value: Data | undefined): string[] => {
  if (value === undefined) throw new Error(`its profile has no '${verb}'`);
  const words = Array.isArray(value) ? value.map(String) : [];
  if (words.length > 0) return words;
  throw new Error(`'${verb}' of its profile must be a list: [PROGRAM, ARGUMENT, …]`);
};

const withResolvers = <T>() => {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
};
