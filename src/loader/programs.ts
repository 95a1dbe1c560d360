import { type Programs, readPrograms } from './read-programs.ts';

/** Set by the build, which reads them once. */
declare const bootPrograms: Programs;

let known: Programs | undefined = typeof bootPrograms === 'undefined' ? undefined : bootPrograms;

/**
 * A program that runs on a host before the artifact does.
 *
 * The shell scripts use no quote ('), backslash or exclamation mark where a login shell that is not
 * known reads them, and only what every Debian, Alpine or busybox system has. Each file says what
 * its arguments are.
 */
export const program = (name: keyof Programs): string => {
  known ??= readPrograms();
  return known[name];
};

/**
 * The loader as a text between single quotes in any login shell, for `decodeURIComponent`. It is
 * most of the command that starts a runtime, and dropbear takes no command of 9000 bytes.
 */
export const loaderWord = (): string =>
  program('loader').replace(/[%'\\!\u0000-\u001f\u007f-\uffff]/g, character =>
    character === "'" ? '%27' : character === '!' ? '%21' : encodeURIComponent(character),
  );
