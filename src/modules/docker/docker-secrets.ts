import { withSecretFile } from '../_shared/files/secret-file.ts';
import { CommandExecutionError, type PlainDict } from '../api.ts';
import { withLogOptions } from './docker-relay.ts';
import type { DockerInput } from './docker-run.ts';

/** The environment variables that the docker program reads itself. */
const read = /^(?:PATH|HOME|DOCKER_.*|BUILDX?_.*|LD_.*|LC_.*|SSL_.*|[a-z]+_proxy)$/i;
/** Whether docker's files cannot hold a line: it would be cut, skipped or refused. */
const isOdd = (entry: string): boolean =>
  /[\r\n]|^[#\s]/.test(entry) || Buffer.byteLength(entry) > 60_000;

/** Logging options about sizes and names are not secret; any other may be a token or a password. */
const isOpenLogOption = (name: string): boolean =>
  /^(?:max-(?:size|file|buffer-size)|compress|mode|labels|labels-regex|env|env-regex|tag)$/.test(
    name,
  );

/**
 * Calls `work` with the arguments of a docker command, without its variables and labels: everybody
 * on the host can see arguments. They are passed in a file; values of several lines are passed in
 * the environment of the docker program. Docker supports neither for logging options: those are
 * added on the way to the engine.
 */
export const withHidden = async <T>(
  words: readonly string[],
  work: (words: string[], input: DockerInput) => Promise<T>,
): Promise<T> => {
  const end = words.indexOf('--') === -1 ? words.length : words.indexOf('--');
  const options = new Map<string, string>();
  const open = words.filter((word, at) => {
    const [, name, value = ''] = /^--log-opt=([^=]+)=([\s\S]*)$/.exec(word) ?? [];
    if (at >= end || name === undefined || isOpenLogOption(name)) return true;
    options.set(name, value);
    return false;
  });
  if (options.size === 0) return withHiddenEntries(open, work);
  return withLogOptions(Object.fromEntries(options), relay =>
    withHiddenEntries(open, (rest, input) =>
      work(rest, { ...input, env: { ...input.env, ...relay } }),
    ),
  );
};

const withHiddenEntries = async <T>(
  words: readonly string[],
  work: (words: string[], input: DockerInput) => Promise<T>,
): Promise<T> => {
  const entries = { env: [] as string[], label: [] as string[] };
  const env: Record<string, string> = {};
  const open: string[] = [];
  const end = words.indexOf('--') === -1 ? words.length : words.indexOf('--');
  for (const word of words.slice(0, end)) {
    const [, kind, entry = ''] = /^--(env|label)=([\s\S]*)$/.exec(word) ?? [];
    const cut = entry.indexOf('=');
    const name = entry.slice(0, cut);
    if (kind === undefined || cut < 1) open.push(word);
    else if (!isOdd(entry)) entries[kind as 'env' | 'label'].push(entry);
    else if (kind === 'label') open.push(word);
    else if (read.test(name))
      throw new CommandExecutionError(
        `The variable ${name} of a container takes one line only: docker itself reads it too.`,
      );
    else {
      env[name] = entry.slice(cut + 1);
      open.push(`--env=${name}`);
    }
  }
  const files = (Object.keys(entries) as ('env' | 'label')[]).filter(
    kind => entries[kind].length > 0,
  );
  const next = async (left: typeof files, flags: string[]): Promise<T> => {
    const [kind, ...rest] = left;
    if (kind === undefined) return work([...flags, ...open, ...words.slice(end)], { env });
    return withSecretFile(`${entries[kind].join('\n')}\n`, undefined, path =>
      next(rest, [...flags, `--${kind}-file=${path}`]),
    );
  };
  return next(files, []);
};

/**
 * Returns build arguments whose values are not visible in the arguments: docker reads them from its
 * environment.
 */
export const hiddenArgs = (values: PlainDict): { words: string[]; env: Record<string, string> } => {
  const words: string[] = [];
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(values)) {
    // A variable that docker itself reads (a proxy) would affect docker too, so it stays an
    // argument.
    if (read.test(name)) words.push(`--build-arg=${name}=${value}`);
    else {
      env[name] = String(value);
      words.push(`--build-arg=${name}`);
    }
  }
  return { words, env };
};
