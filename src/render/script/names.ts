const reserved = new Set(
  `let const class function new delete this static package default enum import export await null
  true false in var void with yield return switch case for while do if else try catch throw typeof
  instanceof interface private protected public super break continue debugger extends finally
  implements arguments eval`.split(/\s+/),
);

/** Whether JavaScript can have a variable of this name. */
export const isName = (name: string): boolean =>
  /^[A-Za-z_$][\w$]*$/.test(name) && !reserved.has(name);
