import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from './remove-folder.ts';

export const hasProgram = (name: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;

export const hasTmux = hasProgram('tmux');

/** A program at a terminal, as a person uses it. */
export type Tmux = {
  /** Types text as it is. */
  readonly type: (text: string) => void;
  /** Presses keys by tmux's names: `Tab`, `Enter`, `C-c`. */
  readonly press: (...keys: string[]) => void;
  readonly screen: () => string;
  /** Waits until the screen shows this; throws with the screen otherwise. */
  readonly shows: (expected: RegExp) => Promise<string>;
  /** Waits until the program has ended, and returns its exit code. */
  readonly ended: () => Promise<number>;
  readonly resize: (columns: number, rows: number) => void;
  readonly close: () => void;
};

/** Starts a program in a terminal of 100 columns and 30 rows, unless a size is given. */
export const startTmux = (
  command: readonly string[],
  {
    cwd,
    env = {},
    columns = 100,
    rows = 30,
  }: { cwd: string; env?: Readonly<Record<string, string>>; columns?: number; rows?: number },
): Tmux => {
  // Sockets have short paths.
  const dir = mkdtempSync(join(tmpdir(), 'tmux-'));
  const socket = join(dir, 's');
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...env, TERM: 'xterm-256color', LC_ALL: 'C.UTF-8' },
    });
  tmux('new-session', '-d', '-x', `${columns}`, '-y', `${rows}`, '-c', cwd, ...command);
  tmux('set-option', '-g', 'remain-on-exit', 'on');
  const screen = (): string => tmux('capture-pane', '-p').trimEnd();
  return {
    type: text => void tmux('send-keys', '-l', text),
    press: (...keys) => void tmux('send-keys', ...keys),
    screen,
    shows: async expected => {
      for (const end = Date.now() + 60_000; ; ) {
        const now = screen();
        if (expected.test(now)) return now;
        if (Date.now() > end) throw new Error(`The screen never showed ${expected}:\n${now}`);
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    },
    ended: async () => {
      const server = Number(tmux('display-message', '-p', '#{pid}'));
      for (const end = Date.now() + 60_000; ; ) {
        const [dead, status] = tmux('list-panes', '-F', '#{pane_dead} #{pane_dead_status}')
          .trim()
          .split(' ');
        if (dead === '1' && status) return Number(status);
        // tmux learns the status by a signal, which may come before it has noted the end.
        if (dead === '1') process.kill(server, 'SIGCHLD');
        if (Date.now() > end) throw new Error(`The program did not end:\n${screen()}`);
        await new Promise(resolve => setTimeout(resolve, 50));
      }
    },
    resize: (columns, rows) =>
      void tmux('resize-window', '-x', String(columns), '-y', String(rows)),
    close: () => {
      tmux('kill-server');
      removeFolder(dir);
    },
  };
};
