/**
 * Cuts cheese, where enzymes are there: how a module says that it cannot be loaded and why, and
 * how it sets itself up by the options of the host.
 *
 * @depends enzymes
 */
import { __grains__, log } from 'tsalt-ssh/module';

export const __virtualname__ = 'cheese';

/** Loads only where the grain `enzymes` says that they are there. */
export const __virtual__ = (): string | [false, string] =>
  __grains__.enzymes ? __virtualname__ : [false, 'enzymes unavailable'];

const products = ['cheddar', 'gouda'];

/** Foreign products, if the option `cheese.allow_foreign` allows them. */
export const __init__ = (opts: { readonly [name: string]: unknown }): void => {
  if (opts['cheese.allow_foreign'] === true) products.push('brie', 'manchego');
};

/** `cheese.list` prints one product per line. */
export const __outputter__ = { list: 'txt' };

/** `list` as a function of this file would read as a noun; callers say `cheese.list`. */
export const __func_alias__ = { list_: 'list' };

/**
 * Lists the products there are.
 *
 * @example tsalt-ssh '*' cheese.list
 */
export const list_ = (): string => products.join('\n');

/**
 * Cuts a product into slices.
 *
 * @param product what to cut
 * @param count how many slices
 * @returns the slices
 * @example tsalt-ssh '*' cheese.slice gouda count=3
 */
export const slice = (product: string, { count = 1 }: { count?: number } = {}): string[] => {
  if (!products.includes(product)) log.warning(`${product} is no product of ours`);
  return Array.from({ length: count }, (_, at) => `${product} ${at + 1}`);
};
