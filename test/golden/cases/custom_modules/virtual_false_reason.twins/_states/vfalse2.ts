export const __virtual__ = (): false => false;

export const go = (name: string): { [key: string]: string } => ({ name });
