export const __virtual__ = (): [false, string] => [false, 'the frobnicator is missing'];

export const go = (name: string): { [key: string]: string } => ({ name });
