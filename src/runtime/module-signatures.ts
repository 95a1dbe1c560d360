import { entriesOfLines, lineOf } from '../protocol/manifest/named-lines.ts';
import type { ManifestModule } from '../protocol/manifest.ts';
import type { FunctionSignature } from '../protocol/meta.ts';

type Source = Pick<ManifestModule, 'signatures'>;

/** Returns the signature of one export of a module. */
export const signatureOfExport = (source: Source, name: string): FunctionSignature | undefined => {
  const line = lineOf(source.signatures?.() ?? '', name);
  return line === undefined ? undefined : (JSON.parse(line) as FunctionSignature);
};

/** Returns the signatures of all exports of a module. */
export const signaturesOfExports = (source: Source): Readonly<Record<string, FunctionSignature>> =>
  Object.fromEntries(
    entriesOfLines(source.signatures?.() ?? '').map(([name, line]) => [
      name,
      JSON.parse(line) as FunctionSignature,
    ]),
  );
