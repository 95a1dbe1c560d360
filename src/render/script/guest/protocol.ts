import type { Body, TextFunction } from '../program.ts';

/** A template inside the sandbox: a number for errors, its path, and its code as a function. */
export type GuestSource = {
  readonly index: number;
  readonly path: string;
  /** Names of the variables that the function takes after the offered names. */
  readonly variables: readonly string[];
  readonly make: (...values: unknown[]) => Promise<GuestParts>;
};

export type GuestParts = {
  readonly parent: unknown;
  readonly functions: Readonly<Record<string, TextFunction>>;
  readonly body: Body;
};

/** A call that failed. With an index: a template with a syntax error, and its position. */
export type GuestError = {
  readonly name: string;
  readonly message: string;
  readonly index?: number;
  readonly line?: number;
};

/** Functions of the guest that the worker calls. */
export type Guest = {
  /** Sets a variable: its value is packed, and unpacked on first use. */
  readonly give: (name: string, packed: string) => void;
  readonly begin: (source: GuestSource, guarded: boolean) => void;
  readonly answer: (call: number, value: unknown, isError: boolean) => void;
  /** Returns the current position. One number, since there may be no memory for more. */
  readonly where: () => number;
};

/** `where()` is the index of the template times this, plus the line. */
export const whereBase = 2 ** 24;

/** The worker's function for the guest: sends a message, and returns its number. */
export type Send = (kind: 'call' | 'find' | 'done' | 'failed', ...words: string[]) => number;

/** The parts of programs, and the names that Mako provides to expressions. */
export const offered: readonly string[] = [
  ...['$at', '$text', '$include', '$namespace', '$iter', '$loop'],
  ...['self', 'parent', 'next', 'local', 'capture'],
];
