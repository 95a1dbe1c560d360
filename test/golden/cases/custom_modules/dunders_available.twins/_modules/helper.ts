import { __grains__ } from 'tsalt-ssh/module';

export const hi = (x: string): string => `hi ${x} ${__grains__.id}`;
