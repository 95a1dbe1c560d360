import type { Breakage } from './breakage.ts';
import { control } from './security/control.ts';
import { managed } from './security/managed.ts';
import { rendering } from './security/rendering.ts';
import { transport } from './security/transport.ts';

/** Guards whose tests docs/security.md names. */
export const security: readonly Breakage[] = [...transport, ...rendering, ...managed, ...control];
