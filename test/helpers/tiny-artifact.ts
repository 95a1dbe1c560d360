import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';
import { build } from 'esbuild';
import type { Artifact } from '../../src/protocol/artifact.ts';

/** The tiny runtime as an artifact, in the bundler's form: CommonJS, ASCII. */
export const tinyArtifact = async (): Promise<
  Pick<Artifact, 'sha256' | 'size' | 'compressed'> & { text: Buffer }
> => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('tiny-runtime.ts', import.meta.url))],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'cjs',
    target: 'node18',
    charset: 'ascii',
  });
  const text = Buffer.from(outputFiles[0]?.contents ?? []);
  return {
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    size: text.length,
    compressed: () => promisify(brotliCompress)(text),
  };
};
