export const compress: (content: string | Uint8Array) => Buffer;
export const writeCompressed: (file: string, program: string | Uint8Array) => void;
