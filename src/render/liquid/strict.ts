import { type Token, Tokenizer } from 'liquidjs';

type Part = Token & { readonly operator?: string };

/**
 * Makes trailing text after an expression an error. Liquid ignores it: `{% if x is not defined %}`
 * would be `{% if x %}`.
 */
export const refuseTrailing = (): void => {
  const { readFilteredValue } = Tokenizer.prototype;
  if (strict.has(readFilteredValue)) return;
  Tokenizer.prototype.readFilteredValue = function (this: Tokenizer) {
    const value = readFilteredValue.call(this);
    const begin = secondValue(value.initial.postfix as Part[]) ?? this.p;
    const rest = this.input.slice(begin, this.N).trim();
    // `cycle` reads its values one after the other.
    if (rest === '' || rest.startsWith(',')) return value;
    throw new Error(`"${rest.slice(0, 60)}" is more than the expression before it can have`);
  };
  strict.add(Tokenizer.prototype.readFilteredValue);
};

/** Returns the start of a value that no operator connects to the value before it. */
const secondValue = (parts: readonly Part[]): number | undefined => {
  const inOrder = parts.toSorted((a, b) => a.begin - b.begin);
  return inOrder.find(
    (part, at) =>
      at > 0 && !isJoining(part) && !isJoining(inOrder[at - 1]) && !isNot(inOrder[at - 1]),
  )?.begin;
};

const isNot = (part: Part | undefined): boolean => part?.operator === 'not';
const isJoining = (part: Part | undefined): boolean =>
  part?.operator !== undefined && part.operator !== 'not';

const strict = new WeakSet<object>();
