import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Config } from '../config/config.ts';
import { watchTree } from '../fileserver/watch-tree.ts';
import { openSession } from '../library/session.ts';
import { errorText } from '../output/message.ts';
import { oneLine } from '../output/text.ts';
import { TsaltError } from '../protocol/error.ts';
import { isFunctionName } from '../request/function-name.ts';
import type { Opened } from './commands.ts';
import { exitCode } from './exit-code.ts';
import { openGiven } from './open-given.ts';
import { runCall } from './run-call.ts';
import { print } from './standard-output.ts';

/** Milliseconds without a change before the run begins: editors write files in several steps. */
const quiet = 150;

/** Files that no run reads, or that a run writes. */
const ignored =
  /(?:^|\/)(?:\.git|node_modules|cache|\.cache)(?:\/|$)|(?:~|\.sw[a-z]|\.tmp|4913)$|(?:^|\/)\.#/;

/**
 * `watch TARGET FUNCTION …`: runs a function, and repeats it when a file of the project changes,
 * over connections and runtimes that stay open. Ctrl-C between runs ends it.
 */
export const watchCall = async (words: readonly string[], opened: Opened): Promise<number> => {
  if (words[0] === undefined || !isFunctionName(words[1] ?? ''))
    throw new TsaltError('usage-words', 'watch takes a target and a function.', {
      hint: "For example: tsalt-ssh watch 'web*' state.apply test=True",
    });
  const given = { ...opened.given, words };
  const session = openSession();
  const changes = new ProjectChanges(opened.config);
  let isOver = false;
  const end = (): void => {
    isOver = true;
    changes.end();
  };
  try {
    for (;;) {
      const now = await openGiven(given, opened.env).catch((error: unknown) => {
        process.stderr.write(`${errorText(error)}\n`);
      });
      if (now) {
        const code = await runCall(now, session);
        if (code === exitCode.interrupted) return code;
      }
      process.once('SIGINT', end);
      print('Waiting for a change of a file. Ctrl-C ends.\n');
      const changed = await changes.next();
      process.off('SIGINT', end);
      if (isOver) return exitCode.ok;
      print(`\n--- ${oneLine(relative(opened.config.dir, changed) || changed)} has changed\n`);
    }
  } finally {
    changes.end();
    session.close();
  }
};

/** Waits for changes of the files that runs of a project read. */
class ProjectChanges {
  readonly #closers: readonly (() => void)[];
  #changed: string | undefined;
  #wake: ((path: string) => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(config: Config) {
    const roots = [config.file_roots, config.pillar_roots].flatMap(one =>
      Object.values(one).flat(),
    );
    const folders = [...new Set([config.dir, ...roots])].filter(existsSync);
    const apart = folders.filter(
      folder => !folders.some(other => other !== folder && folder.startsWith(join(other, '/'))),
    );
    const isIgnored = (folder: string, path: string): boolean =>
      ignored.test(relative(folder, path)) || `${path}/`.startsWith(join(config.cachedir, '/'));
    this.#closers = apart.map(folder =>
      watchTree(
        folder,
        path => {
          if (!isIgnored(folder, path)) this.#see(path);
        },
        path => isIgnored(folder, path),
      ),
    );
  }

  /** Resolves with the next change, or with one since the last call. */
  next(): Promise<string> {
    return new Promise(resolve => {
      this.#wake = resolve;
      if (this.#changed !== undefined) this.#see(this.#changed);
    });
  }

  end(): void {
    clearTimeout(this.#timer);
    for (const close of this.#closers) close();
    this.#wake?.('');
  }

  #see(path: string): void {
    this.#changed = path;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const wake = this.#wake;
      if (wake === undefined) return;
      this.#wake = undefined;
      this.#changed = undefined;
      wake(path);
    }, quiet);
  }
}
