import { setMaxListeners } from 'node:events';
import type { ListrTask } from 'listr2';
import type { RunEvent } from '../protocol/event.ts';
import { createProgress, type Row } from './progress.ts';

/** Progress on a terminal. */
export type Live = {
  readonly emit: (event: RunEvent) => void;
  /** Removes it from the screen; returns a function that restores it. */
  readonly pause: () => Promise<() => void>;
  readonly stop: () => Promise<void>;
};

/** The terminal. */
type Screen = Pick<NodeJS.WriteStream, 'rows' | 'on' | 'off'>;

/** Returns the lines for progress: prompt and cursor need some. */
const linesOf = ({ rows }: Screen): number => Math.max(1, (rows > 0 ? rows : 24) - 4);

/**
 * Shows hosts and their current states, with listr2. Progress can be removed from the screen and
 * restored at any time, since its data is kept outside of the renderer.
 */
export const startLive = async (screen: Screen): Promise<Live> => {
  const { Listr } = await import('listr2');
  const progress = createProgress(linesOf(screen));
  let close: (() => Promise<void>) | undefined;

  const open = (): void => {
    const rows = progress.rows();
    if (close !== undefined || rows.length === 0) return;
    const ended = new AbortController();
    // Every row listens.
    setMaxListeners(0, ended.signal);
    const list = new Listr(
      rows.map(row => taskOf(row, ended.signal)),
      {
        concurrent: true,
        exitOnError: false,
        registerSignalListeners: false,
        rendererOptions: {
          formatOutput: 'truncate',
          clearOutput: true,
          collapseErrors: false,
          showErrorMessage: false,
        },
      },
    );
    const running = list.run().catch(() => undefined);
    close = async () => {
      ended.abort();
      await running;
    };
  };
  const hide = async (): Promise<void> => {
    await close?.();
    close = undefined;
  };
  let isPaused = false;
  const onResize = (): void => {
    progress.resize(linesOf(screen));
    if (close === undefined) return;
    void hide().then(() => {
      if (!isPaused) open();
    });
  };
  screen.on('resize', onResize);

  return {
    emit: event => {
      progress.follow(event);
      if (event.type === 'start') open();
    },
    pause: async () => {
      isPaused = true;
      await hide();
      return () => {
        isPaused = false;
        open();
      };
    },
    stop: async () => {
      isPaused = true;
      screen.off('resize', onResize);
      await hide();
    },
  };
};

const refreshEvery = 100;

/** A task that shows a row until the host has finished or the screen is released. */
const taskOf = (row: () => Row, ended: AbortSignal): ListrTask => ({
  title: row().title,
  task: (_, task) =>
    new Promise<void>((resolve, reject) => {
      const finish = (failed: boolean): void => {
        clearInterval(timer);
        if (failed) reject(new Error(task.title));
        else resolve();
      };
      const refresh = (): void => {
        const { title, detail, outcome } = row();
        task.title = title;
        task.output = detail;
        if (outcome !== undefined) finish(outcome === 'failed');
      };
      const timer = setInterval(refresh, refreshEvery);
      ended.addEventListener('abort', () => finish(false), { once: true });
      refresh();
      // The list may be closed before its tasks begin.
      if (ended.aborted) finish(false);
    }),
});
