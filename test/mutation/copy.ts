import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../helpers/remove-folder.ts';

/** How a program ended. */
export type Ended = {
  readonly isOver: boolean;
  readonly code: number | null;
  readonly said: string;
};

const mostOutput = 20_000;
const notCopied = new Set(['node_modules', '.git', 'dist', 'coverage']);

/**
 * A copy of the project in which guards are removed, so that the caller's files stay as they are.
 * Its packages are links to those of the project.
 */
export class ProjectCopy {
  readonly root: string;
  readonly #folder: string;
  /** Open to all users as /tmp is: tests change users. */
  readonly #temporary: string;
  readonly #signal: AbortSignal;
  readonly #buildSeconds: number;

  constructor(project: string, signal: AbortSignal, buildSeconds: number) {
    this.#signal = signal;
    this.#buildSeconds = buildSeconds;
    this.#folder = mkdtempSync(join(tmpdir(), 'tsalt-mu-'));
    this.#temporary = mkdtempSync(join(tmpdir(), 'tsalt-mu-'));
    chmodSync(this.#temporary, 0o1777);
    this.root = join(this.#folder, 'project');
    mkdirSync(this.root);
    for (const name of readdirSync(project))
      if (!notCopied.has(name))
        cpSync(join(project, name), join(this.root, name), {
          recursive: true,
          verbatimSymlinks: true,
        });
    const packages = join(this.root, 'node_modules');
    mkdirSync(packages);
    for (const name of readdirSync(join(project, 'node_modules')))
      if (!name.startsWith('.vite'))
        symlinkSync(join(project, 'node_modules', name), join(packages, name));
  }

  /** Where the copy has a file of the project. */
  path(name: string): string {
    return join(this.root, name);
  }

  /**
   * Runs a program of Node in the copy. When it ends, is aborted or its time is over, everything
   * that it started is ended too.
   *
   * @param args the arguments of Node
   * @param seconds the time that it has
   */
  async node(args: readonly string[], seconds: number): Promise<Ended> {
    this.#signal.throwIfAborted();
    const child = spawn(process.execPath, args, {
      cwd: this.root,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, TMPDIR: this.#temporary, TSALT_MUTATION: this.#folder },
    });
    let said = '';
    const hear = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-mostOutput);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    let isOver = false;
    const end = (): void => {
      if (child.pid !== undefined) killGroup(child.pid);
    };
    const timer = setTimeout(() => {
      isOver = true;
      end();
    }, seconds * 1000);
    this.#signal.addEventListener('abort', end);
    try {
      const code = await new Promise<number | null>((resolve, reject) => {
        child.on('error', reject);
        child.on('exit', resolve);
      });
      this.#signal.throwIfAborted();
      return { isOver, code, said };
    } finally {
      clearTimeout(timer);
      this.#signal.removeEventListener('abort', end);
      end();
      this.#endLeftovers();
    }
  }

  /** Builds the command line from the copy's files as they are now. */
  async build(): Promise<void> {
    const { code, isOver, said } = await this.node(['scripts/build.mjs'], this.#buildSeconds);
    if (isOver) throw new Error(`the build did not end within ${this.#buildSeconds} s`);
    if (code !== 0) throw new Error(`the command line could not be built:\n${said}`);
  }

  /**
   * Does some work while a text of a file is replaced.
   *
   * @param breakage the change; with `isBuilt` the command line is built with it
   * @param work is run while the change is in force
   */
  async with<T>(
    breakage: { file: string; find: string; replace: string; isBuilt?: true },
    work: () => Promise<T>,
  ): Promise<T> {
    const path = this.path(breakage.file);
    const text = readFileSync(path, 'utf8');
    const built = this.path('dist');
    const kept = this.path('dist.kept');
    writeFileSync(path, text.split(breakage.find).join(breakage.replace));
    if (breakage.isBuilt) renameSync(built, kept);
    try {
      if (breakage.isBuilt) await this.build();
      return await work();
    } finally {
      writeFileSync(path, text);
      if (breakage.isBuilt) {
        rmSync(built, { recursive: true, force: true });
        renameSync(kept, built);
      }
    }
  }

  /** Ends what tests have left, and removes the copy. */
  remove(): void {
    this.#endLeftovers();
    removeFolder(this.#folder);
    removeFolder(this.#temporary);
  }

  /** A guard that ends processes may be the one that was removed. */
  #endLeftovers(): void {
    const marks = [this.#folder, this.#temporary];
    for (const pid of processes()) {
      const seen = ['environ', 'cmdline'].map(name => readOf(pid, name)).join('\0');
      if (pid !== process.pid && marks.some(mark => seen.includes(mark))) kill(pid);
    }
  }
}

const processes = (): number[] => {
  try {
    return readdirSync('/proc')
      .filter(name => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
};

const readOf = (pid: number, name: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
};

const kill = (pid: number): void => {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
};

const killGroup = (pid: number): void => kill(-pid);
