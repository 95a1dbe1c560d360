/** What is there, None too; only where nothing is, what `otherwise` makes. */
export const orElse = <T>(value: T | undefined, otherwise: () => T): T =>
  value === undefined ? otherwise() : value;
