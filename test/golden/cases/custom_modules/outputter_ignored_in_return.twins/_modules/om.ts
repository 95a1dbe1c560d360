import type { Plain } from 'tsalt-ssh/module';
import { __grains__ } from 'tsalt-ssh/module';

type Options = { [key: string]: Plain };

export const __outputter__ = { go: 'txt' };
export const __virtualname__ = 'omx';

export const __virtual__ = (): string | false => ('os' in __grains__ ? __virtualname__ : false);

/** Returns its arguments: positional ones, then keywords. */
export const go = ({ ...kwargs }: Options = {}, ...args: Plain[]): Plain[] => [args, kwargs];
