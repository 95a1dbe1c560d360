import type { LogLevel } from '../../protocol/job.ts';
import type { WrapperFunction, WrapperModule } from '../define.ts';

const at = (level: LogLevel): WrapperFunction => ({
  doc: `Writes a line to the log at level ${level}.`,
  params: ['message'],
  work: ({ ctx, text }) => {
    ctx.log(level, 'template', text('message'));
    return true;
  },
});

/** `log.*`, for templates. */
export const logFunctions: WrapperModule = {
  doc: 'Log lines from templates.',
  functions: {
    debug: at('debug'),
    info: at('info'),
    warning: at('warning'),
    error: at('error'),
    critical: at('critical'),
    exception: at('error'),
  },
};
