import { monotonic } from '../../protocol/monotonic.ts';

/** When something began, in Salt's format, and how long it took. */
export type Timing = { readonly start_time: string; readonly duration: number };

/** When `monotonic` was 0, in milliseconds since 1970. */
const origin = Date.now() - monotonic();

/** Starts a stopwatch that returns local time of day and milliseconds to the microsecond. */
export const stopwatch = (): (() => Timing) => {
  const begun = monotonic();
  const at = origin + begun;
  return () => ({
    start_time: timeOfDay(at),
    duration: Math.round((monotonic() - begun) * 1000) / 1000,
  });
};

const timeOfDay = (milliseconds: number): string => {
  const date = new Date(milliseconds);
  const micros = Math.floor((milliseconds % 1000) * 1000);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(part =>
    String(part).padStart(2, '0'),
  );
  return `${clock.join(':')}.${String(micros).padStart(6, '0')}`;
};
