import { getOwn } from '../../../protocol/plain.ts';

const orders: Readonly<Record<string, (order: number) => boolean>> = {
  '=': order => order === 0,
  '==': order => order === 0,
  '!=': order => order !== 0,
  '<>': order => order !== 0,
  '>=': order => order >= 0,
  '<=': order => order <= 0,
  '>': order => order > 0,
  '>>': order => order > 0,
  '<': order => order < 0,
  '<<': order => order < 0,
};

/**
 * Whether a version that comes before (below 0), at (0) or after another one is as an operator
 * wants it; undefined for an operator of one kind of packages alone.
 */
export const orderHolds = (operator: string, order: number): boolean | undefined =>
  getOwn(orders, operator)?.(order);
