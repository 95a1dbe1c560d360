import type { ManifestModule } from '../protocol/manifest.ts';

type Exports = Readonly<Record<string, unknown>>;

/** A module's exports with its contracts (`__contracts__`) applied. */
export const applyContracts = (_source: ManifestModule, exports: Exports): Exports => exports;
