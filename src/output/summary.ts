import type { Palette } from './color.ts';
import type { OutputOptions } from './options.ts';

/** The counts of a state run; times in milliseconds. */
export type Tally = {
  succeeded: number;
  /** Test mode: states that would change something. */
  unchanged: number;
  failed: number;
  warnings: number;
  changed: number;
  /** Duration of states that ran one after the other. */
  serial: number;
  /** The longest of the parallel states. */
  parallel: number;
};

/** The block of counts at the end of a host's highstate output. */
export const summary = (
  host: string,
  { leftOut, ...tally }: Tally & { readonly leftOut: number },
  colors: Palette,
  options: OutputOptions,
): string[] => {
  const { succeeded, unchanged, failed, warnings, changed } = tally;
  const total = succeeded + unchanged + failed;
  const counted = [succeeded, unchanged, failed, warnings].map(count => String(count).length);
  const digits = total === 0 ? 0 : Math.max(...counted);
  const width = 'Succeeded'.length + digits + 2;
  const counts = (label: string, count: number | string): string =>
    `${label}: ${String(count).padStart(width - label.length - 2)}`;
  const paint = (color: string, text: string): string => `${color}${text}${colors.ENDC}`;
  const bad = failed > 0 ? colors.RED : colors.CYAN;

  const notes = [
    ...(unchanged > 0 ? [paint(colors.LIGHT_YELLOW, `unchanged=${unchanged}`)] : []),
    ...(changed > 0 ? [paint(colors.GREEN, `changed=${changed}`)] : []),
  ];
  const note = notes.length > 0 ? ` (${notes.join(', ')})` : '';

  return [
    paint(colors.CYAN, `\nSummary for ${host}\n${'-'.repeat(width)}`),
    paint(colors.GREEN, counts('Succeeded', succeeded + unchanged)) + note,
    paint(bad, counts('Failed', failed)),
    ...(options.state_output_pct && total > 0
      ? [
          paint(colors.GREEN, counts('Success %', percent(succeeded + unchanged, total))),
          paint(bad, counts('Failure %', percent(failed, total))),
        ]
      : []),
    ...(warnings > 0 ? [paint(colors.LIGHT_RED, counts('Warnings', warnings))] : []),
    paint(
      colors.CYAN,
      `${'-'.repeat(width)}\nTotal states run: ${String(total).padStart(width - 7)}`,
    ),
    ...(leftOut > 0
      ? [paint(colors.CYAN, `Left out: ${String(leftOut).padStart(width + 1)}`)]
      : []),
    ...(options.state_output_profile ? [paint(colors.CYAN, totalTime(tally, width))] : []),
  ];
};

const percent = (part: number, total: number): string => {
  const value = Math.round((part / total) * 10000) / 100;
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
};

const totalTime = ({ serial, parallel }: Tally, width: number): string => {
  const sum = serial + parallel;
  const [value, unit] = sum > 999 ? [sum / 1000, 's'] : [sum, 'ms'];
  return `Total run time: ${value.toFixed(3).padStart(width - 5)} ${unit}`;
};
