import type { Plain, PlainDict } from 'tsalt-ssh/module';

export const __func_alias__ = { import_: 'import', set_: 'set' };

export const import_ = (): string => 'imported';

export const set_ = (k: string, v: Plain = 5): PlainDict => ({ [k]: v });

export const _private = (): string => 'no';
