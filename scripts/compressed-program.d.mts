export const writeCompressed: (file: string, program: string | Uint8Array) => void;
