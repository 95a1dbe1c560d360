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

/** Lines for progress: the question of a prompt and the cursor need some. */
const linesOf = ({ rows }: Screen): number => Math.max(1, (rows > 0 ? rows : 24) - 4);

/**
 * Shows hosts and the states they are at, with listr2. What is on the screen can be taken off
 * and brought back at any time, since the progress is kept outside of the renderer.
 */
export const startLive = async (screen: Screen): Promise<Live> => {
  const { Listr } = await import('listr2');
  const progress = createProgress(linesOf(screen));
  let close: (() => Promise<void>) | undefined;

  const open = (): void => {
    const rows = progress.rows();
    if (close !== undefined || rows.length === 0) return;
    const ended = new AbortController();
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

/** A task that shows a row until that is over, or until the screen is given back. */
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
