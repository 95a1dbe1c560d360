import { type Programs, readPrograms } from './read-programs.ts';

/** Set by the build, which reads them once. */
declare const bootPrograms: Programs;

let known: Programs | undefined = typeof bootPrograms === 'undefined' ? undefined : bootPrograms;

/**
 * A program that runs on a host before the artifact does.
 *
 * The shell scripts avoid quotes ('), backslashes and exclamation marks where an unknown login
 * shell reads them, and use only commands that every Debian, Alpine or busybox system has. Each
 * file describes its arguments.
 */
export const program = (name: keyof Programs): string => {
  known ??= readPrograms();
  return known[name];
};

/**
 * Returns the loader as text between single quotes in any login shell, for `decodeURIComponent`. It
 * is most of the command that starts a runtime, and dropbear refuses commands of 9000 bytes.
 */
export const loaderArgument = (): string =>
  program('loader').replace(/[%'\\!\u0000-\u001f\u007f-\uffff]/g, character =>
    character === "'" ? '%27' : character === '!' ? '%21' : encodeURIComponent(character),
  );
