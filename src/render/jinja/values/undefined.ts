import { JinjaError } from '../jinja-error.ts';
import { Thing, type Value } from './value.ts';

/**
 * A missing value. Passing it on, `is defined` and `default` are allowed; any other use throws an
 * error that names it (StrictUndefined). A lenient one (`allow_undefined`) is an empty string
 * instead, and only attribute access throws.
 */
export class Undefined extends Thing {
  override readonly typeName: string;
  readonly reason: string;
  readonly isStrict: boolean;

  constructor(reason: string, isStrict = true) {
    super();
    this.reason = reason;
    this.isStrict = isStrict;
    this.typeName = isStrict ? 'StrictUndefined' : 'Undefined';
  }
  raise(): never {
    throw new JinjaError('undefined', this.reason);
  }
  /** Throws, unless it is lenient. */
  need(): void {
    if (this.isStrict) this.raise();
  }
  override attribute(): never {
    this.raise();
  }
  override item(): never {
    this.raise();
  }
  override call(): never {
    this.raise();
  }
  override items(): Value[] {
    this.need();
    return [];
  }
  override get size(): number {
    this.need();
    return 0;
  }
  override get truth(): boolean {
    this.need();
    return false;
  }
  override equals(other: Value): boolean {
    this.need();
    return other instanceof Undefined;
  }
  override text(): string {
    this.need();
    return '';
  }
  override repr(): string {
    return 'Undefined';
  }
}
