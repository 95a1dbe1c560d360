import { messageOf, TsaltError } from '../../protocol/error.ts';
import { checkTrusted } from '../../trust/check.ts';
import { parseRosterJson } from '../json.ts';
import { runRosterProgram } from '../program.ts';
import type { BackendHosts } from '../roster.ts';
import { entriesOf } from './flat.ts';

// Descriptor 3 carries the result, so the module may print anything.
const footer = `
;(async given => {
  const { writeFileSync } = require('node:fs');
  const hosts = given.default ?? given.hosts;
  if (hosts === undefined) throw new Error('it exports neither default nor hosts');
  const value = typeof hosts === 'function' ? await hosts() : hosts;
  const plain = (key, item) => (item instanceof Map ? Object.fromEntries(item) : item);
  writeFileSync(3, JSON.stringify(value, plain));
  process.exit(0);
})(module.exports).catch(error => {
  process.stderr.write(String(error instanceof Error ? error.message : error));
  process.exit(1);
});
`;

/**
 * Reads a TypeScript or JavaScript module: its default export (or `hosts`) is a flat roster, or a
 * function that returns one, also asynchronously.
 */
export const module = async (file: string): Promise<BackendHosts> => {
  const code = await compile(file);
  const text = await runRosterProgram({
    file: process.execPath,
    args: ['-'],
    source: file,
    stdin: `${code}${footer}`,
    answer: 3,
  });
  return { entries: entriesOf(parseRosterJson(text, file), file) };
};

const compile = async (file: string): Promise<string> => {
  const { build } = await import('esbuild');
  try {
    const result = await build({
      entryPoints: [file],
      bundle: true,
      packages: 'external',
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      write: false,
      metafile: true,
      logLevel: 'silent',
    });
    for (const input of Object.keys(result.metafile.inputs))
      checkTrusted(input, 'What the roster module imports');
    return result.outputFiles[0]?.text ?? '';
  } catch (cause) {
    throw cause instanceof TsaltError ? cause : compileError(cause, file);
  }
};

type BuildMessage = {
  readonly text: string;
  readonly location: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  } | null;
};

const compileError = (cause: unknown, file: string): TsaltError => {
  const errors =
    cause instanceof Error && 'errors' in cause && Array.isArray(cause.errors)
      ? (cause.errors as BuildMessage[])
      : [];
  const [first] = errors;
  const reason = first?.text ?? messageOf(cause);
  const location = first?.location;
  return new TsaltError('roster-module', `The roster module cannot be read: ${reason}.`, {
    at: location ? { file, line: location.line, column: location.column + 1 } : { file },
    cause,
  });
};
