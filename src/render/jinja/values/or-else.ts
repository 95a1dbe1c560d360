/** Returns the value, even None; if it is undefined, the result of `otherwise`. */
export const orElse = <T>(value: T | undefined, otherwise: () => T): T =>
  value === undefined ? otherwise() : value;
